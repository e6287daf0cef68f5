// SPDX-License-Identifier: Apache-2.0
// A team of blocks and its collective operations.
#define bt_fma fma
#define bt_fmaf fmaf
#define bt_log_gamma lgamma

/* The threads that execute a kernel together. */
struct bt_team {
  uint32_t rank, size;    /* index of this thread, number of threads */
  uint32_t block, blocks; /* the same for blocks */
  uint32_t part, parts;   /* index of this team, number of teams in the launch, until the work is split by part */
  uint32_t* barrier;      /* number of blocks that have arrived, and that have left */
  uint32_t expected;      /* number of arrivals that completes the barrier */
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
/* Barrier of the team: all writes before it are visible to all threads after it. */
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
/* The last block to leave resets the barrier. */
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
/* Returns i; if it is out of range, sets the status for the host and returns 0. */
static __device__ int64_t bt_checked(const bt_cuda_frame& f, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  *f.status = 1;
  return 0;
}
