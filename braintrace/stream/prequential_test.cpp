// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/prequential.h"

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"

namespace braintrace::stream {
namespace {

TEST(Prequential, TellsAnExpectedRiseOnceAndNoiseNever) {
  Rng         rng(1);
  Prequential p;
  const auto  feed = [&](int64_t n, double level) {
    int64_t told = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double z = rng.normal();
      told += p.add(level * z * z).has_value() ? 1 : 0;
    }
    return told;
  };
  EXPECT_EQ(feed(20000, 0.06), 0) << "noise";
  EXPECT_NEAR(p.mean(), 0.06, 0.002);
  EXPECT_EQ(feed(5000, 0.2), 1) << "a rise, told when it comes";
  EXPECT_NEAR(p.recent(), 0.2, 0.05);
  EXPECT_NEAR(*p.least(), 0.06, 0.01);
  EXPECT_EQ(feed(5000, 0.06), 0) << "it becomes better";
  EXPECT_EQ(feed(5000, 0.2), 1);
  EXPECT_EQ(p.drifts(), 2);
}

TEST(Prequential, KnowsNoBestBeforeABlockIsFull) {
  Prequential p;
  EXPECT_FALSE(p.add(3).has_value());
  EXPECT_FALSE(p.least().has_value());
  EXPECT_EQ(p.mean(), 3);
}

}  // namespace
}  // namespace braintrace::stream
