// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/emulation_text.h"

namespace braintrace::cuda {

const char* const emulation_before = R"c(#undef _FORTIFY_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define BT_EMULATED 1
#define __global__ __attribute__((visibility("default")))
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct bt_index { uint32_t x, y, z; };
/* What a warp exchanges, and how often it has: two exchanges may overlap. */
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
  uint64_t events; /* whatever may let a waiting thread go on */
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
static inline uint32_t atomicAdd(uint32_t* at, uint32_t x) {
  ++bt_now.events;
  const uint32_t before = *at;
  *at += x;
  return before;
}
template <class T>
static T __ldcg(const T* at) { return *at; }
template <class T>
static void __stcg(T* at, T value) { *at = value; }

/* Matrix instructions: which element of A, B and C a lane has is that of the instruction. */
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
static void bt_mma_tf32(float* c, const uint32_t* a, const uint32_t* b) {
  const uint32_t(*all)[6] = bt_matrices(a, b), lane = threadIdx.x % 32;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t m = lane / 4 + i / 2 * 8, n = lane % 4 * 2 + i % 2;
    for (uint32_t k = 0; k < 8; ++k)
      c[i] = fmaf(bt_as_float(all[m % 8 * 4 + k % 4][m / 8 + k / 4 * 2]), bt_as_float(all[n * 4 + k % 4][4 + k / 4]), c[i]);
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
)c";

const char* const emulation_after = R"c(
static void (*bt_kernel)(bt_cuda_frame);
static bt_cuda_frame bt_kernel_frame;

/* A fiber runs one thread after the other. */
static void bt_fiber_main() {
  for (;;) {
    bt_kernel(bt_kernel_frame);
    bt_now.self->is_busy = false;
    ++bt_now.events;
    bt_pause();
  }
}
enum { bt_stack_bytes = 128 << 10 };
static bt_fiber** bt_fibers;
static char** bt_stacks;
static uint32_t bt_fiber_count;

static bt_fiber* bt_fiber_number(uint32_t i) {
  if (i == bt_fiber_count) {
    bt_fibers = (bt_fiber**)realloc(bt_fibers, (i + 1) * sizeof *bt_fibers);
    bt_stacks = (char**)realloc(bt_stacks, (i + 1) * sizeof *bt_stacks);
    bt_fibers[i] = (bt_fiber*)calloc(1, sizeof(bt_fiber));
    bt_stacks[i] = (char*)malloc(bt_stack_bytes);
    ++bt_fiber_count;
  }
  return bt_fibers[i];
}
static __attribute__((noinline)) void bt_resume(uint32_t i) {
  bt_fiber* f = bt_fibers[i];
  bt_now.self = f;
  if (_setjmp(bt_now.scheduler)) return;
  if (f->has_begun) _longjmp(f->here, 1);
  f->has_begun = true;
  getcontext(&f->start);
  f->start.uc_stack.ss_sp = bt_stacks[i];
  f->start.uc_stack.ss_size = bt_stack_bytes;
  f->start.uc_link = nullptr;
  makecontext(&f->start, bt_fiber_main, 0);
  setcontext(&f->start);
}
static __attribute__((destructor)) void bt_free_fibers() {
  for (uint32_t i = 0; i < bt_fiber_count; ++i) {
    free(bt_fibers[i]);
    free(bt_stacks[i]);
  }
  free(bt_fibers);
  free(bt_stacks);
}
/* The threads of some blocks until all have ended. */
static int32_t bt_run(uint32_t first, uint32_t count, uint32_t shared_bytes) {
  static uint32_t order;
  const uint32_t threads = bt_now.block.x, all = count * threads;
  bt_block* blocks = (bt_block*)calloc(count, sizeof(bt_block));
  for (uint32_t b = 0; b < count; ++b) {
    blocks[b].index = {(first + b) % bt_now.grid.x, (first + b) / bt_now.grid.x, 0};
    blocks[b].warps = (bt_warp*)calloc(threads / 32, sizeof(bt_warp));
    blocks[b].shared = (char*)malloc(shared_bytes + 16);
    memset(blocks[b].shared, 0xff, shared_bytes); /* nobody may count on zeros */
  }
  for (uint32_t i = 0; i < all; ++i) {
    bt_fiber* f = bt_fiber_number(i);
    f->block = blocks + i / threads;
    f->thread = {i % threads, 0, 0};
    f->is_busy = true;
  }
  uint32_t left = all, idle = 0;
  while (left && idle < 3) {
    const uint64_t before = bt_now.events;
    order = order * 1664525u + 1013904223u;
    const uint32_t from = (order >> 8) % all, back = order >> 31;
    left = 0;
    for (uint32_t k = 0; k < all; ++k) {
      const uint32_t i = (from + (back ? all - k : k)) % all;
      if (!bt_fibers[i]->is_busy) continue;
      bt_resume(i);
      left += bt_fibers[i]->is_busy;
    }
    idle = bt_now.events == before ? idle + 1 : 0;
  }
  for (uint32_t i = 0; i < all; ++i)
    if (bt_fibers[i]->is_busy) bt_fibers[i]->has_begun = false;
  for (uint32_t b = 0; b < count; ++b) {
    free(blocks[b].warps);
    free(blocks[b].shared);
  }
  free(blocks);
  return left != 0;
}
extern "C" __attribute__((visibility("default"))) int32_t bt_emulate(void (*kernel)(bt_cuda_frame), const bt_cuda_frame* frame,
                                                                     uint32_t blocks, uint32_t teams, uint32_t threads,
                                                                     uint32_t shared_bytes, int32_t together) {
  bt_kernel = kernel;
  bt_kernel_frame = *frame;
  bt_now.grid = {blocks, teams, 1};
  bt_now.block = {threads, 1, 1};
  const uint32_t count = blocks * teams, at_once = together ? count : 1;
  for (uint32_t first = 0; first < count; first += at_once)
    if (bt_run(first, at_once, shared_bytes)) return 1;
  return 0;
}
)c";

}  // namespace braintrace::cuda
