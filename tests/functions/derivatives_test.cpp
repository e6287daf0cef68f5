// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

Tensor mix(const Tensor& x) { return tanh(dot(wave({3, 3}), x)) * x; }

TEST(Derivatives, JvpAndVjpAreAdjoint) {
  const Tensor x = wave({3}), dx = wave({3}, 0.7), ct = tensor({1.0, -2.0, 0.5});
  const auto [y, dy]        = jvp(mix, x, dx);
  const auto [y2, pullback] = vjp(mix, x);
  expect_close(y, mix(x));
  expect_close(y2, y);
  EXPECT_NEAR(sum(ct * dy).item(), sum(pullback(ct) * dx).item(), 1e-12);
  EXPECT_GT(std::abs(sum(ct * dy).item()), 1e-3);  // live
  const double e  = 1e-6;
  const Tensor fd = (mix(x + dx * e) - mix(x - dx * e)) / (2 * e);
  expect_close(dy, fd, 1e-8);
}

TEST(Derivatives, SeveralArgumentsAsTuples) {
  auto         f = [](const Tensor& a, const Tensor& b) { return std::pair(a * b, a + b); };
  const Tensor a = tensor({2.0}), b = tensor({3.0}), one = tensor({1.0}), zero = tensor({0.0});
  const auto [y, dy] = jvp(f, std::tuple(a, b), std::tuple(one, zero));
  EXPECT_EQ(y.first.item(), 6);
  EXPECT_EQ(dy.first.item(), 3);
  EXPECT_EQ(dy.second.item(), 1);
  const auto [out, pullback] = vjp(f, a, b);
  const auto [da, db]        = pullback(std::pair(one, one));
  EXPECT_EQ(da.item(), 4);
  EXPECT_EQ(db.item(), 3);
}

TEST(Derivatives, JacobiansAgreeWithEachOtherAndWithDifferences) {
  const Tensor x = wave({3});
  const Tensor J = jacrev(mix)(x);
  ASSERT_EQ(J.shape(), (Shape{3, 3}));
  expect_close(J, jacfwd(mix)(x));
  expect_close(dot(J, wave({3}, 0.7)), jvp(mix, x, wave({3}, 0.7)).second);
  EXPECT_GT(max_difference(J, transpose(J)), 1e-2);  // the orientation is tested too
}

TEST(Derivatives, JacobianShapesAreResultThenArgument) {
  auto         f = [](const Tensor& x) { return reshape(sum(x * x, Ints{1}), {2, 1}); };
  const Tensor x = wave({2, 3});
  const Tensor J = jacfwd(f)(x);
  ASSERT_EQ(J.shape(), (Shape{2, 1, 2, 3}));
  expect_close(J, jacrev(f)(x));
  EXPECT_EQ(at(J.array(), 0), 2 * at(x.array(), 0));
  EXPECT_EQ(at(J.array(), 3), 0);
}

TEST(Derivatives, JacobiansOfTrees) {
  struct P {
    Tensor a, b;
    auto   fields() { return std::tie(a, b); }
  };
  const P p{wave({2}), wave({3})};
  auto    one = [](const P& q) { return q.a * sum(q.b); };
  const P J   = jacrev(one)(p);
  EXPECT_EQ(J.a.shape(), (Shape{2, 2}));
  EXPECT_EQ(J.b.shape(), (Shape{2, 3}));
  const P K = jacfwd(one)(p);
  expect_close(J.a, K.a);
  expect_close(J.b, K.b);
  auto two = [](const Tensor& x) { return P{x * x, sum(x)}; };
  EXPECT_EQ(jacfwd(two)(wave({2})).b.shape(), (Shape{2}));
  expect_close(jacrev(two)(wave({2})).a, jacfwd(two)(wave({2})).a);
  auto       both   = [](const P& q) { return P{q.b, q.a}; };
  const auto blocks = jacrev(both)(p);
  expect_close(blocks[0][0], zeros({3, 2}, DType::F64));
  EXPECT_EQ(blocks[1][0].shape(), (Shape{2, 2}));
  EXPECT_EQ(at(blocks[1][0].array(), 3), 1);
  expect_close(jacrev<1>([](const Tensor& a, const Tensor& b) { return a * b; })(wave({2}), wave({2}) * 2.0),
               jacfwd<1>([](const Tensor& a, const Tensor& b) { return a * b; })(wave({2}), wave({2}) * 2.0));
}

TEST(Derivatives, Hessian) {
  auto         f = [](const Tensor& x) { return sum(x * x * x) + sum(x) * sum(x); };
  const Tensor H = hessian(f)(tensor({1.0, 2.0}));
  expect_close(H, tensor({8.0, 2.0, 2.0, 14.0}, {2, 2}));
}

TEST(Derivatives, StatesAreReadAndStored) {
  Rnn          model(2, 3);
  auto         f     = [&](const Tensor& x) { return model(x); };
  const Tensor x     = wave({2});
  const auto [y, dy] = jvp(f, x, wave({2}, 0.1));
  expect_close(y, model.h.value());
  reset_all_states(model);
  const Tensor J = jacfwd(f)(x);
  expect_close(dot(J, wave({2}, 0.1)), dy);
  expect_close(model.h.value(), y);
  reset_all_states(model);
  const auto [y3, pullback] = vjp(f, x);
  expect_close(model.h.value(), y);
  expect_close(pullback(wave({3})), dot(wave({3}), J));
}

TEST(Derivatives, Errors) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_TRUE(mentions(error_of([&] { jvp(mix, x, tensor({1.0})); }), {"jvp", "f64[1]", "f64[2]"}));
  auto f = [](const Tensor& t) { return t; };
  EXPECT_TRUE(mentions(error_of([&] { vjp(f, x).second(tensor({1.0f, 2.0f})); }), {"vjp", "f32[2]", "f64[2]"}));
  EXPECT_TRUE(mentions(error_of([&] { jacrev(f)(tensor({1, 2})); }), {"jacrev", "i32[2]"}));
  auto g = [](const std::vector<Tensor>& v) { return v[0]; };
  EXPECT_TRUE(mentions(error_of([&] { jvp(g, std::vector<Tensor>{x}, std::vector<Tensor>{x, x}); }), {"structure"}));
}

}  // namespace
}  // namespace braintrace
