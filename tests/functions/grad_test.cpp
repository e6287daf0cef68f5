// SPDX-License-Identifier: Apache-2.0
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

Tensor cube_sum(const Tensor& x) { return sum(x * x * x); }

TEST(Grad, OfArguments) {
  const Tensor x = tensor({1.0, 2.0});
  expect_close(grad(cube_sum)(x), tensor({3.0, 12.0}));
  auto         f      = [](const Tensor& a, const Tensor& b) { return sum(a * a * b); };
  const Tensor y      = tensor({5.0, 7.0});
  const auto [da, db] = grad<0, 1>(f)(x, y);
  expect_close(da, tensor({10.0, 28.0}));
  expect_close(db, tensor({1.0, 4.0}));
  expect_close(grad<1>(f)(x, y), db);
  const auto [value, d] = value_and_grad(f)(x, y);
  EXPECT_EQ(value.item(), 33);
  expect_close(d, da);
  EXPECT_EQ(grad([](const Tensor& s) { return s * s; })(3.0).item(), 6);
}

TEST(Grad, OfTrees) {
  struct Weights {
    Tensor                        w;
    std::map<std::string, Tensor> more;
    int                           power = 2;
    auto                          fields() { return std::tie(w, more, power); }
  };
  const Weights p{tensor({3.0}), {{"b", tensor({4.0})}, {"n", tensor({2})}}};
  const Weights g = grad([](const Weights& v, const Tensor& x) {
    return sum(v.w * x + v.more.at("b") * v.more.at("b"));
  })(p, tensor({10.0}));
  EXPECT_EQ(g.w.item(), 10);
  EXPECT_EQ(g.more.at("b").item(), 8);
  EXPECT_EQ(g.more.at("n").item(), 0);
  EXPECT_EQ(g.more.at("n").dtype(), DType::I32);
  EXPECT_EQ(g.power, 2);
}

TEST(Grad, OfStatesByPath) {
  Rnn             model(2, 3);
  const Tensor    x    = wave({2});
  auto            loss = [&](const Tensor& in) { return sum(model(in) * model(in)); };
  const Gradients g    = grad(loss, model.params())(x);
  const Tensor    h    = model.h.value();
  Rnn             twin(2, 3);
  auto            by_hand = [&](const Tensor& W, const Tensor& R) {
    const Tensor a = tanh(dot(x, W));
    const Tensor b = tanh(dot(x, W) + dot(a, R));
    return sum(a * b);
  };
  const auto [dW, dR] = grad<0, 1>(by_hand)(twin.W.value(), twin.R.value());
  expect_close(g["W"], dW);
  expect_close(g["R"], dR);
  EXPECT_GT(g.squared_norm().item(), 1e-4);  // live
  twin(x);
  twin(x);
  expect_close(h, twin.h.value());  // states written inside are stored

  reset_all_states(model);
  const auto [states, dx] = grad<0>(loss, model.params())(x);
  expect_close(states["W"], dW);
  EXPECT_EQ(dx.shape(), x.shape());
  EXPECT_TRUE(mentions(error_of([&] { g["V"]; }), {"'V'", "R, W"}));
}

TEST(Grad, StatesThatAreNotReadHaveZeroGradient) {
  ParamState      w(tensor({1.0})), unused(tensor({1.0, 2.0}));
  const StateMap  states{{Path{"unused"}, unused}, {Path{"w"}, w}};
  const Gradients g = grad([&](const Tensor& x) { return sum(w.value() * x); }, states)(tensor({3.0}));
  EXPECT_EQ(g["w"].item(), 3);
  expect_close(g["unused"], tensor({0.0, 0.0}));
}

TEST(Grad, IsWithRespectToTheValueBeforeTheCall) {
  ParamState      w(tensor({2.0}));
  const Gradients g = grad(
      [&](const Tensor& x) {
        w.set(w.value() * w.value());
        return sum(w.value() * x);
      },
      StateMap{{Path{"w"}, w}})(tensor({3.0}));
  EXPECT_EQ(g["w"].item(), 12);
  EXPECT_EQ(w.value().item(), 4);
}

TEST(Grad, IsTheSameUnderEachPathOfAState) {
  ParamState      w(tensor({2.0})), v(tensor({5.0}));
  const Gradients g = grad([&](const Tensor& x) { return sum(w.value() * v.value() * x); },
                           StateMap{{Path{"a"}, w}, {Path{"b"}, w}, {Path{"c"}, v}})(tensor({3.0}));
  EXPECT_EQ(g["a"].item(), 15);
  EXPECT_EQ(g["b"].item(), 15);
  EXPECT_EQ(g["c"].item(), 6);
}

TEST(Grad, Aux) {
  ParamState w(tensor({2.0}));
  auto       f        = [&](const Tensor& x) { return std::pair(sum(w.value() * x), std::vector<Tensor>{x + x}); };
  const auto [g, aux] = grad(f, StateMap{{Path{"w"}, w}}, has_aux)(tensor({3.0}));
  EXPECT_EQ(g["w"].item(), 3);
  EXPECT_EQ(aux[0].item(), 6);
  const auto [value, dx, more] = value_and_grad(f, has_aux)(tensor({3.0}));
  EXPECT_EQ(value.item(), 6);
  EXPECT_EQ(dx.item(), 2);
  EXPECT_EQ(more[0].item(), 6);
}

TEST(Grad, UnderJit) {
  Rnn  model(2, 3), twin(2, 3);
  auto loss = [](Rnn& m) { return [&m](const Tensor& x) { return sum(m(x) * m(x)); }; };
  auto slow = value_and_grad(loss(twin), twin.params());
  auto fast = jit(value_and_grad(loss(model), model.params()));
  for (int t = 0; t < 3; ++t) {
    const Tensor x      = wave({2}, 0.3 * (t + 1));
    const auto [v, g]   = fast(x);
    const auto [v2, g2] = slow(x);
    expect_close(v, v2);
    expect_close(g["R"], g2["R"]);
    expect_close(model.h.value(), twin.h.value());
  }
  EXPECT_EQ(fast.num_traces(), 1);
}

TEST(Grad, ErrorsSayWhatToDo) {
  const Tensor x = tensor({1.0, 2.0});
  EXPECT_TRUE(
      mentions(error_of([&] { grad([](const Tensor& t) { return t; })(x); }), {"grad", "f64[2]", "sum()", "jacrev"}));
  EXPECT_TRUE(mentions(error_of([&] {
                         value_and_grad([](const Tensor&) { return Tensor(Type{DType::I32, {}}, 1); })(x);
                       }),
                       {"value_and_grad", "i32[]"}));
  EXPECT_TRUE(mentions(error_of([&] { grad(cube_sum)(tensor({1, 2})); }), {"grad", "i32[2]", "floating-point"}));
  HiddenState h([](BatchSize) { return Leaves{{"", zeros({1})}}; });
  EXPECT_TRUE(mentions(error_of([&] {
                         grad(cube_sum, StateMap{{Path{"h"}, h}})(x);
                       }),
                       {"no value", "init_all_states"}));
}

}  // namespace
}  // namespace braintrace
