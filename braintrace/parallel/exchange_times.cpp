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

double one_sum(Group& group, int64_t numbers) {
  TreeSum<float> tree(group.size());
  tree.add({group.rank(), group.rank() + 1}, std::vector<float>(static_cast<size_t>(numbers), 1));
  any(group, false);  // all begin together
  const auto begin = Clock::now();
  sum_over_ranks(group, group.size(), std::move(tree));
  return largest(group, std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

std::vector<ExchangeTime> exchange_times(Group& group, double seconds) {
  std::vector<ExchangeTime> out;
  for (const int64_t numbers : {1, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22}) {
    double              spent = 0;
    std::vector<double> times;
    one_sum(group, numbers);  // connections and memory
    while (times.size() < 5 || spent < seconds) {
      times.push_back(one_sum(group, numbers));  // the same at all ranks, so all stop together
      spent += times.back();
      if (times.size() > 10000) break;
    }
    out.push_back({numbers, *std::min_element(times.begin(), times.end())});
  }
  return out;
}

}  // namespace braintrace::parallel
