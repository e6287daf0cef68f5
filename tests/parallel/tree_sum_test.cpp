// SPDX-License-Identifier: Apache-2.0
#include "braintrace/parallel/tree_sum.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "braintrace/parallel/collective.h"
#include "tests/parallel/forked.h"

namespace braintrace::parallel {
namespace {

// Numbers whose sum depends on the order.
std::vector<float> numbers_of(int64_t shard, size_t n) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(std::sin(static_cast<double>(shard * 7919 + static_cast<int64_t>(i))) *
                                std::pow(10.0, static_cast<double>((shard * 5 + static_cast<int64_t>(i)) % 7)));
  return out;
}

std::vector<float> recursive(int64_t lo, int64_t hi, size_t n) {
  if (hi - lo == 1) return numbers_of(lo, n);
  const int64_t            mid   = (lo + hi + 1) / 2;
  std::vector<float>       left  = recursive(lo, mid, n);
  const std::vector<float> right = recursive(mid, hi, n);
  for (size_t i = 0; i < n; ++i) left[i] += right[i];
  return left;
}

// The sum of n numbers of each shard, of which this rank has its own.
std::vector<float> summed(TreeSum<float>& sum, const ShardRange& mine, size_t n) {
  std::vector<std::vector<float>> values;
  for (int64_t s = mine.lo; s < mine.hi; ++s) values.push_back(numbers_of(s, n));
  std::vector<float> out(n);
  sum(std::vector<std::span<const float>>(values.begin(), values.end()), out);
  return out;
}

// Memory is reused between sums: alternating shorter and longer sums must not see remains of each other.
TEST(TreeSum, IsTheTree) {
  for (int64_t shards = 1; shards <= 9; ++shards) {
    TreeSum<float> sum(alone(), shards);
    for (const size_t n : {size_t{50}, size_t{0}, size_t{3000}, size_t{1}, size_t{1024}})
      EXPECT_EQ(summed(sum, {0, shards}, n), recursive(0, shards, n)) << shards << " shards, " << n << " numbers";
  }
}

// Long vectors are divided among the ranks, short ones are not.
TEST(TreeSum, RanksDoNotChangeBits) {
  bool is_order_felt = false;
  struct Case {
    int64_t shards;
    int     ranks;
  };
  for (const Case& c : {Case{4, 1}, Case{4, 2}, Case{4, 4}, Case{6, 2}, Case{6, 3}, Case{12, 4}}) {
    const int64_t shards = c.shards;
    const auto    sizes  = {size_t{1}, size_t{5000}, size_t{7}, size_t{1500}};
    work_forked(c.ranks, [&](const std::shared_ptr<Group>& group) {
      TreeSum<float> sum(group, shards);
      for (const size_t n : sizes)
        require(summed(sum, shards_of(*group, group->rank(), shards), n) == recursive(0, shards, n),
                "another sum of {} numbers, {} shards, {} ranks", n, shards, c.ranks);
    });
    for (const size_t n : sizes) {
      const auto         want    = recursive(0, shards, n);
      std::vector<float> in_line = numbers_of(0, n);
      for (int64_t s = 1; s < shards; ++s) {
        const auto more = numbers_of(s, n);
        for (size_t i = 0; i < n; ++i) in_line[i] += more[i];
      }
      is_order_felt = is_order_felt || in_line != want;
    }
  }
  EXPECT_TRUE(is_order_felt);
}

TEST(Collective, TextsOfAllRanks) {
  work_forked(3, [](const std::shared_ptr<Group>& group) {
    const std::string mine(static_cast<size_t>(group->rank()) * 100000, static_cast<char>('a' + group->rank()));
    const auto        all = all_gather(*group, mine);
    for (size_t r = 0; r < 3; ++r) require(all[r] == std::string(r * 100000, static_cast<char>('a' + r)), "other text");
    require(broadcast(*group, group->is_first() ? "word" : "other") == "word", "other word");
    require(any(*group, group->rank() == 2) && !any(*group, false), "other answer");
  });
}

// An error of one rank is an error of all, and names the rank.
TEST(Collective, AllSucceedOrAllFail) {
  for (const bool everywhere : {false, true})
    for (const Forked& f : run_forked(3, [&](const std::shared_ptr<Group>& group) {
           all_succeed(*group, [] {});
           all_succeed(*group, [&] { require(!everywhere && group->rank() != 1, "the disk is full"); });
         })) {
      EXPECT_EQ(f.status, 1);
      EXPECT_EQ(f.error, everywhere ? "the disk is full" : "rank 1 of 3: the disk is full");
    }
}

TEST(Collective, ARankThatEndsIsAnErrorOfTheOthers) {
  const auto all = run_forked(3, [](const std::shared_ptr<Group>& group) {
    if (group->rank() == 1) return;
    all_gather(*group, "here");
  });
  EXPECT_NE(all[0].error.find("rank 1 has ended"), std::string::npos) << all[0].error;
  EXPECT_EQ(all[2].status, 1);
}

}  // namespace
}  // namespace braintrace::parallel
