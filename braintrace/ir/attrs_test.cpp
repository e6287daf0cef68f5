// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ir/attrs.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "braintrace/base/error.h"

namespace braintrace {
namespace {

constexpr Key<Ints>    axes{"axes"};
constexpr Key<double>  rate{"rate"};
constexpr Key<int64_t> count{"count"};

TEST(Attrs, KeepsValuesByNameInAnyOrder) {
  const Attrs a{{axes, {0, 2}}, {rate, 0.5}}, b{{rate, 0.5}, {axes, {0, 2}}};
  EXPECT_EQ(a[axes], (Ints{0, 2}));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a == a.with(rate, 0.25));
  EXPECT_EQ(a.with(rate, 0.25)[rate], 0.25);
  EXPECT_EQ(a[rate], 0.5);
}

TEST(Attrs, MissingOrOtherTypeIsAnError) {
  const Attrs a{{rate, 0.5}};
  EXPECT_EQ(a.find(count), nullptr);
  EXPECT_EQ(a.find(Key<int64_t>{"rate"}), nullptr);
  EXPECT_EQ(a.get_or(count, int64_t{7}), 7);
  try {
    a[count];
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("'count'"), std::string::npos) << e.what();
  }
}

TEST(Attrs, NumbersCompareByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ((Attrs{{rate, nan}}), (Attrs{{rate, nan}}));
  EXPECT_FALSE((Attrs{{rate, 0.0}}) == (Attrs{{rate, -0.0}}));
  constexpr Key<std::vector<double>> rates{"rates"};
  EXPECT_EQ((Attrs{{rates, {1, nan}}}), (Attrs{{rates, {1, nan}}}));
  EXPECT_FALSE((Attrs{{rates, {0.0}}}) == (Attrs{{rates, {-0.0}}}));
  EXPECT_FALSE((Attrs{{rates, {0.0}}}) == (Attrs{{rates, {0.0, 0.0}}}));
  EXPECT_EQ((Attrs{{rates, {1, nan}}}).hash(), (Attrs{{rates, {1, nan}}}).hash());
}

TEST(Attrs, ArraysCompareByTypeAndElements) {
  constexpr Key<Array> table{"table"};
  const Attrs          a{{table, Array::of<float>({1, 2}, {2})}};
  EXPECT_EQ(a, (Attrs{{table, Array::of<float>({1, 2}, {2})}}));
  EXPECT_EQ(a.hash(), (Attrs{{table, Array::of<float>({1, 2}, {2})}}).hash());
  EXPECT_FALSE(a == (Attrs{{table, Array::of<float>({1, 3}, {2})}}));
  EXPECT_FALSE(a == (Attrs{{table, Array::of<float>({1, 2}, {1, 2})}}));
}

}  // namespace
}  // namespace braintrace
