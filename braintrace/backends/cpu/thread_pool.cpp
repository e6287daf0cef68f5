// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "braintrace/base/error.h"

namespace braintrace::cpu {

namespace {

constexpr int spins = 2000;  // before a waiting thread goes to sleep

struct Job {
  codegen::bt_task         task  = nullptr;
  const codegen::bt_frame* frame = nullptr;
  int64_t                  count = 0, piece = 1;
  std::atomic<int64_t>     next{0};
  std::atomic<int32_t>     status{0};

  void work() {
    for (int64_t begin; (begin = next.fetch_add(piece)) < count;)
      if (const int32_t rc = task(frame, begin, std::min(begin + piece, count))) status = rc;
  }
};

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  void run(Job& job) {
    {
      std::lock_guard lock(mutex_);
      job_  = &job;
      busy_ = static_cast<int>(workers_.size());
      ++serial_;
    }
    wake_.notify_all();
    job.work();
    for (int i = 0; busy_ > 0 && i < spins; ++i) std::this_thread::yield();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }
  size_t size() const { return workers_.size() + 1; }

 private:
  void serve() {
    uint64_t seen = 0;
    while (true) {
      for (int i = 0; serial_ == seen && !stop_ && i < spins; ++i) std::this_thread::yield();
      Job* job = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stop_ || serial_ != seen; });
        if (stop_) return;
        seen = serial_;
        job  = job_;
      }
      job->work();
      std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex               mutex_;
  std::condition_variable  wake_, done_;
  std::atomic<uint64_t>    serial_{0};
  std::atomic<bool>        stop_{false};
  std::atomic<int>         busy_{0};
  Job*                     job_ = nullptr;
  std::vector<std::thread> workers_;
};

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
  const int                    threads = num_threads();
  // One kernel at a time uses the threads; others, and kernels inside kernels, run where they are.
  std::unique_lock lock(mutex, std::try_to_lock);
  if (threads == 1 || !lock || count <= grain) return task(frame, 0, count);
  if (!pool || pool->size() != static_cast<size_t>(threads)) pool = std::make_unique<Pool>(threads);
  Job job;
  job.task  = task;
  job.frame = frame;
  job.count = count;
  job.piece = std::max(grain, (count + 4 * threads - 1) / (4 * threads));
  pool->run(job);
  return job.status;
}

}  // namespace braintrace::cpu
