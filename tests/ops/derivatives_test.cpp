// SPDX-License-Identifier: Apache-2.0
// Derivatives at the points random samples avoid (ties, zeros, bounds), and second derivatives of every op.
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/sort.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"
#include "tests/ops/laws.h"
#include "tests/support/values.h"

namespace braintrace {
namespace {

using namespace testing_support;

using Function = Tensor (*)(const Tensor&);

// ∂ Σ f / ∂x; zeros if there is no derivative.
Tensor gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const Traced t  = trace({x.type()}, [&](const Tensors& a) { return Tensors{sum(f(a[0]))}; });
  Tensors      in = t.constants;
  Mask         active(in.size(), false);
  in.push_back(x);
  active.push_back(true);
  const auto    back = vjp(t.program, in, active);
  const Tensors g    = back.pullback({Tensor(Type{x.dtype(), {}}, 1)});
  return g[0].defined() ? g[0] : Tensor(x.type(), 0);
}
Tensor second(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  return gradient([&](const Tensor& y) { return gradient(f, y); }, x);
}

TEST(Derivative, TiesShareEqually) {
  expect_values(gradient([](const Tensor& x) { return max(x); }, tensor({1, 3, 3, 2, 3})),
                {0, 1. / 3, 1. / 3, 0, 1. / 3});
  expect_values(gradient([](const Tensor& x) { return min(x); }, tensor({1, 1, 2})), {0.5, 0.5, 0});
  expect_values(gradient([](const Tensor& x) { return maximum(x, 1); }, tensor({0, 1, 2})), {0, 0.5, 1});
  // Elements of cummax: 1, 3, (3+3)/2, (3+3)/2, 4.
  expect_values(gradient([](const Tensor& x) { return cummax(x, 0); }, tensor({1, 3, 3, 2, 4})), {1, 2, 1, 0, 1});
}

TEST(Derivative, ProductsWithZeros) {
  auto all = [](const Tensor& x) { return prod(x); };
  expect_values(gradient(all, tensor({2, 3, 4})), {12, 8, 6});
  expect_values(gradient(all, tensor({2, 0, 4})), {0, 8, 0});
  expect_values(gradient(all, tensor({0, 0, 4})), {0, 0, 0});
  // The mixed second derivative of x y z at (0, 0, 4) is 4: visible through Σ of the gradient.
  expect_values(second(all, tensor({0, 0, 4})), {4, 4, 0});
  auto running = [](const Tensor& x) { return cumprod(x, 0); };
  // x0 + x0 x1 + x0 x1 x2 at (2, 0, 3).
  expect_values(gradient(running, tensor({2, 0, 3})), {1, 2 + 6, 0});
  expect_values(second(running, tensor({2, 0, 3})), {4, 1 + 3 + 2, 2});
}

TEST(Derivative, KinksAndBounds) {
  expect_values(gradient(relu, tensor({-1, 0, 1})), {0, 0, 1});
  expect_values(gradient(relu6, tensor({0, 3, 6})), {0, 1, 0});
  expect_values(gradient(static_cast<Function>(abs), tensor({-2, 0, 2})), {-1, 0, 1});
  expect_values(gradient([](const Tensor& x) { return elu(x); }, tensor({0, 1000})), {1, 1});
  expect_values(gradient([](const Tensor& x) { return celu(x, 0.5); }, tensor({0, 1000})), {1, 1});
  expect_values(gradient([](const Tensor& x) { return clamp(0.5, x, 2); }, tensor({0, 0.5, 1})), {0, 1, 1});
}

TEST(Derivative, PowerAtZero) {
  expect_values(gradient([](const Tensor& x) { return pow(x, 2); }, tensor({0, 3})), {0, 6});
  expect_values(gradient([](const Tensor& x) { return pow(x, 0); }, tensor({0, 3})), {0, 0});
  expect_values(gradient([](const Tensor& x) { return pow(0, x); }, tensor({2})), {0});
  expect_values(gradient([](const Tensor& x) { return integer_pow(x, 0); }, tensor({0, 3})), {0, 0});
  expect_values(second([](const Tensor& x) { return integer_pow(x, 3); }, tensor({0, 2})), {0, 12});
}

TEST(Derivative, StopGradientStops) {
  expect_values(gradient([](const Tensor& x) { return stop_gradient(x); }, tensor({2})), {0});
  expect_values(gradient([](const Tensor& x) { return x * stop_gradient(x); }, tensor({2})), {2});
  expect_values(gradient([](const Tensor& x) { return x * x; }, tensor({2})), {4});  // control
}

TEST(Derivative, StaysFiniteWhereValuesDo) {
  expect_values(gradient(softplus, tensor({-1000, 0, 1000})), {0, 0.5, 1});
  expect_values(gradient(sigmoid, tensor({-1000, 0, 1000})), {0, 0.25, 0});
  expect_values(gradient(log_sigmoid, tensor({-1000, 1000})), {1, 0});
  expect_values(gradient([](const Tensor& x) { return logsumexp(x); }, tensor({1000, 1000})), {0.5, 0.5});
}

TEST(Derivative, SortRoutesByIndex) {
  const Tensor w = tensor({1, 10, 100});
  expect_values(gradient([&](const Tensor& x) { return w * sort(x); }, tensor({3, 1, 2})), {100, 1, 10});
  expect_values(gradient([](const Tensor& x) { return top_k(x, 2).values; }, tensor({3, 1, 2})), {1, 0, 1});
}

TEST(Derivative, GammaChainGoesOn) {
  // d³/dx³ lgamma = polygamma(2)
  auto d2 = [](const Tensor& x) { return second(static_cast<Function>(lgamma), x); };
  expect_values(gradient(d2, tensor({1.5})), values(polygamma(2, tensor({1.5}))), 1e-12);
}

// The jvp of an op is a program of ops; its own jvp must also agree with finite differences.
double second_jvp_error(const laws::Case& c) {
  const Sample s  = c.draw(31);
  Tensors      in = s.in, v;
  Rng          rng(37);
  for (const Tensor& t : s.in)
    if (t.dtype() == DType::F64) in.push_back(random_array(rng, t.type()));
  const Traced push = trace(types_of(in), [&](const Tensors& args) {
    const auto    split = args.begin() + static_cast<int64_t>(s.in.size());
    const Tensors x(args.begin(), split);
    Tensors       dx;
    for (auto next = split; const Tensor& t : x) dx.push_back(t.dtype() == DType::F64 ? *next++ : Tensor());
    const Tensors y = apply(*c.op, x, s.attrs);
    Tensors       out;
    for (const Tensor& dy : jvp_equation(*c.op, s.attrs, x, dx, y))
      if (dy.defined()) out.push_back(dy);
    return out;
  });
  for (const Tensor& t : in) v.push_back(t.dtype() == DType::F64 ? Tensor(random_array(rng, t.type())) : Tensor());
  const double h         = 1e-6;
  auto         at_offset = [&](double step) {
    Tensors moved = in;
    for (size_t i = 0; i < in.size(); ++i)
      if (v[i].defined()) moved[i] = in[i] + step * v[i];
    return replay(push.program, push.constants, moved);
  };
  const Tensors none(push.constants.size());
  const auto    exact   = jvp(push.program, joined(push.constants, in), joined(none, v));
  const Tensors forward = at_offset(h), backward = at_offset(-h);
  double        error = 0;
  for (size_t k = 0; k < forward.size(); ++k) {
    if (forward[k].dtype() != DType::F64) continue;
    const Values numeric = values((forward[k] - backward[k]) / (2 * h));
    const Values found   = exact.tangents[k].defined() ? values(exact.tangents[k]) : Values(numeric.size(), 0);
    for (size_t i = 0; i < numeric.size(); ++i)
      error = std::max(error, std::abs(found[i] - numeric[i]) / std::max(1.0, std::abs(numeric[i])));
  }
  return error;
}

constexpr double difference_tolerance = 1e-6;  // central differences with h = 1e-6 in f64

class SecondDerivative : public testing::TestWithParam<const Op*> {};

TEST_P(SecondDerivative, IsDifferenceQuotient) {
  for (const auto& c : laws::cases(*GetParam())) EXPECT_LT(second_jvp_error(c), difference_tolerance) << c.index;
}
INSTANTIATE_TEST_SUITE_P(AllOps, SecondDerivative, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(SecondDerivativeControl, HeldPartialIsSeen) {
  static constinit const Op bad = elementwise(
      {.name   = "bad_cube",
       .doc    = "x³ whose partial is held constant",
       .scalar = {.real    = [](const double* x) { return x[0] * x[0] * x[0]; },
                  .partial = {[](const Tensors& x, const Tensor&) { return stop_gradient(3 * x[0] * x[0]); }}}});
  EXPECT_LT(laws::jvp_error({&bad, 0}), difference_tolerance);
  EXPECT_GT(second_jvp_error({&bad, 0}), 1e-2);
}

}  // namespace
}  // namespace braintrace
