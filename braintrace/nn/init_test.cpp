// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/init.h"

#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "braintrace/model/random_stream.h"
#include "braintrace/nn/orthonormal.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

struct Stats {
  double mean = 0, std = 0, lo = 1e300, hi = -1e300;
};
Stats stats_of(const Initializer& init, const Shape& shape) {
  Rng        rng(7);
  const auto v = init.values(shape, rng);
  Stats      s;
  for (double x : v) {
    s.mean += x / static_cast<double>(v.size());
    s.lo = std::min(s.lo, x);
    s.hi = std::max(s.hi, x);
  }
  for (double x : v) s.std += (x - s.mean) * (x - s.mean) / static_cast<double>(v.size());
  s.std = std::sqrt(s.std);
  return s;
}
void expect_std(const Initializer& init, const Shape& shape, double want) {
  EXPECT_NEAR(stats_of(init, shape).std / want, 1, 0.03) << init.text();
}

TEST(Init, VariancesOfBothFamilies) {
  const Shape matrix{400, 250}, kernel{3, 3, 100, 120};
  expect_std(init::kaiming_normal(), matrix, std::sqrt(2.0 / 400));
  expect_std(init::kaiming_uniform(), matrix, std::sqrt(2.0 / 400));
  expect_std(init::xavier_normal(), matrix, std::sqrt(1.0 / 325));
  expect_std(init::lecun_uniform(), matrix, std::sqrt(1.0 / 400));
  expect_std(init::plain::kaiming_normal(6), matrix, std::sqrt(6.0 / 400));
  expect_std(init::plain::xavier_uniform(), matrix, std::sqrt(1.0 / 325));
  expect_std(init::kaiming_normal(), kernel, std::sqrt(2.0 / 900));                        // receptive field × in
  expect_std(init::plain::kaiming_normal(), kernel, std::sqrt(2.0 / (3 * 100 * 120)));     // shape[1] × rest
  expect_std(init::plain::kaiming_normal(), {4, 150, 200}, std::sqrt(2.0 / (150 * 200)));  // grouped weights
}

TEST(Init, TruncationIsRespected) {
  const Stats s = stats_of(init::lecun_normal(), {100, 1000});
  EXPECT_LE(s.hi, 2 * 0.1 / 0.87962566 + 1e-12);
  EXPECT_GT(stats_of(init::plain::lecun_normal(), {100, 1000}).hi, 2 * 0.1 / 0.87962566);
}

TEST(Init, BasicDistributions) {
  const Shape many{100000};
  EXPECT_NEAR(stats_of(init::uniform(2, 4), many).mean, 3, 0.01);
  EXPECT_NEAR(stats_of(init::normal(1, 2), many).std, 2, 0.03);
  EXPECT_NEAR(stats_of(init::exponential(2), many).mean, 2, 0.03);
  EXPECT_NEAR(stats_of(init::gamma(3, 2), many).mean, 6, 0.06);
  EXPECT_NEAR(stats_of(init::gamma(0.5), many).std, std::sqrt(0.5), 0.03);
  EXPECT_NEAR(stats_of(init::beta(2, 3), many).mean, 0.4, 0.01);
  EXPECT_NEAR(stats_of(init::weibull(1, 3), many).mean, 3, 0.05);
  EXPECT_NEAR(stats_of(init::log_normal(0, 0.5), many).mean, std::exp(0.125), 0.02);
}

TEST(Init, OrthogonalMatrices) {
  for (const Shape& shape : {Shape{6, 4}, Shape{4, 6}, Shape{2, 3, 4}}) {
    Rng           rng(3);
    const auto    q    = init::orthogonal().values(shape, rng);
    const int64_t cols = shape.back(), rows = size_of(shape) / cols, n = std::min(rows, cols);
    const auto    entry = [&](int64_t i, int64_t j) {  // vector i, component j
      return rows >= cols ? q[static_cast<size_t>(j * cols + i)] : q[static_cast<size_t>(i * cols + j)];
    };
    for (int64_t a = 0; a < n; ++a)
      for (int64_t b = 0; b < n; ++b) {
        double product = 0;
        for (int64_t k = 0; k < std::max(rows, cols); ++k) product += entry(a, k) * entry(b, k);
        EXPECT_NEAR(product, a == b, 1e-12);
      }
  }
}

// Large ones are products of reflections, in blocks, in the precision of the network.
TEST(Init, LargeOrthogonalMatrices) {
  for (const auto& [rows, cols, precision] :
       {std::tuple<int64_t, int64_t, DType>{290, 270, DType::F64}, {270, 290, DType::F32}}) {
    Rng        rng(3);
    const auto values = orthonormal(rows, cols, rng, precision);
    EXPECT_EQ(rng.count, 4 * (290 * 270 - 270 * 269 / 2)) << "what comes after does not repeat it";
    // Vectors of the shorter axis times each other, without the interpreter, which takes long for so many.
    const int64_t n = std::min(rows, cols), m = std::max(rows, cols);
    const int64_t between = rows >= cols ? 1 : cols, along = rows >= cols ? cols : 1;
    double        worst = 0;
    for (int64_t a = 0; a < n; ++a)
      for (int64_t b = 0; b <= a; ++b) {
        const double *x = values.data() + a * between, *y = values.data() + b * between;
        double        product = 0;
        for (int64_t k = 0; k < m; ++k) product += x[k * along] * y[k * along];
        worst = std::max(worst, std::abs(product - (a == b ? 1 : 0)));
      }
    EXPECT_LT(worst, precision == DType::F64 ? 1e-12 : 1e-6);
    // Uniform over all of them: no column leans to a side, as one would without the signs.
    double diagonal = 0, first_row = 0;
    for (int64_t i = 0; i < n; ++i) {
      diagonal += values[static_cast<size_t>(i * cols + i)];
      first_row += values[static_cast<size_t>(i)];
    }
    EXPECT_LT(std::abs(diagonal), 4) << "the trace of a uniform matrix has variance one";
    EXPECT_LT(std::abs(first_row), 4);
  }
}

TEST(Init, ArithmeticAndGivenValues) {
  Rng rng(1);
  EXPECT_EQ((Initializer(2) * 3 + 1).values({2}, rng), (std::vector<double>{7, 7}));
  EXPECT_EQ(clipped(init::constant(5), 0, 1).values({1}, rng), (std::vector<double>{1}));
  EXPECT_LT(distance(Initializer(f64({1, 2}))({3, 2}), {1, 2, 1, 2, 1, 2}), 1e-15);
  EXPECT_NE(error_of([] { Initializer(f64({1, 2}))({3}); }), "");
}

// Threads begin where they would have come in turn.
TEST(Init, DrawsInParallelWhatItDrawsInTurn) {
  constexpr int64_t many = 100000;
  Rng               rng(7), in_turn(7);
  const auto        u = init::uniform().values({many}, rng), z = init::normal().values({many}, rng);
  for (double x : u) ASSERT_EQ(x, in_turn.uniform());
  for (double x : z) ASSERT_EQ(x, in_turn.normal());
  EXPECT_EQ(rng.count, in_turn.count);
}

TEST(Init, TheSeedFixesTheValues) {
  random::seed(5);
  const Tensor a = init::normal()({4}), b = init::normal()({4});
  random::seed(5);
  const Tensor c = init::normal()({4});
  EXPECT_TRUE(identical(a.array(), c.array()));
  EXPECT_FALSE(identical(a.array(), b.array()));
}

TEST(Init, Names) {
  for (const std::string& name : init::names()) EXPECT_FALSE(init::named(name).text().empty());
  EXPECT_NE(error_of([] { init::named("xavier"); }).find("xavier_normal"), std::string::npos);
}

}  // namespace

}  // namespace braintrace::nn
