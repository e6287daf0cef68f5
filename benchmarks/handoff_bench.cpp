// SPDX-License-Identifier: Apache-2.0
// What it costs to share a kernel among threads: a kernel of one empty part per thread, from call to return, and the
// exchange of a cache line between two threads, there and back, by a store and a load each.
//
//   handoff_bench [threads=2,4,8,…]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "braintrace/backends/cpu/thread_pool.h"

namespace {

using namespace braintrace;
using Clock = std::chrono::steady_clock;

int32_t nothing(const codegen::bt_frame*, int64_t, int64_t) { return 0; }

// Least and median nanoseconds of f over many rounds of calls.
template <class F>
std::pair<double, double> nanoseconds(const F& f) {
  constexpr int       rounds = 300, calls = 200;
  std::vector<double> times;
  for (int r = 0; r < rounds; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) f();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls);
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[rounds / 2]};
}

std::pair<double, double> exchange() {
  alignas(64) std::atomic<int> there{0};
  alignas(64) std::atomic<int> back{0};
  std::thread                  other([&] {
    for (int seen = 0; seen >= 0;) {
      const int now = there;
      if (now != seen) back = seen = now;
    }
  });
  int                          n    = 0;
  const auto                   time = nanoseconds([&] {
    there = ++n;
    while (back != n) continue;
  });
  there                             = -1;
  other.join();
  return time;
}

}  // namespace

int main(int count, char** words) {
  std::vector<int> threads;
  for (int i = 1; i < count; ++i) threads.push_back(std::atoi(words[i]));
  if (threads.empty())
    for (int n = 2; n <= cpu::num_threads(); n *= 2) threads.push_back(n);
  for (int n : threads)
    if (n < 2 || n > 256) {
      fmt::print(stderr, "handoff_bench: expected numbers of threads from 2 to 256\n");
      return 2;
    }
  const auto [least, median] = exchange();
  fmt::print("exchange of a cache line          {:6.0f} ns, median {:6.0f}\n", least, median);
  for (int n : threads) {
    cpu::set_num_threads(n);
    const auto [l, m] = nanoseconds([&] { cpu::run_parallel(nothing, nullptr, n, 1, 0, n); });
    fmt::print("kernel of {:3} threads             {:6.0f} ns, median {:6.0f}\n", n, l, m);
  }
}
