// SPDX-License-Identifier: Apache-2.0
// A thread scheduler, included after CUDA text that the host's compiler compiles.
//
// Threads are fibers, resumed in an order that changes from pass to pass, so that a missing barrier leads to wrong
// results. Each runs until it waits. If the blocks of a grid synchronize, they run concurrently, otherwise one after
// the other. If all remaining threads wait for each other or for finished ones, the launch fails (deadlock).
static void (*bt_kernel)(bt_cuda_frame);
static bt_cuda_frame bt_kernel_frame;

/* A fiber executes threads one after the other. */
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
/* Runs the threads of some blocks until all have finished. */
static int32_t bt_run(uint32_t first, uint32_t count) {
  static uint32_t order;
  const uint32_t threads = bt_now.block.x, all = count * threads;
  bt_block* blocks = (bt_block*)calloc(count, sizeof(bt_block));
  for (uint32_t b = 0; b < count; ++b) {
    blocks[b].index = {(first + b) % bt_now.grid.x, (first + b) / bt_now.grid.x, 0};
    blocks[b].warps = (bt_warp*)calloc(threads / 32, sizeof(bt_warp));
    blocks[b].shared = (char*)malloc(bt_now.shared_bytes + 16);
    memset(blocks[b].shared, 0xff, bt_now.shared_bytes); /* shared memory is uninitialized */
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
  bt_now.self = nullptr;
  for (uint32_t b = 0; b < count; ++b) {
    free(blocks[b].warps);
    free(blocks[b].shared);
  }
  free(blocks);
  return left != 0;
}
/* Launches a kernel. Returns an error message, or an empty string. */
extern "C" __attribute__((visibility("default"))) const char* bt_emulate(void (*kernel)(bt_cuda_frame), const bt_cuda_frame* frame,
                                                                         uint32_t blocks, uint32_t teams, uint32_t threads,
                                                                         uint32_t shared_bytes, int32_t together,
                                                                         const bt_memory* watched, uint64_t watched_count) {
  bt_kernel = kernel;
  bt_kernel_frame = *frame;
  bt_now.grid = {blocks, teams, 1};
  bt_now.block = {threads, 1, 1};
  bt_now.arena = frame->arena;
  bt_now.shared_bytes = shared_bytes;
  const uint32_t count = blocks * teams, at_once = together ? count : 1;
  bt_watch(watched, watched_count, frame->status, together ? count : 0);
  int32_t stuck = 0;
  for (uint32_t first = 0; first < count && !stuck; first += at_once) stuck = bt_run(first, at_once);
  bt_watch_no_more();
  return stuck ? "threads wait for each other forever" : bt_races.race;
}
