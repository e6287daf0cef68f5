// SPDX-License-Identifier: Apache-2.0
#include "braintrace/parallel/exchange_times.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "braintrace/parallel/collective.h"
#include "braintrace/parallel/tree_sum.h"

namespace braintrace::parallel {

namespace {

using Clock = std::chrono::steady_clock;

double largest(Group& group, double mine) {
  const auto all = all_gather_blocks(group, std::as_bytes(std::span(&mine, 1)));
  double     out = 0;
  for (size_t at = 0; at < all.size(); at += sizeof mine) {
    double one = 0;
    std::memcpy(&one, all.data() + at, sizeof one);
    out = std::max(out, one);
  }
  return out;
}

// One sum of `mine` over all ranks, a shard each.
double one_sum(Group& group, TreeSum<float>& sum, std::span<const float> mine, std::span<float> out) {
  any(group, false);  // all begin together
  const auto begin = Clock::now();
  sum(std::span(&mine, 1), out);
  return largest(group, std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

std::vector<ExchangeTime> exchange_times(const std::shared_ptr<Group>& group, double seconds) {
  std::vector<ExchangeTime> out;
  TreeSum<float>            sum(group, group->size());
  for (const int64_t numbers : {1, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22}) {
    const std::vector<float> mine(static_cast<size_t>(numbers), 1);
    std::vector<float>       total(mine.size());
    double                   spent = 0;
    std::vector<double>      times;
    one_sum(*group, sum, mine, total);  // connections and memory
    while (times.size() < 5 || spent < seconds) {
      times.push_back(one_sum(*group, sum, mine, total));  // the same at all ranks, so all stop together
      spent += times.back();
      if (times.size() > 10000) break;
    }
    out.push_back({numbers, *std::min_element(times.begin(), times.end())});
  }
  return out;
}

}  // namespace braintrace::parallel
