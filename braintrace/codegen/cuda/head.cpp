// SPDX-License-Identifier: Apache-2.0
// CUDA text that every kernel finds around it. The emulation (backends/cuda) defines BT_EMULATED and its own words for
// what only a device has.
#include "braintrace/codegen/cuda/context.h"

namespace braintrace::codegen {

const char* const cuda_types = R"c(#ifndef BT_EMULATED
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
#endif
)c";

const char* const cuda_teams = R"c(
#define bt_fma fma
#define bt_fmaf fmaf
#define bt_log_gamma lgamma

/* The threads that run a kernel together. */
struct bt_team {
  uint32_t rank, size;    /* this thread, and how many there are */
  uint32_t block, blocks; /* the same of blocks */
  uint32_t part, parts;   /* this team among those of the launch, where it has not been given its part of the work yet */
  uint32_t* barrier;      /* blocks that have arrived, blocks that have left */
  uint32_t expected;      /* arrivals after which all have */
};
static __device__ bt_team bt_joined(const bt_cuda_frame& f) {
  bt_team t;
  t.rank = blockIdx.x * blockDim.x + threadIdx.x;
  t.size = gridDim.x * blockDim.x;
  t.block = blockIdx.x;
  t.blocks = gridDim.x;
  t.part = blockIdx.y;
  t.parts = gridDim.y;
  t.barrier = f.barriers + 32 * blockIdx.y;
  t.expected = 0;
  return t;
}
/* All threads of the team wait for each other; what each wrote before, all see after. */
static __device__ void bt_meet(bt_team& t) {
  __syncthreads();
  if (t.blocks == 1) return;
  t.expected += t.blocks;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(t.barrier, 1u);
    while ((int32_t)(*(volatile uint32_t*)t.barrier - t.expected) < 0) bt_pause();
    __threadfence();
  }
  __syncthreads();
}
/* The last block to leave puts the barrier back. */
static __device__ void bt_leave(bt_team& t) {
  __syncthreads();
  if (t.blocks == 1 || threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(t.barrier + 1, 1u) + 1 == t.blocks) {
    t.barrier[0] = 0;
    t.barrier[1] = 0;
  }
}
static __device__ void bt_copy(const bt_team& t, void* to, const void* from, int64_t bytes) {
  if (to == from) return;
  const bool words = (((uint64_t)to | (uint64_t)from | (uint64_t)bytes) & 3) == 0;
  if (words)
    for (int64_t i = t.rank; i < bytes / 4; i += t.size) ((uint32_t*)to)[i] = ((const uint32_t*)from)[i];
  else
    for (int64_t i = t.rank; i < bytes; i += t.size) ((char*)to)[i] = ((const char*)from)[i];
}
/* An index, or 0 where it is outside its axis, and then the host is told. */
static __device__ int64_t bt_checked(const bt_cuda_frame& f, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  *f.status = 1;
  return 0;
}
)c";

int64_t cuda_blocks_for(int64_t elements, int64_t of_a_block) {
  return std::clamp<int64_t>((elements + of_a_block - 1) / of_a_block, 1, cuda_most_blocks);
}

std::string cuda_for_each(const std::string& name, int64_t count, std::string_view index, const std::string& body) {
  const bool narrow = index == "int32_t";
  return fmt::format("for ({1} {0}_ = t.rank; {0}_ < {2}; {0}_ += t.size) {{\nconst {3} {0} = ({3}){0}_;\n{4}}}\n", name,
                     narrow ? "uint32_t" : "int64_t", count, index, body);
}

std::string cuda_counters(const std::string& name, const Shape& sizes, std::string_view index,
                          const std::function<std::string(size_t)>& counter) {
  std::string text;
  int64_t     inside = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    std::string value = inside == 1 ? name : fmt::format("{} / {}", name, inside);
    if (k > 0) value = fmt::format("({}) % {}", value, std::max<int64_t>(sizes[k], 1));
    text += fmt::format("const {} {} = {};\n(void){};\n", index, counter(k), value, counter(k));
    inside *= std::max<int64_t>(sizes[k], 1);
  }
  return text;
}

}  // namespace braintrace::codegen
