// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jvp.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

constexpr int64_t N = 20000;
// Seeds are fixed; a correct generator fails one of these bounds with probability below 1e-5 for a fresh seed.
constexpr double sigmas   = 4.5;
constexpr double ks_bound = 2.5;  // sup √N |F_N - F| exceeds it with probability 2 e^(-2·2.5²) < 1e-5

std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  const Array         a = t.array();
  for (int64_t i = 0; i < a.size(); ++i) v.push_back(at(a, i));
  return v;
}

double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double variance_of(const std::vector<double>& v) {
  const double m = mean_of(v);
  double       s = 0;
  for (double x : v) s += (x - m) * (x - m);
  return s / static_cast<double>(v.size());
}

// Kolmogorov and Smirnov: √N · largest distance between the empirical and the given distribution function.
template <class F>
double ks(std::vector<double> v, F cdf) {
  std::sort(v.begin(), v.end());
  const auto n = static_cast<double>(v.size());
  double     d = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const double f = cdf(v[i]), k = static_cast<double>(i);
    d = std::max({d, f - k / n, (k + 1) / n - f});
  }
  return d * std::sqrt(n);
}

// |mean - μ| and |variance - σ²| within `sigmas` of their own spread; `kurtosis` is E(x-μ)⁴/σ⁴.
void expect_moments(const std::vector<double>& v, double mean, double variance, double kurtosis) {
  const double root = std::sqrt(static_cast<double>(v.size()));
  EXPECT_NEAR(mean_of(v), mean, sigmas * std::sqrt(variance) / root);
  EXPECT_NEAR(variance_of(v), variance, sigmas * variance * std::sqrt(kurtosis - 1) / root);
}

double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Random, FirstValuesArePinned) {
  const Tensor k = random::key(42);
  EXPECT_EQ(values(random::bits(k, {4})), (std::vector<double>{2632642643, 2012563771, 314527917, 1463989207}));
  EXPECT_EQ(values(random::split_stacked(k, 2)), (std::vector<double>{43202409, 542238995, 553619769, 4258405780}));
  EXPECT_EQ(values(random::fold_in(k, 7.0)), (std::vector<double>{1414334134, 4211495529}));
  EXPECT_EQ(values(random::uniform(k, {3}, 0.0, 1.0, DType::F64)),
            (std::vector<double>{0.04030839783270512, 0.5221080323950165, 0.32094964848287477}));
  EXPECT_EQ(values(random::randint(k, {6}, 0, 100)), (std::vector<double>{4, 52, 32, 23, 28, 22}));
  EXPECT_EQ(values(random::permutation(k, 6)), (std::vector<double>{5, 2, 0, 3, 4, 1}));
  // Through log, cos and erfc: to a few ulps of another libm.
  const std::vector<double> normal = {0.5168079555685068, -1.651565450751263, 0.8493469114011364};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(values(random::normal(k, {3}, DType::F64))[i], normal[i], 1e-14);
  const std::vector<double> gamma = {0.27360409626809223, 0.8992268683518005, 0.19798722407430178};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(values(random::gamma(k, 0.5, {3}, DType::F64))[i], gamma[i], 1e-14);
}

TEST(Random, UniformIsUniform) {
  for (DType t : {DType::F32, DType::F64}) {
    const auto v = values(random::uniform(random::key(1), {N}, 0.0, 1.0, t));
    expect_moments(v, 0.5, 1.0 / 12, 1.8);
    EXPECT_LT(ks(v, [](double x) { return x; }), ks_bound);
    EXPECT_GT(ks(v, [](double x) { return x * x; }), ks_bound);  // negative control: a different distribution
    EXPECT_GE(*std::min_element(v.begin(), v.end()), 0);
    EXPECT_LT(*std::max_element(v.begin(), v.end()), 1);
  }
  // In 8 bits rounding up to 1 would be frequent.
  for (DType t : {DType::F16, DType::BF16}) {
    const auto v = values(random::uniform(random::key(2), {N}, 0.0, 1.0, t));
    EXPECT_LT(*std::max_element(v.begin(), v.end()), 1);
    EXPECT_NEAR(mean_of(v), 0.5, 0.01);
  }
  const auto w = values(random::uniform(random::key(3), {N}, -2.0, 4.0));
  expect_moments(w, 1, 3, 1.8);
}

TEST(Random, NormalIsNormal) {
  const auto v = values(random::normal(random::key(4), {N}, DType::F64));
  expect_moments(v, 0, 1, 3);
  EXPECT_LT(ks(v, phi), ks_bound);
  EXPECT_GT(ks(v, [](double x) { return phi(x - 0.1); }), ks_bound);
  expect_moments(values(random::normal(random::key(5), {N}, DType::F16)), 0, 1, 3);
}

TEST(Random, TruncatedNormalFollowsTheConditionalDistribution) {
  for (auto [lo, hi] : {std::pair{-2.0, 2.0}, {-0.5, 3.0}, {4.0, 6.0}, {-9.0, -8.0}}) {
    const auto v = values(random::truncated_normal(random::key(6), {N}, lo, hi, DType::F64));
    EXPECT_GE(*std::min_element(v.begin(), v.end()), lo);
    EXPECT_LE(*std::max_element(v.begin(), v.end()), hi);
    // In the tails 1 - Φ(x) = Φ(-x) keeps the digits.
    const double s = lo > 0 ? -1 : 1, a = phi(s * lo), b = phi(s * hi);
    EXPECT_LT(ks(v, [&](double x) { return (phi(s * x) - a) / (b - a); }), ks_bound) << lo << " " << hi;
  }
}

TEST(Random, ExponentialAndGamma) {
  const auto e = values(random::exponential(random::key(7), {N}, DType::F64));
  expect_moments(e, 1, 1, 9);
  EXPECT_LT(ks(e, [](double x) { return 1 - std::exp(-x); }), ks_bound);
  for (double a : {0.3, 1.0, 4.5})
    expect_moments(values(random::gamma(random::key(8), a, {N}, DType::F64)), a, a, 3 + 6 / a);
  // alpha = 1 is exponential; alpha = 1/2 is half the square of a normal variable.
  EXPECT_LT(ks(values(random::gamma(random::key(9), 1, {N}, DType::F64)), [](double x) { return 1 - std::exp(-x); }),
            ks_bound);
  EXPECT_LT(
      ks(values(random::gamma(random::key(10), 0.5, {N}, DType::F64)), [](double x) { return std::erf(std::sqrt(x)); }),
      ks_bound);
}

TEST(Random, DiscreteDrawsHaveTheirProbabilities) {
  const auto b = values(random::bernoulli(random::key(11), 0.3, {N}));
  EXPECT_NEAR(mean_of(b), 0.3, sigmas * std::sqrt(0.3 * 0.7 / N));
  EXPECT_EQ(mean_of(values(random::bernoulli(random::key(11), 0.0, {100}))), 0);
  EXPECT_EQ(mean_of(values(random::bernoulli(random::key(11), 1.0, {100}))), 1);

  std::vector<double> count(5, 0);
  for (double x : values(random::randint(random::key(12), {N}, -2, 3))) ++count.at(static_cast<size_t>(x + 2));
  for (double c : count) EXPECT_NEAR(c / N, 0.2, sigmas * std::sqrt(0.2 * 0.8 / N));
  for (double x : values(random::randint(random::key(12), {100}, INT64_MAX - 1, INT64_MAX, DType::I64)))
    EXPECT_EQ(x, 0x1p63);

  const double        p[]    = {0.5, 0.2, 0.3, 0};
  const Tensor        logits = Array::of<float>({std::log(0.5f), std::log(0.2f), std::log(0.3f), -INFINITY}, {4});
  std::vector<double> seen(4, 0);
  for (double x : values(random::categorical(random::key(13), broadcast_to(logits, {N, 4}))))
    ++seen.at(static_cast<size_t>(x));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(seen[i] / N, p[i], sigmas * std::sqrt(p[i] * (1 - p[i]) / N) + 1e-12);
}

TEST(Random, PermutationIsOneAndEveryOrderIsLikely) {
  auto v = values(random::permutation(random::key(14), 100));
  EXPECT_FALSE(std::is_sorted(v.begin(), v.end()));
  std::sort(v.begin(), v.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(v[i], i);
  std::map<std::vector<double>, int> count;
  const Tensors                      keys = random::split(random::key(15), 3000);
  for (const Tensor& k : keys) ++count[values(random::permutation(k, 3))];
  ASSERT_EQ(count.size(), 6u);
  for (const auto& [order, n] : count) EXPECT_NEAR(n, 500, sigmas * std::sqrt(500.0 * 5 / 6));
  const Tensor     x = reshape(arange(12), {4, 3});
  std::set<double> rows;
  const auto       mixed = values(random::permutation(random::key(16), x));
  for (int i = 0; i < 4; ++i) {
    rows.insert(mixed[3 * i]);
    EXPECT_EQ(mixed[3 * i + 2], mixed[3 * i] + 2);  // rows stay whole
  }
  EXPECT_EQ(rows, (std::set<double>{0, 3, 6, 9}));
}

TEST(Random, SplitAndFoldedKeysAreIndependent) {
  const Tensor  key         = random::key(17);
  const Tensors parts       = random::split(key, 2);
  const Tensors folds       = {random::fold_in(key, 0.0), random::fold_in(key, 1.0)};
  auto          correlation = [](const Tensor& a, const Tensor& b) {
    const auto x = values(random::normal(a, {N}, DType::F64)), y = values(random::normal(b, {N}, DType::F64));
    double     s = 0;
    for (int64_t i = 0; i < N; ++i) s += x[i] * y[i];
    return s / N;
  };
  const double bound = sigmas / std::sqrt(static_cast<double>(N));
  for (const auto& [a, b] :
       {std::pair{parts[0], parts[1]}, {parts[0], key}, {folds[0], folds[1]}, {folds[0], parts[0]}})
    EXPECT_LT(std::abs(correlation(a, b)), bound);
  EXPECT_GT(correlation(key, key), 0.9);  // control
  std::set<std::vector<double>> distinct;
  for (const Tensor& k : random::split(key, 1000)) distinct.insert(values(k));
  EXPECT_EQ(distinct.size(), 1000u);
}

TEST(Random, AnElementDependsOnKeyAndPositionOnly) {
  const Tensor k   = random::key(18);
  const auto   few = values(random::normal(k, {5})), many = values(random::normal(k, {7, 9}));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  const auto single = values(random::uniform(k, {9})), twice = values(random::uniform(k, {9}, 0.0, 1.0, DType::F64));
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(single[i], twice[i], 0x1p-24);
}

TEST(Random, ParametersHaveDerivatives) {
  const Tensor k = random::key(19);
  const auto   f = [&](const Tensors& t) { return Tensors{random::uniform(k, {4}, t[0], t[1], DType::F64)}; };
  const Types  scalar(2, {DType::F64, {}});
  const Tensor lo = Array::scalar(DType::F64, -1), hi = Array::scalar(DType::F64, 3),
               one = Array::scalar(DType::F64, 1);
  const Traced p   = trace(scalar, f);
  Tensors      in  = p.constants, tangents(p.constants.size());
  in.insert(in.end(), {lo, hi});
  tangents.insert(tangents.end(), {Tensor(), one});
  const auto u = values(random::uniform(k, {4}, 0.0, 1.0, DType::F64));
  const auto d = values(jvp(p.program, in, tangents).tangents[0]);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(d[i], u[i], 1e-15);
}

TEST(Random, BadInputIsExplained) {
  const Tensor k = random::key(1);
  auto says      = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([] { random::normal(ones({2}), {3}); }), "random::key"));
  EXPECT_TRUE(says(error_of([&] { random::normal(k, {3}, DType::I32); }), "floating-point"));
  EXPECT_TRUE(says(error_of([&] { random::normal(k, {-3}); }), "negative"));
  EXPECT_TRUE(says(error_of([&] { random::split(k, -1); }), "negative"));
  EXPECT_TRUE(says(error_of([&] { random::fold_in(k, ones({2})); }), "integer"));
  EXPECT_TRUE(says(error_of([&] { random::truncated_normal(k, {1}, 2, 2); }), "below"));
  EXPECT_TRUE(says(error_of([&] { random::randint(k, {1}, 3, 3); }), "lo < hi"));
  EXPECT_TRUE(says(error_of([&] { random::randint(k, {1}, INT64_MIN, INT64_MAX); }), "2^32"));
  EXPECT_TRUE(says(error_of([&] { random::gamma(k, -1, {1}); }), "positive"));
  EXPECT_TRUE(says(error_of([&] { random::bernoulli(k, ones({3}), {2}); }), "random::bernoulli"));
  EXPECT_TRUE(says(error_of([&] { random::categorical(k, ones({3}, DType::I32)); }), "floating-point"));
  EXPECT_TRUE(says(error_of([&] { random::permutation(k, Tensor(1.0)); }), "at least one axis"));
}

}  // namespace
}  // namespace braintrace
