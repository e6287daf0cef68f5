// SPDX-License-Identifier: Apache-2.0
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

const Tensor xs = wave({6, 2}, 0.8);

Tensor loss_by_hand(Rnn& m) {
  Tensor total;
  for (int64_t t = 0; t < 6; ++t) {
    const Tensor y = m(row_of(xs, t));
    total          = total.defined() ? total + sum(y * y) : sum(y * y);
  }
  return total;
}
Tensor loss_by_loop(Rnn& m) {
  const Tensor ys = for_loop([&](const Tensor& x) { return m(x); }, xs);
  return sum(ys * ys);
}

TEST(ForLoop, CarriesWrittenStatesAndStacksResults) {
  Rnn          a(2, 3), b(2, 3);
  const Tensor ys = for_loop([&](const Tensor& x) { return a(x); }, xs);
  ASSERT_EQ(ys.shape(), (Shape{6, 3}));
  for (int64_t t = 0; t < 6; ++t) expect_close(row_of(ys, t), b(row_of(xs, t)));
  expect_close(a.h.value(), b.h.value());
}

TEST(ForLoop, GradientsEqualTheUnrolledOnes) {
  Rnn a(2, 3), b(2, 3);
  const auto [la, ga] = value_and_grad([&] { return loss_by_loop(a); }, a.params())();
  const auto [lb, gb] = value_and_grad([&] { return loss_by_hand(b); }, b.params())();
  expect_close(la, lb);
  expect_close(ga["W"], gb["W"]);
  expect_close(ga["R"], gb["R"]);
  expect_close(a.h.value(), b.h.value());
  EXPECT_GT(ga.squared_norm().item(), 1e-3);

  reset_all_states(a);
  auto fast           = jit(value_and_grad([&] { return loss_by_loop(a); }, a.params()));
  const auto [lj, gj] = fast();
  expect_close(gj["R"], gb["R"]);
  expect_close(a.h.value(), b.h.value());

  // Without the reset, the loop starts from other states, and the gradient differs.
  EXPECT_GT(max_difference(fast().second["R"], gb["R"]), 1e-4);
  EXPECT_EQ(fast.num_traces(), 1);
}

TEST(ForLoop, BatchedByVmap) {
  Rnn model(2, 3), lone(2, 3);
  init_all_states(model, {.batch_size = 2});
  const Tensor batch = wave({2, 6, 2});
  const Tensor ys    = vmap([&](const Tensor& x) { return for_loop([&](const Tensor& x_t) { return model(x_t); }, x); },
                         {.batched_states = model.states<HiddenState>()})(batch);
  for (int64_t i = 0; i < 2; ++i) {
    reset_all_states(lone);
    expect_close(row_of(ys, i), for_loop([&](const Tensor& x) { return lone(x); }, row_of(batch, i)));
    expect_close(row_of(model.h.value(), i), lone.h.value());
  }
}

TEST(ForLoop, StatesWrittenBeforeTheyHaveAValue) {
  ShortTermState last(State::Init([](BatchSize) { return Leaves{{"", zeros({2}, DType::F64)}}; }));
  for_loop([&](const Tensor& x) { last.set(x); }, xs);
  expect_close(last.value(), row_of(xs, 5));
}

TEST(ForLoop, TreesOfInputs) {
  const auto [a, b] =
      for_loop([](const std::pair<Tensor, Tensor>& p, const Tensor& z) { return std::pair(p.first + z, p.second); },
               std::pair(wave({3}), wave({3, 2})), wave({3}));
  expect_close(a, wave({3}) * 2.0);
  expect_close(b, wave({3, 2}));
}

TEST(ForLoop, AStateThatChangesItsTypeIsNamed) {
  Rnn         model(2, 3);
  const Array before = model.h.value().array();
  auto        grow   = [&](const Tensor& x) {
    model.h.set(reshape(model.h.value(), {3, 1}));
    return x;
  };
  EXPECT_TRUE(mentions(error_of([&] { for_loop(grow, xs); }), {"for_loop", "state 'h'", "f64[3]", "f64[3,1]"}));
  EXPECT_TRUE(mentions(error_of([&] { jit([&] { for_loop(grow, xs); })(); }), {"state 'h'"}));
  EXPECT_TRUE(identical(model.h.value().array(), before));
  EXPECT_TRUE(mentions(error_of([] { for_loop([](const Tensor& x, const Tensor&) { return x; }, xs, wave({5})); }),
                       {"for_loop", "f64[5]", "6 steps"}));
  EXPECT_TRUE(
      mentions(error_of([] { for_loop([](const Tensor& x) { return x; }, tensor({1.0}, {})); }), {"leading axis"}));
}

TEST(Scan, CarriesTreesAndStates) {
  LongTermState count(tensor({0}, {}));
  auto          f = [&](const std::map<std::string, Tensor>& c, const Tensor& x) {
    count.set(count.value() + Tensor(Type{DType::I32, {}}, 1));
    return std::pair(std::map<std::string, Tensor>{{"sum", c.at("sum") + x}, {"last", x}}, c.at("sum"));
  };
  const Tensor zero = tensor({0.0}, {});
  const auto [carry, before] =
      scan(f, std::map<std::string, Tensor>{{"sum", zero}, {"last", zero}}, tensor({1.0, 2.0, 3.0}));
  EXPECT_EQ(carry.at("sum").item(), 6);
  EXPECT_EQ(carry.at("last").item(), 3);
  expect_close(before, tensor({0.0, 1.0, 3.0}));
  EXPECT_EQ(count.value().item(), 3);
  const auto [back, ys] = scan([](const Tensor& c, const Tensor& x) { return std::pair(c * 10.0 + x, c); }, zero,
                               tensor({1.0, 2.0, 3.0}), {.reverse = true});
  EXPECT_EQ(back.item(), 321);
  EXPECT_TRUE(mentions(
      error_of([&] { scan([](const Tensor& c, const Tensor&) { return std::pair(reshape(c, {1}), c); }, zero, xs); }),
      {"scan", "f64[]", "f64[1]"}));
  EXPECT_TRUE(mentions(error_of([&] {
                         scan(
                             [](std::vector<Tensor> c, const Tensor& x) {
                               c.push_back(x);
                               return std::pair(c, x);
                             },
                             std::vector<Tensor>{zero}, xs);
                       }),
                       {"scan", "structure"}));
}

TEST(Cond, RunsOneBranchWithItsStates) {
  ShortTermState a(tensor({1.0})), b(tensor({10.0}));
  auto           choose = jit([&](const Tensor& x) {
    return cond(
                  greater(sum(x), 0.0),
                  [&](const Tensor& y) {
          a.set(a.value() + y);
          return y;
        },
                  [&](const Tensor& y) {
          b.set(b.value() + y);
          return a.value();
        },
                  x);
  });
  EXPECT_EQ(choose(tensor({2.0})).item(), 2);
  EXPECT_EQ(a.value().item(), 3);
  EXPECT_EQ(b.value().item(), 10);
  EXPECT_EQ(choose(tensor({-4.0})).item(), 3);
  EXPECT_EQ(a.value().item(), 3);
  EXPECT_EQ(b.value().item(), 6);
  EXPECT_EQ(choose.num_traces(), 1);
}

TEST(Cond, IsDifferentiated) {
  ParamState w(tensor({2.0}, {}));
  auto       f = [&](const Tensor& x) {
    return cond(
              greater(x, 0.0), [&] { return w.value() * x * x; }, [&] { return w.value(); });
  };
  const StateMap states{{Path{"w"}, w}};
  EXPECT_EQ(grad(f, states)(tensor({3.0}, {}))["w"].item(), 9);
  EXPECT_EQ(grad(f, states)(tensor({-3.0}, {}))["w"].item(), 1);
  EXPECT_EQ(grad(f)(tensor({3.0}, {})).item(), 12);
  const Tensor each = vmap(grad(f))(tensor({3.0, -3.0}));
  expect_close(each, tensor({12.0, 0.0}));
}

TEST(Cond, NumbersTakeTheTypeOfTheOtherBranch) {
  const Tensor x = tensor({2.0}, {});
  EXPECT_EQ(cond(
                greater(x, 0.0), [&] { return Tensor(1.0); }, [&] { return x; })
                .dtype(),
            DType::F64);
}

TEST(Cond, BranchesMustAgree) {
  const Tensor x = tensor({2.0}), yes = greater(sum(x), 0.0);
  EXPECT_TRUE(mentions(error_of([&] {
                         cond(
                             yes, [&] { return x; }, [&] { return sum(x); });
                       }),
                       {"cond", "f64[1]", "f64[]"}));
  ShortTermState s(x);
  auto           nothing = [] {};
  EXPECT_TRUE(mentions(error_of([&] {
                         cond(
                             yes, [&] { s.set(sum(x)); }, nothing);
                       }),
                       {"cond", "f64[]", "f64[1]"}));
  ShortTermState fresh(State::Init([](BatchSize) { return Leaves{}; }));
  EXPECT_TRUE(mentions(error_of([&] {
                         cond(
                             yes, [&] { fresh.set(x); }, nothing);
                       }),
                       {"one branch only"}));
  using List = std::vector<Tensor>;
  EXPECT_TRUE(mentions(error_of([&] {
                         cond(
                             yes, [&] { return List{x}; },
                             [&] {
                               return List{x, x};
                             });
                       }),
                       {"structure"}));
}

TEST(While, CarriesWrittenStates) {
  ShortTermState steps(tensor({0.0}, {})), limit(tensor({100.0}, {}));
  auto           f = jit([&](const Tensor& x) {
    return while_loop([&](const Tensor& v) { return less(v, limit.value()); },
                      [&](const Tensor& v) {
                        steps.set(steps.value() + 1.0);
                        return v * 2.0;
                      },
                      x);
  });
  EXPECT_EQ(f(tensor({1.0}, {})).item(), 128);
  EXPECT_EQ(steps.value().item(), 7);
  EXPECT_EQ(f(tensor({200.0}, {})).item(), 200);
  EXPECT_EQ(steps.value().item(), 7);
  // The condition reads what the body wrote.
  const Tensor n = while_loop([&](const Tensor&) { return less(steps.value(), 10.0); },
                              [&](const Tensor& v) {
                                steps.set(steps.value() + 1.0);
                                return v + 1.0;
                              },
                              tensor({0.0}, {}));
  EXPECT_EQ(n.item(), 3);
  EXPECT_TRUE(mentions(error_of([&] {
                         while_loop(
                             [&](const Tensor& v) {
                               steps.set(v);
                               return less(v, 1.0);
                             },
                             [](const Tensor& v) { return v; }, tensor({0.0}, {}));
                       }),
                       {"while_loop", "go_on"}));
}

}  // namespace
}  // namespace braintrace
