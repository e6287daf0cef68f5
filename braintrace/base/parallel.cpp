// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "braintrace/base/machine.h"

namespace braintrace {

void in_parallel(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& work) {
  const int64_t                   pieces  = (count + grain - 1) / grain;
  const auto                      threads = static_cast<size_t>(std::clamp<int64_t>(pieces, 1, usable_processors()));
  std::atomic<int64_t>            next{0};
  std::vector<std::exception_ptr> failed(threads);
  const auto                      run = [&](size_t thread) {
    try {
      for (int64_t i = next++; i < pieces; i = next++) work(i * grain, std::min((i + 1) * grain, count));
    } catch (...) {
      failed[thread] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& t : others) t.join();
  for (const std::exception_ptr& e : failed)
    if (e) std::rethrow_exception(e);
}

}  // namespace braintrace
