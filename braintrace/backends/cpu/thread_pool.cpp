// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace::cpu {

namespace {

constexpr int spins = 4000;  // some 100 µs: before an idle thread goes to sleep

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// The caller starts to work at once. Other threads help if they come in time, and nobody waits for one that does not:
// each thread has a range of its own, the same one at every call, so that its data stay in its cache; who is done
// takes pieces of the others' ranges.
class Pool {
 public:
  explicit Pool(int threads) : ranges_(static_cast<size_t>(threads)) {
    for (size_t i = 1; i < ranges_.size(); ++i) workers_.emplace_back([this, i] { serve(i); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  int32_t run(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain) {
    const auto n = static_cast<int64_t>(ranges_.size());
    task_        = task;
    frame_       = frame;
    piece_       = std::max(grain, (count + 4 * n - 1) / (4 * n));
    status_      = 0;
    for (int64_t i = 0; i < n; ++i) {
      ranges_[i].next = std::min(count, (count + n - 1) / n * i);
      ranges_[i].end  = std::min(count, (count + n - 1) / n * (i + 1));
    }
    bool asleep = false;
    {
      std::lock_guard lock(mutex_);
      is_open_ = true;
      ++serial_;
      asleep = sleepers_ > 0;
    }
    if (asleep) wake_.notify_all();
    work(0);
    {
      std::lock_guard lock(mutex_);
      is_open_ = false;
    }
    for (int i = 0; helpers_ > 0; ++i) i < spins ? relax() : std::this_thread::yield();
    return status_;
  }
  size_t size() const { return ranges_.size(); }

  static thread_local bool at_work;  // this thread is inside a kernel that is shared out

 private:
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t              end = 0;
  };

  void work(size_t self) {
    at_work = true;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      Range& r = ranges_[(self + i) % ranges_.size()];
      for (int64_t begin; (begin = r.next.fetch_add(piece_)) < r.end;)
        if (const int32_t rc = task_(frame_, begin, std::min(begin + piece_, r.end))) status_ = rc;
    }
    at_work = false;
  }

  void serve(size_t self) {
    uint64_t seen = 0;
    while (true) {
      for (int i = 0; serial_ == seen && !stop_ && i < spins; ++i) relax();
      {
        std::unique_lock lock(mutex_);
        ++sleepers_;
        wake_.wait(lock, [&] { return stop_ || serial_ != seen; });
        --sleepers_;
        if (stop_) return;
        seen = serial_;
        if (!is_open_) continue;
        ++helpers_;
      }
      work(self);
      --helpers_;
    }
  }

  std::mutex               mutex_;
  std::condition_variable  wake_;
  std::atomic<uint64_t>    serial_{0};
  std::atomic<bool>        stop_{false};
  std::atomic<int>         helpers_{0};  // at work besides the caller
  int                      sleepers_ = 0;
  bool                     is_open_  = false;  // helpers may still join
  codegen::bt_task         task_     = nullptr;
  const codegen::bt_frame* frame_    = nullptr;
  int64_t                  piece_    = 1;
  std::atomic<int32_t>     status_{0};
  std::vector<Range>       ranges_;
  std::vector<std::thread> workers_;
};

thread_local bool Pool::at_work = false;

std::atomic<int>& wanted_threads() {
  static std::atomic<int> n = [] {
    const char* asked = std::getenv("BRAINTRACE_NUM_THREADS");
    const int   given = asked ? std::atoi(asked) : 0;
    return given > 0 ? std::min(given, 256) : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }();
  return n;
}

}  // namespace

int  num_threads() { return wanted_threads(); }
void set_num_threads(int n) {
  require(n >= 1 && n <= 256, "set_num_threads: {} is not within 1 … 256.", n);
  wanted_threads() = n;
}

int32_t run_parallel(codegen::bt_task task, const codegen::bt_frame* frame, int64_t count, int64_t grain) {
  static std::mutex            mutex;
  static std::unique_ptr<Pool> pool;
  // A child of fork() has none of the threads: it leaves their pool alone and makes its own.
  [[maybe_unused]] static Pool* volatile left = nullptr;
  [[maybe_unused]] static const int watched   = pthread_atfork(nullptr, nullptr, [] { left = pool.release(); });
  const int                         threads   = num_threads();
  // One kernel at a time uses the threads; others, and kernels inside kernels, run where they are.
  if (threads == 1 || count <= grain || Pool::at_work) return task(frame, 0, count);
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock) return task(frame, 0, count);
  if (!pool || pool->size() != static_cast<size_t>(threads)) pool = std::make_unique<Pool>(threads);
  return pool->run(task, frame, count, grain);
}

}  // namespace braintrace::cpu
