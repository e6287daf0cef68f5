// SPDX-License-Identifier: Apache-2.0
// What a team is and does as a whole.
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
  bt_begin();
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
    bt_arrive(t.barrier);
    while ((int32_t)(bt_arrived(t.barrier) - t.expected) < 0) bt_pause();
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
