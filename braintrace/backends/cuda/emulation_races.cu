// SPDX-License-Identifier: Apache-2.0
// A happens-before race detector, included between emulation_words.cu and the CUDA text. Both are compiled with
// -fsanitize=thread, so each load and store calls the functions below. Two accesses to a byte, at least one of them a
// write, are a race unless one happens before the other, in whatever order the emulation executed them:
//
//   same thread    program order
//   same warp      before and after a warp exchange
//   same block     before and after __syncthreads
//   two blocks     before one arrives at a counter, and after the other observes the arrival
struct bt_access {
  uint32_t block, thread, phase, round; /* phase: number of earlier barriers of its block; round: of its warp */
  bool is_there;
};
/* Accesses to a byte: the last write, and later reads by two threads. */
struct bt_byte { bt_access write, reads[2]; };
struct bt_line {
  uint64_t key, launch;
  bt_byte bytes[8];
};
enum { bt_most_counters = 64 };
static struct {
  const bt_memory* watched; /* sorted by address */
  uint64_t count;
  const void* status; /* exempt: all writers store the same value */
  bt_line* lines;     /* a hash table; lines of an earlier launch are free */
  uint64_t room, used, launch;
  uint32_t blocks;    /* that may synchronize */
  uint32_t* known;    /* vector clocks: known[b * blocks + c] is the number of barriers of c that b has observed */
  const void* counters[bt_most_counters];
  uint32_t* told[bt_most_counters]; /* per counter: the clock that a block acquires when it reads the count */
  char race[300];     /* description of the first race */
} bt_races;

BT_UNSEEN static void bt_watch(const bt_memory* watched, uint64_t count, const void* status, uint32_t blocks) {
  bt_races.watched = watched;
  bt_races.count = count;
  bt_races.status = status;
  bt_races.blocks = blocks;
  bt_races.known = (uint32_t*)calloc((size_t)blocks * blocks + 1, sizeof(uint32_t));
  bt_races.race[0] = 0;
  ++bt_races.launch;
}
BT_UNSEEN static void bt_watch_no_more() {
  free(bt_races.known);
  for (int i = 0; i < bt_most_counters; ++i) {
    free(bt_races.told[i]);
    bt_races.told[i] = nullptr;
    bt_races.counters[i] = nullptr;
  }
}
static __attribute__((destructor)) void bt_free_lines() { free(bt_races.lines); }

BT_UNSEEN static uint32_t bt_own_number() {
  return bt_now.self->block->index.y * bt_now.grid.x + bt_now.self->block->index.x;
}
BT_UNSEEN static uint32_t* bt_told_by(const void* counter) {
  int i = 0;
  while (i < bt_most_counters - 1 && bt_races.counters[i] && bt_races.counters[i] != counter) ++i;
  bt_races.counters[i] = counter;
  if (!bt_races.told[i]) bt_races.told[i] = (uint32_t*)calloc(bt_races.blocks + 1, sizeof(uint32_t));
  return bt_races.told[i];
}
BT_UNSEEN static void bt_learn(uint32_t* to, const uint32_t* from) {
  for (uint32_t b = 0; b < bt_races.blocks; ++b)
    if (to[b] < from[b]) to[b] = from[b];
}
BT_UNSEEN static void bt_arrive(uint32_t* count) {
  if (bt_races.blocks) {
    const uint32_t me = bt_own_number();
    uint32_t* mine = bt_races.known + me * bt_races.blocks;
    mine[me] = bt_now.self->block->round;
    bt_learn(bt_told_by(count), mine);
  }
  atomicAdd(count, 1);
}
BT_UNSEEN static uint32_t bt_arrived(const uint32_t* count) {
  if (bt_races.blocks) bt_learn(bt_races.known + bt_own_number() * bt_races.blocks, bt_told_by(count));
  return *count;
}

BT_UNSEEN static bool bt_is_before(const bt_access* a, const bt_access* now) {
  if (!a->is_there) return true;
  if (a->block != now->block)
    return bt_races.blocks && a->phase < bt_races.known[now->block * bt_races.blocks + a->block];
  return a->thread == now->thread || a->phase < now->phase ||
         (a->thread / 32 == now->thread / 32 && a->round < now->round);
}
BT_UNSEEN static bt_line* bt_line_at(uint64_t key) {
  if (2 * bt_races.used >= bt_races.room) {
    const uint64_t before = bt_races.room;
    bt_line* old = bt_races.lines;
    bt_races.room = before ? 4 * before : 1024;
    bt_races.lines = (bt_line*)calloc(bt_races.room, sizeof(bt_line));
    bt_races.used = 0;
    for (uint64_t i = 0; i < before; ++i)
      if (old[i].launch == bt_races.launch) *bt_line_at(old[i].key) = old[i];
    free(old);
  }
  for (uint64_t i = (key * 0x9e3779b97f4a7c15u) >> 20;; ++i) {
    bt_line* l = bt_races.lines + i % bt_races.room;
    if (l->launch && l->key != key) continue;
    if (!l->launch) ++bt_races.used;
    if (l->launch != bt_races.launch) memset(l->bytes, 0, sizeof l->bytes);
    l->key = key;
    l->launch = bt_races.launch;
    return l;
  }
}
/* Shared memory of two consecutive blocks may have the same address. */
BT_UNSEEN static bool bt_is_shared(const char* at) {
  return at >= bt_now.self->block->shared && at < bt_now.self->block->shared + bt_now.shared_bytes;
}
BT_UNSEEN static uint64_t bt_place(const char* at) {
  if (!bt_is_shared(at)) return (uint64_t)at;
  return ((uint64_t)1 << 63) + ((uint64_t)bt_own_number() << 32) + (uint64_t)(at - bt_now.self->block->shared);
}
BT_UNSEEN static bool bt_is_watched(const char* at) {
  if (bt_is_shared(at)) return true;
  uint64_t low = 0, high = bt_races.count; /* binary search: the last one that begins at or before it */
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (bt_races.watched[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at < bt_races.watched[low - 1].at + bt_races.watched[low - 1].bytes;
}
BT_UNSEEN static void bt_tell(const char* at, const bt_access* now, bool writes, const bt_access* other, bool wrote) {
  const bool is_shared = bt_is_shared(at);
  snprintf(bt_races.race, sizeof bt_races.race,
           "no barrier is between thread %u of block %u, which %s byte %lld of %s memory, and thread %u of block %u, which %s it",
           other->thread, other->block, wrote ? "writes" : "reads",
           (long long)(at - (is_shared ? bt_now.self->block->shared : bt_now.arena)), is_shared ? "shared" : "working",
           now->thread, now->block, writes ? "writes" : "reads");
}
BT_UNSEEN static void bt_saw(const void* from, uint64_t bytes, bool writes) {
  const char* const at = (const char*)from;
  if (!bt_races.count || !bt_now.self || at == bt_races.status || !bt_is_watched(at)) return;
  const uint32_t thread = bt_now.self->thread.x;
  const bt_block* block = bt_now.self->block;
  const bt_access now = {bt_own_number(), thread, block->round, block->warps[thread / 32].round, true};
  for (uint64_t i = 0; i < bytes; ++i) {
    const uint64_t place = bt_place(at + i);
    bt_byte* b = bt_line_at(place / 8)->bytes + place % 8;
    const bt_access* other = nullptr;
    if (!bt_is_before(&b->write, &now)) other = &b->write;
    for (int k = 0; k < 2 && writes && !other; ++k)
      if (!bt_is_before(&b->reads[k], &now)) other = &b->reads[k];
    if (other && !bt_races.race[0]) bt_tell(at + i, &now, writes, other, other == &b->write);
    const bool is_second = b->reads[0].is_there && (b->reads[0].block != now.block || b->reads[0].thread != thread);
    if (writes) b->reads[0].is_there = b->reads[1].is_there = false;
    (writes ? b->write : b->reads[is_second]) = now;
  }
}
#define BT_WITNESS extern "C" BT_UNSEEN __attribute__((visibility("hidden"))) void
BT_WITNESS __tsan_init() {}
BT_WITNESS __tsan_func_entry(void*) {}
BT_WITNESS __tsan_func_exit(void*) {}
#define BT_WITNESSES(bytes)                                                       \
  BT_WITNESS __tsan_read##bytes(void* at) { bt_saw(at, bytes, false); }           \
  BT_WITNESS __tsan_write##bytes(void* at) { bt_saw(at, bytes, true); }           \
  BT_WITNESS __tsan_unaligned_read##bytes(void* at) { bt_saw(at, bytes, false); } \
  BT_WITNESS __tsan_unaligned_write##bytes(void* at) { bt_saw(at, bytes, true); }
BT_WITNESSES(1)
BT_WITNESSES(2)
BT_WITNESSES(4)
BT_WITNESSES(8)
BT_WITNESSES(16)
BT_WITNESS __tsan_read_range(void* at, long bytes) { bt_saw(at, (uint64_t)bytes, false); }
BT_WITNESS __tsan_write_range(void* at, long bytes) { bt_saw(at, (uint64_t)bytes, true); }
