// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "braintrace/backends/cpu/flush.h"
#include "braintrace/backends/settings.h"
#include "braintrace/base/error.h"
#include "braintrace/base/machine.h"

namespace braintrace::cpu {

namespace {

using Clock = std::chrono::steady_clock;

// A thread that has started and exceeds the expected duration of its share by this much was preempted.
constexpr auto held_up = std::chrono::microseconds(50);
// A thread that is awake responds within this time.
constexpr auto on_the_way = std::chrono::nanoseconds(500);

constexpr int spins = 20000;  // a few milliseconds, before an idle thread sleeps

// Spins on `done`. Mostly loads and few pauses: a hypervisor deschedules a virtual CPU that mainly executes pause, and
// rescheduling takes longer than most kernels.
template <class Done>
bool spin_until(Done done) {
  for (int i = 0; i < spins; ++i) {
    for (int look = 0; look < 64; ++look)
      if (done()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  return done();
}

// The CPUs that this process may run on, in order; empty if unknown.
std::vector<int> allowed_processors() {
  std::vector<int> out;
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) out.push_back(i);
#endif
  return out;
}

// Unless BRAINTRACE_PIN is set, threads are pinned if this process owns the whole machine and the machine is NUMA:
// memory that a thread touches first is then local to it.
bool are_pinned(size_t threads, size_t allowed) {
  if (const auto told = settings::pin()) return *told;
  const auto all = static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return threads == all && allowed == all && usable_processors() == static_cast<int>(all) &&
         ::access("/sys/devices/system/node/node1", F_OK) == 0;
}

void pin_this_thread([[maybe_unused]] int processor) {
#ifdef __linux__
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
#endif
}

// Each thread has its own range, the same one in every call with as many parts, so that its data stay in its cache. The
// caller starts to work immediately. Threads that have joined share the work, and help others when their range is done.
// If data have a home, moving them costs more than the work: then only the caller takes over, and only from a thread
// that has not joined for a long time or was preempted.
//
// One atomic word contains the number of the call and whether threads may still join. A thread raises its own flag
// before it reads that word again, and the caller closes the call before it reads the flags: so one always sees the
// other, without locks and without writes to memory shared by all threads.
class Pool {
 public:
  explicit Pool(int threads) : ranges_(static_cast<size_t>(threads)) {
    // We do not pin the caller; the first CPU is left to it.
    std::vector<int> own = allowed_processors();
    if (!are_pinned(ranges_.size(), own.size())) own.clear();
    for (size_t i = 1; i < ranges_.size(); ++i)
      workers_.emplace_back([this, i, processor = i < own.size() ? own[i] : -1] {
        if (processor >= 0) pin_this_thread(processor);
        serve(i);
      });
  }
  ~Pool() {
    stop_ = true;
    state_ += one_call;
    state_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  int32_t run(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain, int64_t first,
              int64_t whole, int64_t most) {
    // As many threads as the work justifies.
    const int64_t all = whole ? whole : count;
    const auto    n   = std::clamp<int64_t>(all / grain, 1, most);
    task_             = task;
    frame_            = frame;
    piece_            = std::max(std::min(grain, count / n), (count + 4 * n - 1) / (4 * n));
    has_home_         = whole > 0;
    status_           = 0;
    invited_.store(static_cast<size_t>(n), std::memory_order_relaxed);
    const auto border = [&](int64_t k) { return std::clamp<int64_t>((all * k + n - 1) / n - first, 0, count); };
    for (int64_t i = 0; i < n; ++i) {
      ranges_[i].next.store(border(i), std::memory_order_relaxed);
      ranges_[i].end = border(i + 1);
    }
    state_ += one_call + is_open;
    if (sleepers_ > 0) state_.notify_all();
    at_work          = true;
    const auto start = Clock::now();
    work_on(ranges_[0]);
    const auto own  = Clock::now() - start;
    const auto late = start + 5 * own + held_up;
    for (int64_t i = 1; i < n; ++i) {
      Range&     r       = ranges_[i];
      const auto is_away = [&] { return !r.is_manned && Clock::now() > start + own + on_the_way; };
      while (has_home_ && r.is_left() && !is_away() && Clock::now() < late) continue;
      work_on(r);
    }
    at_work = false;
    state_ -= is_open;
    for (int64_t i = 1; i < n; ++i)
      while (!spin_until([&] { return !ranges_[i].is_manned; })) std::this_thread::yield();
    return status_;
  }
  size_t size() const { return ranges_.size(); }

  static thread_local bool at_work;  // this thread is inside a parallel kernel

 private:
  static constexpr int is_open = 1, one_call = 2;

  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t              end = 0;
    std::atomic<bool>    is_manned{false};
    bool                 is_left() const { return next.load(std::memory_order_relaxed) < end; }
  };

  void work_on(Range& r) {
    while (r.is_left()) {
      const int64_t begin = r.next.fetch_add(piece_);
      if (begin >= r.end) return;
      if (const int32_t rc = task_(frame_, begin, std::min(begin + piece_, r.end))) status_ = rc;
    }
  }

  static unsigned call_of(unsigned state) { return state & ~unsigned{is_open}; }

  void serve(size_t self) {
    const FlushSubnormals flush;
    at_work            = true;
    unsigned   seen    = 0;
    Range&     mine    = ranges_[self];
    const auto is_news = [&] { return call_of(state_) != seen; };
    while (true) {
      if (!spin_until(is_news)) {
        ++sleepers_;
        for (unsigned state = state_; call_of(state) == seen; state = state_) state_.wait(state);
        --sleepers_;
      }
      if (stop_) return;
      const unsigned state = state_;
      seen                 = call_of(state);
      if (!(state & is_open) || self >= invited_.load(std::memory_order_relaxed)) continue;
      mine.is_manned = true;
      if (state_ == state) {
        const size_t n = invited_.load(std::memory_order_relaxed);
        for (size_t i = 0; i < (has_home_ ? 1 : n); ++i) work_on(ranges_[(self + i) % n]);
      }
      mine.is_manned = false;
    }
  }

  alignas(64) std::atomic<unsigned> state_{0};
  std::atomic<int>  sleepers_{0};
  std::atomic<bool> stop_{false};
  alignas(64) codegen::bt_task task_ = nullptr;
  const codegen::bt_frame* frame_    = nullptr;
  int64_t                  piece_    = 1;
  bool                     has_home_ = false;
  std::atomic<size_t>      invited_{0};
  std::atomic<int32_t>     status_{0};
  std::vector<Range>       ranges_;
  std::vector<std::thread> workers_;
};

thread_local bool Pool::at_work = false;

thread_local int limit = settings::most_threads;

std::atomic<int>& wanted_threads() {
  // More threads than processors only wait for each other.
  static std::atomic<int> n = static_cast<int>(
      std::min<int64_t>(settings::num_threads().value_or(settings::most_threads), usable_processors()));
  return n;
}

}  // namespace

int  num_threads() { return wanted_threads(); }
void set_num_threads(int n) {
  require(n >= 1 && n <= settings::most_threads, "set_num_threads: {} is not within 1 … {}.", n,
          settings::most_threads);
  wanted_threads() = n;
}

ThreadLimit::ThreadLimit(int most) : before_(std::exchange(limit, most)) {}
ThreadLimit::~ThreadLimit() { limit = before_; }

int32_t run_parallel(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain, int64_t first,
                     int64_t whole) {
  static std::mutex            mutex;
  static std::unique_ptr<Pool> pool;
  // A child of fork() has no threads: it abandons the pool and creates a new one.
  [[maybe_unused]] static Pool* volatile left = nullptr;
  [[maybe_unused]] static const int watched   = pthread_atfork(nullptr, nullptr, [] { left = pool.release(); });
  const int                         threads   = num_threads();
  const int                         most      = std::min(threads, limit);
  // One kernel at a time uses the pool; concurrent and nested kernels run on the calling thread.
  if (most == 1 || count <= grain || Pool::at_work) return task(frame, 0, count);
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return task(frame, 0, count);
  if (!pool || pool->size() != static_cast<size_t>(threads)) pool = std::make_unique<Pool>(threads);
  return pool->run(task, frame, count, grain, first, whole, most);
}

}  // namespace braintrace::cpu
