// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
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

// Between looks at something that another thread will write. Mostly loads and few pauses: a hypervisor deschedules a
// virtual CPU that mainly executes pause, and rescheduling takes longer than most kernels.
constexpr int looks = 64;  // for each pause

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Spins on `done`, for a few milliseconds.
template <class Done>
bool spin_until(Done done) {
  for (int i = 0; i < spins; ++i) {
    for (int look = 0; look < looks; ++look)
      if (done()) return true;
    relax();
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

// Each thread has its own range of a kernel's parts, the same one in every kernel with as many parts, so that its data
// stay in its cache. It takes its range in a few pieces. Threads whose range is done help others. If data have a home,
// moving them costs more than the work: then only the caller helps, and only a thread that has not joined for a long
// time or was preempted.
//
// Passing a cache line to another core takes as long as a small kernel, so a call needs two of them per thread: the
// caller writes an order, which one thread reads, and this thread writes its progress, which the caller reads. The
// thread that advances `taken` of a range owns its next piece. The numbers of calls increase, so nobody has to reset
// `taken`, and a thread that comes too late finds all pieces of its call taken.
class Pool {
 public:
  explicit Pool(int threads) : orders_(static_cast<size_t>(threads)), progress_(orders_.size()) {
    // We do not pin the caller; the first CPU is left to it.
    std::vector<int> own = allowed_processors();
    if (!are_pinned(size(), own.size())) own.clear();
    for (size_t i = 1; i < size(); ++i)
      workers_.emplace_back([this, i, processor = i < own.size() ? own[i] : -1] {
        if (processor >= 0) pin_this_thread(processor);
        serve(i);
      });
  }
  ~Pool() {
    for (size_t i = 1; i < size(); ++i) {
      orders_[i].number = over;
      progress_[i].wake();
    }
    for (std::thread& t : workers_) t.join();
  }

  int32_t run(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain, int64_t first,
              int64_t whole, int64_t most) {
    // As many threads as the work justifies.
    const auto    n     = std::clamp<int64_t>((whole ? whole : count) / grain, 1, most);
    const int64_t piece = std::max(std::min(grain, count / n), (count + 4 * n - 1) / (4 * n));
    const Work    work{++call_, task, frame, count, piece, first, whole, n};
    const auto    threads = static_cast<size_t>(n);
    status_.store(0, std::memory_order_relaxed);
    for (size_t i = 1; i < threads; ++i) orders_[i].give(work);
    // A thread that goes to sleep either is counted here, or sees its order.
    if (sleepers_.fetch_add(0) > 0)
      for (size_t i = 1; i < threads; ++i) progress_[i].wake();
    at_work          = true;
    const auto start = Clock::now();
    take(0, work);
    if (!whole)
      for (size_t i = 1; i < threads; ++i) take(i, work);
    if (!all_finished(work)) wait(work, start);
    at_work = false;
    return status_;
  }
  size_t size() const { return orders_.size(); }

  static thread_local bool at_work;  // this thread is inside a parallel kernel

 private:
  // Numbers of calls; an order has the number `unfinished` while the caller writes it.
  static constexpr int64_t unfinished = 0, over = -1;

  struct Work {
    int64_t                  call;
    codegen::bt_task         task;
    const codegen::bt_frame* frame;
    int64_t                  count, piece, first, whole, threads;

    // The range of a thread ends where that of the next one begins.
    int64_t begin(size_t thread) const {
      const int64_t all = whole ? whole : count;
      return std::clamp<int64_t>((all * static_cast<int64_t>(thread) + threads - 1) / threads - first, 0, count);
    }
    int64_t end(size_t thread) const { return begin(thread + 1); }
    int64_t pieces(size_t thread) const { return (end(thread) - begin(thread) + piece - 1) / piece; }
    // The call and the number of pieces taken, as one number that increases: a range has at most 4 pieces per thread.
    int64_t word(int64_t taken) const { return (call << 16) + taken; }
  };

  struct alignas(64) Order {
    std::atomic<int64_t>                  number{unfinished};
    std::atomic<codegen::bt_task>         task{nullptr};
    std::atomic<const codegen::bt_frame*> frame{nullptr};
    std::atomic<int64_t>                  count{0}, piece{0}, first{0}, whole{0}, threads{0};

    void give(const Work& w) {
      constexpr auto release = std::memory_order_release;
      number.store(unfinished, std::memory_order_relaxed);
      task.store(w.task, release);
      frame.store(w.frame, release);
      count.store(w.count, release);
      piece.store(w.piece, release);
      first.store(w.first, release);
      whole.store(w.whole, release);
      threads.store(w.threads, release);
      number.store(w.call, release);
    }
    // None if the caller writes a new order at the same time.
    std::optional<Work> read() const {
      const Work w{number, task, frame, count, piece, first, whole, threads};
      return w.call != unfinished && number == w.call ? std::optional(w) : std::nullopt;
    }
  };
  struct alignas(64) Progress {
    std::atomic<int64_t> taken{0};     // of the thread's range, as in Work::word
    std::atomic<int64_t> joined{0};    // the last call that the thread worked on
    std::atomic<int64_t> finished{0};  // and that it finished: what the caller polls
    std::atomic<int32_t> is_asleep{0};

    void wake() {
      if (is_asleep && is_asleep.exchange(0)) is_asleep.notify_one();
    }
  };

  bool has_finished(size_t thread, const Work& w) const { return progress_[thread].finished == w.call; }
  bool all_finished(const Work& w) const {
    bool all = true;  // without a branch: the loads overlap
    for (size_t i = 1; i < static_cast<size_t>(w.threads); ++i) all &= has_finished(i, w);
    return all;
  }
  bool is_taken(size_t thread, const Work& w) const {
    const int64_t pieces = w.pieces(thread);
    return pieces == 0 || progress_[thread].taken >= w.word(pieces);
  }
  // Nothing is left, and no thread is at work. A thread joins before it takes anything: hence this order.
  bool is_over(const Work& w) const {
    bool over = true;
    for (size_t i = 1; i < static_cast<size_t>(w.threads); ++i) over &= is_taken(i, w);
    for (size_t i = 1; i < static_cast<size_t>(w.threads); ++i)
      over &= progress_[i].joined != w.call || has_finished(i, w);
    return over;
  }

  // Waits for threads that are at work, and works for those that are away or late.
  void wait(const Work& w, Clock::time_point start) {
    const auto end = Clock::now(), away = end + on_the_way, late = end + 4 * (end - start) + held_up;
    for (int64_t look = 1; !all_finished(w); ++look) {
      if (look % looks != 0) continue;
      const auto now = Clock::now();
      for (size_t i = 1; i < static_cast<size_t>(w.threads) && now > away; ++i)
        if (now > late || progress_[i].joined != w.call) take(i, w);
      if (is_over(w)) return;
      look < looks* spins ? relax() : std::this_thread::yield();
    }
  }

  // Does what is left of a thread's range.
  void take(size_t thread, const Work& w) {
    std::atomic<int64_t>& taken = progress_[thread].taken;
    const int64_t         begin = w.begin(thread), end = w.end(thread);
    const int64_t         pieces = w.pieces(thread);
    for (int64_t word = taken;;) {
      const int64_t piece = std::max(word - w.word(0), int64_t{0});
      if (piece >= pieces) return;
      if (!taken.compare_exchange_weak(word, w.word(piece + 1))) continue;
      const int64_t from = begin + piece * w.piece;
      if (const int32_t rc = w.task(w.frame, from, std::min(from + w.piece, end))) status_ = rc;
      word = taken;
    }
  }

  void serve(size_t self) {
    const FlushSubnormals flush;
    at_work                      = true;
    int64_t               seen   = unfinished;
    Progress&             mine   = progress_[self];
    std::atomic<int64_t>& number = orders_[self].number;
    while (true) {
      if (!spin_until([&] { return number != seen && number != unfinished; })) {
        mine.is_asleep = 1;
        ++sleepers_;
        if (number == seen) mine.is_asleep.wait(1);
        --sleepers_;
        mine.is_asleep = 0;
        continue;
      }
      if (number == over) return;
      const std::optional<Work> work = orders_[self].read();
      if (!work) continue;
      seen = work->call;
      mine.joined.store(seen, std::memory_order_release);
      const auto n = static_cast<size_t>(work->threads);
      for (size_t i = 0; i < (work->whole ? 1 : n); ++i) take((self + i) % n, *work);
      mine.finished.store(seen, std::memory_order_release);
    }
  }

  std::vector<Order>       orders_;
  std::vector<Progress>    progress_;
  std::vector<std::thread> workers_;
  // What follows is written often, but not by threads at work.
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<int32_t> status_{0};
  int64_t              call_ = 0;
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
