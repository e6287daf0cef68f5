// SPDX-License-Identifier: Apache-2.0
// Diagonals of Jacobians through sums over rows, compared with the whole Jacobian.
#include "braintrace/compiler/meetings.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/lists.h"
#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/jacobian.h"

namespace braintrace {

namespace {

using Map = std::function<Tensor(const Tensor&)>;

Tensor drawn(const Shape& shape, Rng& rng) {
  std::vector<double> v(static_cast<size_t>(size_of(shape)));
  for (double& x : v) x = rng.normal();
  return Tensor(from_doubles({DType::F64, shape}, v));
}
Tensor normalized(const Tensor& y, const Ints& axes) {
  const Tensor centered = y - mean(y, axes, true);
  return centered * rsqrt(mean(square(centered), axes, true) + 1e-3);
}
Tensor flat(const Tensor& y) { return reshape(y, {y.shape()[0], y.size() / y.shape()[0]}); }

// Whether positions meet as find_meetings understands it, and, if so, how far its diagonal is from that of the whole
// Jacobian, relative to the latter.
struct Outcome {
  bool   is_found;
  double error = 0;
};
Outcome outcome(const Shape& shape, const Map& f, Rng& rng) {
  const Tensor  y      = drawn(shape, rng);
  const Traced  traced = trace({y.type()}, [&](const Tensors& in) { return Tensors{f(in[0])}; });
  const Tensors in     = joined(traced.constants, Tensors{y});
  const Shape   to     = traced.program.type(traced.program.results[0]).shape;
  const auto    found  = find_meetings(traced.program, 0, shape, to);
  if (!found) return {false};
  const Tensor  got   = diagonal_through(*found, in, in.size() - 1, Tensor(y.type(), 1), shape, to).at(0);
  const int64_t P     = size_of(shape);
  const Array   J     = reshape(jacfwd(traced.program, in, in.size() - 1).of[0], {P, P}).array();
  double        error = 0, largest = 1e-300;
  for (int64_t p = 0; p < P; ++p) {
    const double want = at(J, p * P + p), have = got.defined() ? at(got.array(), p) : 0;
    error   = std::max(error, std::abs(want - have));
    largest = std::max(largest, std::abs(want));
  }
  return {true, error / largest};
}

void expect_diagonal(const Shape& shape, const Map& f) {
  Rng           rng(7);
  const Outcome o = outcome(shape, f, rng);
  EXPECT_TRUE(o.is_found);
  EXPECT_LT(o.error, 1e-13);
}
void expect_none(const Shape& shape, const Map& f) {
  Rng rng(7);
  EXPECT_FALSE(outcome(shape, f, rng).is_found);
}

}  // namespace

TEST(Meetings, Normalization) {
  expect_diagonal({2, 5}, [](const Tensor& y) { return tanh(normalized(y, {-1})); });
  expect_diagonal({2, 3, 4}, [](const Tensor& y) { return tanh(flat(normalized(y, {-1}))); });
  expect_diagonal({2, 3, 4}, [](const Tensor& y) { return normalized(flat(tanh(y)), {-1}); });
  expect_diagonal({2, 3, 4}, [](const Tensor& y) { return normalized(y, {1}); });
  expect_diagonal({2, 3, 4}, [](const Tensor& y) { return normalized(y, {0, 1}); });  // statistics of the batch
  expect_diagonal({2, 3, 4}, [](const Tensor& y) {                                    // groups of channels
    return reshape(normalized(reshape(y, {2, 3, 2, 2}), {1, 3}), {2, 3, 4});
  });
  expect_diagonal({2, 3, 4}, [](const Tensor& y) {  // the same by the means of channels
    const Tensor groups = mean(reshape(mean(square(y), {1}, true), {2, 1, 2, 2}), {3}, true);
    return y * rsqrt(reshape(broadcast_to(groups, {2, 1, 2, 2}), {2, 1, 4}));
  });
  expect_diagonal({2, 5}, [](const Tensor& y) { return normalized(normalized(y, {-1}) * y, {-1}); });
}

TEST(Meetings, OtherReductions) {
  expect_diagonal({2, 5}, [](const Tensor& y) { return softmax(y, -1); });
  expect_diagonal({2, 5}, [](const Tensor& y) { return y * max(y, Ints{-1}, true); });
  expect_diagonal({2, 5}, [](const Tensor& y) { return sin(y); });  // nobody meets
  expect_diagonal({2, 1}, [](const Tensor& y) { return normalized(y, {-1}); });
}

TEST(Meetings, OthersAreLeftAlone) {
  Rng          rng(3);
  const Tensor w = drawn({5, 5}, rng);
  expect_none({2, 5}, [&](const Tensor& y) { return dot(y, w); });
  expect_none({2, 5}, [](const Tensor& y) { return cumsum(y, 1); });
  expect_none({2, 5}, [](const Tensor& y) { return roll(y, 1, 1); });
  expect_none({4, 4}, [](const Tensor& y) { return y + transpose(y, {1, 0}); });
  // A row reads the mean of another, and a column that of a row.
  expect_none({2, 5}, [](const Tensor& y) { return y * roll(mean(y, {1}, true), 1, 0); });
  expect_none({4, 4}, [](const Tensor& y) { return y * expand_dims(mean(y, {1}), 0); });
}

// Random chains of sums over the same axes, all of which are found; and among them sums over others and what moves
// positions, of which whatever is found is right.
TEST(Meetings, RandomPrograms) {
  Rng        rng(20);
  const int  programs = 120;
  const Ints over[]   = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};
  int        found    = 0;
  const auto choice   = [&](int n) { return std::min(static_cast<int>(rng.uniform() * n), n - 1); };
  for (int n = 0; n < programs; ++n) {
    const bool  any  = n % 2 == 1;
    const Ints& axes = over[choice(7)];
    const Map   f    = [&](const Tensor& y) {
      Tensor v = y, other = y;
      for (int step = 0; step < 5; ++step) {
        const Tensor past = v;
        switch (choice(any ? 10 : 5)) {
          case 0:
            v = v * mean(other, axes, true);
            break;
          case 1:
            v = v - sum(square(v), axes, true);
            break;
          case 2:
            v = tanh(v) + other;
            break;
          case 3:
            v = v * other;
            break;
          case 4:
            v = v / (1 + square(mean(v, axes, true)));
            break;
          case 5:
            v = v + mean(v, over[choice(7)], true);
            break;
          case 6:
            v = roll(v, 1, choice(3));
            break;
          case 7:
            v = reshape(transpose(v, {0, 2, 1}), v.shape());
            break;
          default:
            v = sin(v);
            break;
        }
        other = past;
      }
      return v;
    };
    const Outcome o = outcome({2, 2 + choice(2), 3}, f, rng);
    EXPECT_LT(o.error, 1e-11) << "program " << n;
    if (!any) EXPECT_TRUE(o.is_found) << "program " << n;
    found += any && o.is_found;
  }
  EXPECT_GT(found, 5);
  EXPECT_LT(found, programs / 2);
}

}  // namespace braintrace
