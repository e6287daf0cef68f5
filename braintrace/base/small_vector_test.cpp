// SPDX-License-Identifier: Apache-2.0
// SmallVector does what std::vector does, on both sides of its inner capacity.
#include "braintrace/base/small_vector.h"

#include <vector>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

using Small = SmallVector<int, 4>;

std::vector<int> values(const Small& v) { return {v.begin(), v.end()}; }

// The same edits on both, at lengths below, at and above the inner capacity.
TEST(SmallVector, editsLikeVector) {
  for (int n = 0; n <= 9; ++n) {
    Small            a;
    std::vector<int> b;
    for (int i = 0; i < n; ++i) {
      a.push_back(i);
      b.push_back(i);
    }
    const std::vector<int> more{70, 71, 72};
    for (int at = 0; at <= n; ++at) {
      Small            x = a;
      std::vector<int> y = b;
      EXPECT_EQ(*x.insert(x.begin() + at, more.begin(), more.end()), 70);
      y.insert(y.begin() + at, more.begin(), more.end());
      EXPECT_EQ(values(x), y);
      x.insert(x.begin() + at, 9);
      y.insert(y.begin() + at, 9);
      x.insert(x.begin() + at, 2, 8);
      y.insert(y.begin() + at, 2, 8);
      EXPECT_EQ(values(x), y);
      x.erase(x.begin() + at, x.begin() + at + 4);
      y.erase(y.begin() + at, y.begin() + at + 4);
      EXPECT_EQ(values(x), y);
      x.erase(x.begin() + at);
      y.erase(y.begin() + at);
      EXPECT_EQ(values(x), y);
      x.resize(static_cast<size_t>(at), 5);
      y.resize(static_cast<size_t>(at), 5);
      x.resize(7, 6);
      y.resize(7, 6);
      EXPECT_EQ(values(x), y);
      EXPECT_EQ(std::vector<int>(x.rbegin(), x.rend()), std::vector<int>(y.rbegin(), y.rend()));
    }
    EXPECT_EQ(values(a), b) << "the copies were independent";
  }
}

TEST(SmallVector, copiesMovesAndCompares) {
  const Small short_one{1, 2}, long_one{1, 2, 3, 4, 5, 6};
  for (const Small& original : {short_one, long_one}) {
    Small copy = original, moved = std::move(copy);
    EXPECT_EQ(moved, original);
    copy        = moved;
    copy.back() = 99;
    EXPECT_NE(copy, original);
    EXPECT_GT(copy, original);
    copy = long_one;
    EXPECT_EQ(copy, long_one);
    moved.clear();
    EXPECT_TRUE(moved.empty());
    moved.assign(6, 3);
    EXPECT_EQ(moved, Small(6, 3));
  }
  EXPECT_LT(short_one, long_one);
  EXPECT_EQ(Small(3), (Small{0, 0, 0}));
}

}  // namespace
}  // namespace braintrace
