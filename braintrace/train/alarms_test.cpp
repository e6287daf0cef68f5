// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/alarms.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/nn/linear.h"

namespace braintrace::train {
namespace {

std::vector<std::string> kinds(const std::string& kind, std::vector<double> mean, std::vector<double> least,
                               std::vector<double> most) {
  std::vector<std::string> out;
  for (const Alarm& a : activity_alarms(7, {{{"layer", kind}, std::move(mean), std::move(least), std::move(most)}})) {
    EXPECT_EQ(a.step, 7);
    EXPECT_EQ(a.where, "layer");
    out.push_back(a.kind);
  }
  return out;
}
using Kinds = std::vector<std::string>;

TEST(Alarms, DeadAndSaturatedUnits) {
  EXPECT_EQ(kinds("spikes", {0, 0, 0.1}, {0, 0, 0}, {0, 0, 1}), Kinds{"dead"});
  EXPECT_EQ(kinds("spikes", {0, 0.2, 0.1}, {0, 0, 0}, {0, 1, 1}), Kinds{});
  EXPECT_EQ(kinds("spikes", {1, 0.95}, {1, 0}, {1, 1}), Kinds{"saturated"});
  EXPECT_EQ(kinds("hidden", {0, 0}, {0, 0}, {0, 0}), Kinds{"dead"});
  EXPECT_EQ(kinds("hidden", {0.999, -0.995}, {0.9, -1}, {1, -0.9}), Kinds{"saturated"});
  EXPECT_EQ(kinds("hidden", {0.999, 5}, {0.9, 3}, {1, 7}), Kinds{});  // this state has no bound at 1
  EXPECT_EQ(kinds("voltage", {0, 0}, {0, 0}, {0, 0}), Kinds{});
}

TEST(Alarms, ManyLayersAreOneAlarm) {
  std::vector<UnitStatistics> units;
  for (int i = 0; i < 50; ++i) units.push_back({{"layer" + std::to_string(i), "spikes"}, {0, 0}, {0, 0}, {0, 0}});
  units.push_back({{"last", "spikes"}, {1, 1}, {1, 1}, {1, 1}});
  const std::vector<Alarm> alarms = joined_alarms(activity_alarms(7, units));
  ASSERT_EQ(alarms.size(), 2u);
  EXPECT_TRUE(alarms[0].message.starts_with("50 layers, layer0, layer1, layer2 and 47 more; the first: 100%"))
      << alarms[0].message;
  EXPECT_EQ(alarms[1].where, "last");
}

TEST(Alarms, NumbersThatAreNone) {
  const nn::Linear a(1, 1), b(1, 1);
  const StateMap   weights{{Path{"a"}, a.weight}, {Path{"b"}, b.weight}};
  EXPECT_TRUE(finite_alarms(1, 0.5, weights, {1, 2}).empty());
  EXPECT_EQ(finite_alarms(1, NAN, weights, {1, 2}).at(0).where, "loss");
  EXPECT_EQ(finite_alarms(1, NAN, weights, {1, INFINITY}).at(0).where, "b");
}

}  // namespace
}  // namespace braintrace::train
