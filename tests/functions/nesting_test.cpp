// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Nesting, GradOfGrad) {
  auto f = [](const Tensor& x) { return x * x * x * x; };
  EXPECT_DOUBLE_EQ(grad(f)(tensor({2.0}, {})).item(), 32);
  EXPECT_DOUBLE_EQ(grad(grad(f))(tensor({2.0}, {})).item(), 48);
  EXPECT_DOUBLE_EQ(grad(grad(grad(f)))(tensor({2.0}, {})).item(), 48);
  EXPECT_DOUBLE_EQ(grad([&](const Tensor& x) { return x * grad(f)(x); })(tensor({2.0}, {})).item(), 128);
}

// The inner derivative must not mistake the outer variable for its own.
TEST(Nesting, NoPerturbationConfusion) {
  auto outer = [](const Tensor& x) { return x * grad([&](const Tensor& y) { return x + y; })(x); };
  EXPECT_DOUBLE_EQ(grad(outer)(tensor({5.0}, {})).item(), 1);
  auto product = [](const Tensor& x) {
    return jvp([&](const Tensor& y) { return x * y; }, x, Tensor(x.type(), 1)).second;
  };
  EXPECT_DOUBLE_EQ(jvp(product, tensor({3.0}, {}), tensor({1.0}, {})).second.item(), 1);
}

TEST(Nesting, VmapOfGradEqualsALoop) {
  auto         loss = [](const Tensor& w, const Tensor& x) { return sum(tanh(dot(x, w))); };
  const Tensor w = wave({2, 3}), xs = wave({4, 2});
  const Tensor per_sample = vmap(grad(loss), {.in_axes = {{}, 0}})(w, xs);
  ASSERT_EQ(per_sample.shape(), (Shape{4, 2, 3}));
  auto whole = [&](const Tensor& v) { return sum(vmap(loss, {.in_axes = {{}, 0}})(v, xs)); };
  expect_close(sum(per_sample, Ints{0}), grad(whole)(w));
  auto jitted = jit(vmap(grad(loss), {.in_axes = {{}, 0}}));
  expect_close(jitted(w, xs), per_sample);
  expect_close(jitted(w, xs), per_sample);
  EXPECT_EQ(jitted.num_traces(), 1);
  EXPECT_GT(max_difference(row_of(per_sample, 0), row_of(per_sample, 1)), 1e-3);
}

TEST(Nesting, JvpOfGradIsAHessianProduct) {
  auto         f = [](const Tensor& x) { return sum(tanh(x) * x * x); };
  const Tensor x = wave({3}), v = wave({3}, 0.3);
  expect_close(jvp(grad(f), x, v).second, dot(hessian(f)(x), v));
  expect_close(grad([&](const Tensor& t) { return sum(grad(f)(t) * v); })(x), dot(hessian(f)(x), v));
}

TEST(Nesting, JvpAndGradOfScan) {
  auto loop = [](const Tensor& w) {
    auto step = [&](const Tensor& h, const Tensor& x) {
      const Tensor next = tanh(h * w + x);
      return std::pair(next, next * next);
    };
    const auto [h, ys] = scan(step, tensor({0.1}, {}), wave({5}));
    return h + sum(ys);
  };
  auto unrolled = [](const Tensor& w) {
    Tensor h = tensor({0.1}, {}), total = tensor({0.0}, {});
    for (int64_t t = 0; t < 5; ++t) {
      h     = tanh(h * w + squeeze(slice_axis(wave({5}), 0, t, t + 1), {0}));
      total = total + h * h;
    }
    return h + total;
  };
  const Tensor w = tensor({0.7}, {}), one = tensor({1.0}, {});
  expect_close(loop(w), unrolled(w));
  expect_close(jvp(loop, w, one).second, jvp(unrolled, w, one).second);
  expect_close(grad(loop)(w), grad(unrolled)(w));
  expect_close(grad(grad(loop))(w), grad(grad(unrolled))(w));
  expect_close(jit(grad(loop))(w), grad(unrolled)(w));
  const Tensor ws = tensor({0.7, -0.2});
  expect_close(squeeze(slice_axis(vmap(grad(loop))(ws), 0, 1, 2), {0}), grad(unrolled)(tensor({-0.2}, {})));
  EXPECT_GT(std::abs(grad(loop)(w).item()), 1e-3);
}

TEST(Nesting, VmapOfVmap) {
  auto         outer = [](const Tensor& a, const Tensor& b) { return a * b; };
  const Tensor x = wave({2}), y = wave({3});
  const Tensor table = vmap(vmap(outer, {.in_axes = {{}, 0}}), {.in_axes = {0, {}}})(x, y);
  expect_close(table, reshape(x, {2, 1}) * reshape(y, {1, 3}));
}

}  // namespace
}  // namespace braintrace
