// SPDX-License-Identifier: Apache-2.0
// Types and constants that the run-time compiler (NVRTC) does not define. The emulation (backends/cuda) defines
// BT_EMULATED and its own versions of device primitives.
#ifndef BT_EMULATED
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
extern __shared__ __align__(16) char bt_shared_memory[];
static __device__ void bt_pause() {}
/* Programmatic dependent launch: lets the next kernel start early, and waits for the end of the previous one. */
static __device__ __forceinline__ void bt_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/* Prefetches into the L2 cache. */
static __device__ __forceinline__ void bt_hint(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }
/* Release: earlier writes of the block are visible to every thread that observes this arrival (bt_arrived). */
static __device__ __forceinline__ void bt_arrive(uint32_t* count) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}
static __device__ __forceinline__ uint32_t bt_arrived(const uint32_t* count) {
  uint32_t n;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(count) : "memory");
  return n;
}
#endif
