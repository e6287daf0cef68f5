// SPDX-License-Identifier: Apache-2.0
// The pool computes every part of a kernel exactly once, in time for the caller, however threads come and go.
#include "braintrace/backends/cpu/thread_pool.h"

#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace braintrace::cpu {
namespace {

// What the parts of a kernel do: plain memory, so that the thread sanitizer sees a part that is computed twice, or read
// before its thread has finished.
struct Cells {
  std::vector<int64_t> calls;  // per part: how many kernels computed it
  int64_t              slow = -1;
  int32_t              stop = 0;
};
Cells cells;

int32_t count_parts(const codegen::bt_frame*, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    ++cells.calls[static_cast<size_t>(i)];
    if (i == cells.slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i == cells.stop - 1) return cells.stop;
  }
  return 0;
}

class ThreadPool : public testing::Test {
 protected:
  ThreadPool() : before_(num_threads()) { set_num_threads(4); }
  ~ThreadPool() override { set_num_threads(before_); }

  // One kernel over `count` parts, those from `first` on of `whole`.
  void expect_each_part_once(int64_t count, int64_t grain, int64_t first = 0, int64_t whole = 0) {
    cells.calls.assign(static_cast<size_t>(count), 0);
    EXPECT_EQ(run_parallel(count_parts, nullptr, count, grain, first, whole), 0);
    EXPECT_EQ(std::accumulate(cells.calls.begin(), cells.calls.end(), int64_t{0}), count);
    for (int64_t calls : cells.calls) ASSERT_EQ(calls, 1) << count << " parts, " << grain << " per thread";
  }

 private:
  int before_;
};

TEST_F(ThreadPool, ComputesEachPartOnce) {
  std::mt19937 random(1);
  const auto   below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int k = 0; k < 5000; ++k) {
    const int64_t count = 1 + below(k % 2 ? 9 : 2000), grain = 1 + below(k % 3 ? 4 : 300);
    const bool    has_home = below(2) > 0;
    const int64_t first    = has_home ? below(50) : 0;
    expect_each_part_once(count, grain, first, has_home ? first + count + below(50) : 0);
    if (k % 1000 == 0) set_num_threads(2 + k / 1000);
  }
}

// A caller that pauses longer than idle threads spin finds them asleep.
TEST_F(ThreadPool, WakesThreads) {
  for (int k = 0; k < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    expect_each_part_once(64, 1, 0, k % 2 ? 64 : 0);
  }
}

// The caller takes over from a thread that is late, and waits for parts that others have begun.
TEST_F(ThreadPool, WaitsForASlowPart) {
  for (int64_t part = 0; part < 64; ++part) {
    cells.slow = part;
    expect_each_part_once(64, 1, 0, part % 2 ? 64 : 0);
  }
  cells.slow = -1;
}

TEST_F(ThreadPool, ReturnsTheStatusOfAnyPart) {
  for (int32_t part = 1; part <= 64; ++part) {
    cells.calls.assign(64, 0);
    cells.stop = part;
    EXPECT_EQ(run_parallel(count_parts, nullptr, 64, 1, 0, part % 2 ? 64 : 0), part);
  }
  cells.stop = 0;
  expect_each_part_once(64, 1);
}

}  // namespace
}  // namespace braintrace::cpu
