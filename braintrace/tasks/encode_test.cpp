// SPDX-License-Identifier: Apache-2.0
#include "braintrace/tasks/encode.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace braintrace::tasks {

namespace {

TEST(PoissonSpikes, EachElementFiresAsOftenAsItsProbability) {
  Random       random(5, Part::Train, 0);
  const int    T   = 20000;
  const double p[] = {0, 0.08, 0.5, 1};
  const Array  x   = poisson_spikes(Array::of<double>({p[0], p[1], p[2], p[3]}, {2, 2}), T, random);
  ASSERT_EQ(x.type(), (Type{DType::F32, {T, 2, 2}}));
  double n[4] = {}, again = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(at(x, i) == 0 || at(x, i) == 1);
    n[i % 4] += at(x, i);
    if (i >= 4 && i % 4 == 2) again += at(x, i) * at(x, i - 4);
  }
  EXPECT_EQ(n[0], 0);
  EXPECT_EQ(n[3], T);
  EXPECT_NEAR(n[1] / T, 0.08, 6 * 0.271 / std::sqrt(T));
  EXPECT_NEAR(n[2] / T, 0.5, 6 * 0.5 / std::sqrt(T));
  EXPECT_NEAR(again / T, 0.25, 6 * 0.5 / std::sqrt(T)) << "steps are independent";
}

TEST(LatencySpikes, OneSpikeEachAndTheWayBack) {
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) values.push_back(i / 100.0);
  const int64_t T = 16;
  const Array   v = Array::of<double>(values, {101}), x = latency_spikes(v, T), back = latency_values(x);
  for (int64_t i = 0; i <= 100; ++i) {
    double spikes = 0;
    for (int64_t t = 0; t < T; ++t) spikes += at(x, t * 101 + i);
    EXPECT_EQ(spikes, i > 0);
    EXPECT_NEAR(at(back, i), at(v, i), 0.5 / (T - 1) + 1e-6);
  }
  EXPECT_EQ(at(x, 100), 1) << "the largest fires first";
  EXPECT_TRUE(identical(latency_values(latency_spikes(back, T)), back)) << "what has been rounded stays";
}

TEST(DeltaEvents, TheSignalIsFoundAgainWithinTheThreshold) {
  const int64_t T = 200, n = 3;
  Array         s({DType::F32, {T, n}}), first({DType::F32, {n}});
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < n; ++i)
      s.mutable_data<float>()[t * n + i] = float(std::sin(0.1 * double(t * (i + 1))) + 0.02 * double(t) * (i == 2));
  std::copy_n(s.data<float>(), n, first.mutable_data<float>());
  const double theta = 0.15;
  const Array  x = delta_events(s, theta), r = delta_signal(x, first, theta);
  ASSERT_EQ(x.type(), (Type{DType::F32, {T, 2, n}}));
  double ups = 0, downs = 0, several = 0, apart = 0;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < n; ++i) {
      const double up = at(x, 2 * t * n + i), down = at(x, (2 * t + 1) * n + i);
      EXPECT_EQ(up * down, 0);
      ups += up, downs += down, several += up > 1;
      EXPECT_LT(std::abs(at(r, t * n + i) - at(s, t * n + i)), theta + 1e-5);
      apart = std::max(apart, std::abs(at(s, t * n + i) - at(s, i)));
    }
  EXPECT_GT(ups, 50);
  EXPECT_GT(downs, 50);
  EXPECT_GT(several, 5);
  EXPECT_GT(apart, 5 * theta) << "the bound is not met by silence";
}

TEST(Encoders, WrongNumbersAreRefused) {
  Random      random(1, Part::Train, 0);
  const Array large = Array::of<double>({0.5, 1.5}, {2});
  const auto  holds = [](const std::string& message, const char* phrase) {
    EXPECT_NE(message.find(phrase), message.npos) << message;
  };
  holds(error_of([&] { poisson_spikes(large, 3, random); }), "element 1 is 1.5");
  holds(error_of([&] { latency_spikes(large, 3); }), "element 1 is 1.5");
  holds(error_of([&] { latency_spikes(Array::of<double>({1}, {1}), 0); }), "at least one step");
  holds(error_of([&] { latency_values(large.reshaped({1, 2})); }), "T > 1");
  holds(error_of([&] { delta_events(large, 0); }), "positive threshold");
  holds(error_of([&] { delta_events(Array::of<double>({0, NAN}, {2}), 1); }), "not finite");
  holds(error_of([&] { delta_signal(large, large, 1); }), "events [T, 2, …]");
}

}  // namespace

}  // namespace braintrace::tasks
