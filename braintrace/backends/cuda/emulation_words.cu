// SPDX-License-Identifier: Apache-2.0
// CUDA keywords and functions in C++, included before CUDA text that the host's compiler compiles.
#undef _FORTIFY_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define BT_EMULATED 1
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define BT_UNSEEN __attribute__((no_sanitize_thread)) /* not instrumented for emulation_races.cu */

struct bt_index { uint32_t x, y, z; };
struct bt_memory { char* at; uint64_t bytes; };
/* Values that the lanes of a warp exchange, double-buffered because two exchanges may overlap, and their count. */
struct bt_warp {
  uint32_t arrived, round;
  uint64_t values[2][32];
  uint32_t matrices[2][32][6];
};
struct bt_block {
  bt_index index;
  uint32_t arrived, round;
  bt_warp* warps;
  char* shared;
};
struct bt_fiber {
  bool has_begun, is_busy;
  jmp_buf here;
  ucontext_t start;
  bt_block* block;
  bt_index thread;
};
static struct {
  bt_index grid, block;
  bt_fiber* self;
  jmp_buf scheduler;
  const char* arena;
  uint32_t shared_bytes;
  uint64_t events; /* number of events that may unblock a waiting thread */
} bt_now;
#define threadIdx (bt_now.self->thread)
#define blockIdx (bt_now.self->block->index)
#define blockDim (bt_now.block)
#define gridDim (bt_now.grid)
#define bt_shared_memory (bt_now.self->block->shared)

static __attribute__((noinline)) void bt_pause() {
  if (!_setjmp(bt_now.self->here)) _longjmp(bt_now.scheduler, 1);
}
static void __syncthreads() {
  bt_block* b = bt_now.self->block;
  const uint32_t round = b->round;
  if (++b->arrived == bt_now.block.x) {
    b->arrived = 0;
    ++b->round;
    ++bt_now.events;
  }
  while (b->round == round) bt_pause();
}
static bt_warp* bt_own_warp() { return bt_now.self->block->warps + bt_now.self->thread.x / 32; }
static void bt_exchange() {
  bt_warp* w = bt_own_warp();
  const uint32_t round = w->round;
  if (++w->arrived == 32) {
    w->arrived = 0;
    ++w->round;
    ++bt_now.events;
  }
  while (w->round == round) bt_pause();
}
static inline void __syncwarp(uint32_t = 0xffffffffu) { bt_exchange(); }
template <class T>
static T bt_from_lane(T value, uint32_t lane) {
  bt_warp* w = bt_own_warp();
  const uint32_t side = w->round & 1;
  memcpy(&w->values[side][threadIdx.x % 32], &value, sizeof(T));
  bt_exchange();
  T out;
  memcpy(&out, &w->values[side][lane % 32], sizeof(T));
  return out;
}
template <class T>
static T __shfl_sync(uint32_t, T value, int32_t lane) { return bt_from_lane(value, lane); }
template <class T>
static T __shfl_xor_sync(uint32_t, T value, int32_t mask) { return bt_from_lane(value, (threadIdx.x % 32) ^ mask); }
template <class T>
static T __shfl_down_sync(uint32_t, T value, uint32_t delta) {
  const uint32_t lane = threadIdx.x % 32;
  return bt_from_lane(value, lane + delta < 32 ? lane + delta : lane);
}
static uint32_t __ballot_sync(uint32_t, int32_t predicate) {
  bt_warp* w = bt_own_warp();
  const uint32_t side = w->round & 1;
  w->values[side][threadIdx.x % 32] = predicate != 0;
  bt_exchange();
  uint32_t out = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) out |= (uint32_t)w->values[side][lane] << lane;
  return out;
}
static inline int32_t __popc(uint32_t x) { return __builtin_popcount(x); }
static inline void __threadfence() {}
BT_UNSEEN static inline uint32_t atomicAdd(uint32_t* at, uint32_t x) {
  ++bt_now.events;
  const uint32_t before = *at;
  *at += x;
  return before;
}
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
static float2 make_float2(float x, float y) { return {x, y}; }
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static float __uint_as_float(uint32_t x) {
  float y;
  memcpy(&y, &x, 4);
  return y;
}
template <class T>
static T __ldcg(const T* at) { return *at; }
template <class T>
static void __stcg(T* at, T value) { *at = value; }

/* Matrix instructions, with the same distribution of A, B and C over the lanes as in hardware. */
static const uint32_t (*bt_matrices(const uint32_t* a, const uint32_t* b))[6] {
  bt_warp* w = bt_own_warp();
  const uint32_t side = w->round & 1;
  uint32_t* mine = w->matrices[side][threadIdx.x % 32];
  for (int i = 0; i < 4; ++i) mine[i] = a[i];
  for (int i = 0; i < 2; ++i) mine[4 + i] = b[i];
  bt_exchange();
  return w->matrices[side];
}
static float bt_as_float(uint32_t x) {
  float f;
  memcpy(&f, &x, 4);
  return f;
}
static void bt_begin() {}
static void bt_hint(const void*) {}
/* Tensor cores ignore the last 13 bits. */
static float bt_tf32_of(uint32_t bits) { return bt_as_float(bits & 0xffffe000u); }
static void bt_mma_tf32(float* c, const uint32_t* a, const uint32_t* b) {
  const uint32_t(*all)[6] = bt_matrices(a, b), lane = threadIdx.x % 32;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t m = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
    for (uint32_t k = 0; k < 8; ++k)
      c[i] = fmaf(bt_tf32_of(all[m % 8 * 4 + k % 4][m / 8 + k / 4 * 2]), bt_tf32_of(all[n * 4 + k % 4][4 + k / 4]), c[i]);
  }
}
static float bt_half_of(uint32_t pair, uint32_t high) { return bt_as_float(high ? pair & 0xffff0000u : pair << 16); }
static void bt_mma_bf16(float* c, const uint32_t* a, const uint32_t* b) {
  const uint32_t(*all)[6] = bt_matrices(a, b), lane = threadIdx.x % 32;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t m = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
    for (uint32_t k = 0; k < 16; ++k)
      c[i] = fmaf(bt_half_of(all[m % 8 * 4 + k % 8 / 2][m / 8 + k / 8 * 2], k % 2),
                  bt_half_of(all[n * 4 + k % 8 / 2][4 + k / 8], k % 2), c[i]);
  }
}
