// SPDX-License-Identifier: Apache-2.0
// Optimizers and schedules against their formulas, computed here step by step in plain numbers.
#include "braintrace/nn/optim.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

using namespace optim;

const std::vector<double> slopes{0.5, -1.2, 0.3, 2.0, -0.7};

// θ after feeding `slopes` one by one to an optimizer of a single weight that starts at 1.
double trained(Optimizer& opt) {
  ParamState w(f64({1}));
  opt.register_trainable_weights({{Path{"w"}, w}});
  for (double g : slopes) opt.update(Gradients({{Path{"w"}, {{"", f64({g})}}}}));
  EXPECT_EQ(opt.step_count(), static_cast<int64_t>(slopes.size()));
  return at(w.value().array(), 0);
}

template <class Step>
double by_hand(Step step) {
  double theta = 1;
  int    t     = 0;
  for (double g : slopes) theta = step(theta, g, ++t);
  return theta;
}

TEST(Optimizers, SGDAndMomentum) {
  SGD plain(0.1);
  EXPECT_NEAR(trained(plain), by_hand([](double w, double g, int) { return w - 0.1 * g; }), 1e-15);
  double   m = 0;
  Momentum momentum(0.1, 0.9);
  EXPECT_NEAR(trained(momentum), by_hand([&](double w, double g, int) { return w - 0.1 * (m = g + 0.9 * m); }), 1e-15);
  m = 0;
  MomentumNesterov nesterov(0.1, 0.9);
  EXPECT_NEAR(trained(nesterov), by_hand([&](double w, double g, int) {
                m = g + 0.9 * m;
                return w - 0.1 * (g + 0.9 * m);
              }),
              1e-15);
}

// A device that learns at 1 kHz has counted to 2³¹ after 25 days.
TEST(Optimizers, CountBeyond32Bits) {
  Adam       opt(0.1);
  ParamState w(f64({1}));
  opt.register_trainable_weights({{Path{"w"}, w}});
  opt.update(Gradients({{Path{"w"}, {{"", f64({0.5})}}}}));
  opt.states().front().second.set(Tensor(Array::of<int64_t>({(int64_t{1} << 31) - 1}, {})));
  const double before = at(w.value().array(), 0);
  opt.update(Gradients({{Path{"w"}, {{"", f64({0.5})}}}}));
  EXPECT_EQ(opt.step_count(), int64_t{1} << 31);
  // Without correction of the start:  m = 0.095, v = 0.0004997…
  const double m = 0.9 * 0.05 + 0.05, v = 0.999 * 0.00025 + 0.00025;
  EXPECT_NEAR(at(w.value().array(), 0), before - 0.1 * m / (std::sqrt(v) + 1e-8), 1e-14);
}

TEST(Optimizers, AdamInSixteenBits) {
  for (DType dtype : {DType::F16, DType::BF16}) {
    Adam       opt(0.5, {.eps = 1e-3});
    ParamState w(Tensor(Type{dtype, {1}}, 1));
    opt.register_trainable_weights({{Path{"w"}, w}});
    opt.update(Gradients({{Path{"w"}, {{"", Tensor(Type{dtype, {1}}, 1)}}}}));
    EXPECT_EQ(w.value().dtype(), dtype);
    EXPECT_NEAR(at(w.value().array(), 0), 0.5, 0.01);  // the first step is lr · sign(g)
  }
}

TEST(Optimizers, AdamItsVariantsAndDecay) {
  for (const bool amsgrad : {false, true})
    for (const double decay : {0.0, 0.1})
      for (const bool decoupled : {false, true}) {
        double            m = 0, v = 0, top = 0;
        const auto        want = by_hand([&](double w, double g, int t) {
          if (!decoupled) g += decay * w;
          m               = 0.9 * m + 0.1 * g;
          v               = 0.999 * v + 0.001 * g * g;
          double       vh = v / (1 - std::pow(0.999, t));
          const double mh = m / (1 - std::pow(0.9, t));
          if (amsgrad) vh = top = std::max(top, vh);
          return w - 0.01 * (mh / (std::sqrt(vh) + 1e-8) + (decoupled ? decay * w : 0));
        });
        const AdamOptions o{.amsgrad = amsgrad, .common = {.weight_decay = decay}};
        Adam              coupled(0.01, o);
        AdamW             apart(0.01, o);
        EXPECT_NEAR(decoupled ? trained(apart) : trained(coupled), want, 1e-14) << amsgrad << decay << decoupled;
      }
}

TEST(Optimizers, AdaptiveMethods) {
  double  v = 0;
  RMSProp rms(0.01);
  EXPECT_NEAR(trained(rms), by_hand([&](double w, double g, int) {
                v = 0.9 * v + 0.1 * g * g;
                return w - 0.01 * g / (std::sqrt(v) + 1e-8);
              }),
              1e-14);
  v = 0;
  Adagrad ada(0.01);
  EXPECT_NEAR(trained(ada), by_hand([&](double w, double g, int) {
                v += g * g;
                return w - 0.01 * g / (std::sqrt(v) + 1e-10);
              }),
              1e-14);
  v          = 0;
  double   u = 0;
  Adadelta delta;
  EXPECT_NEAR(trained(delta), by_hand([&](double w, double g, int) {
                v              = 0.9 * v + 0.1 * g * g;
                const double d = std::sqrt(u + 1e-6) / std::sqrt(v + 1e-6) * g;
                u              = 0.9 * u + 0.1 * d * d;
                return w - d;
              }),
              1e-14);
  double m = 0;
  Lion   lion(0.01, {.common = {.weight_decay = 0.1}});
  EXPECT_NEAR(trained(lion), by_hand([&](double w, double g, int) {
                const double c = 0.9 * m + 0.1 * g;
                m              = 0.99 * m + 0.01 * g;
                return w - 0.01 * ((c > 0) - (c < 0) + 0.1 * w);
              }),
              1e-14);
}

TEST(Optimizers, ClippingComesInOrder) {
  const Gradients g({{Path{"a"}, {{"", f64({3, 0})}}}, {Path{"b"}, {{"", f64({4})}}}});
  const Gradients clipped = clip_grad_norm(g, 1);
  EXPECT_LT(distance(clipped["a"], {3 / (5 + 1e-6), 0}), 1e-15);
  EXPECT_LT(distance(clip_grad_norm(g, 10)["b"], {4}), 1e-15);
  EXPECT_LT(distance(clip_grad_value(g, 2)["b"], {2}), 1e-15);

  ParamState w(f64({1}));
  SGD        opt(1.0, {.common = {.clip_norm = 2, .clip_value = 1, .weight_decay = 0.5}});
  opt.register_trainable_weights({{Path{"w"}, w}});
  opt.update(Gradients({{Path{"w"}, {{"", f64({5})}}}, {Path{"other"}, {{"", f64({1})}}}}));
  EXPECT_LT(distance(w.value(), {1 - (1 + 0.5)}), 1e-15);  // 5 → 2 → 1 → 1 + 0.5
}

TEST(Optimizers, GroupsHaveTheirOwnRateAndDecay) {
  ParamState a(f64({1})), b(f64({1})), c(f64({1}));
  SGD        opt(0.1, {.common = {.weight_decay = 0.5}});
  opt.register_trainable_weights({{Path{"net", "a"}, a}, {Path{"net", "b"}, b}, {Path{"network"}, c}});
  opt.group({"net"}, {.lr_factor = 2});
  opt.group({"net", "b"}, {.lr_factor = 0, .weight_decay = 0});
  const Leaves one{{"", f64({1})}};
  opt.update(Gradients({{Path{"net", "a"}, one}, {Path{"net", "b"}, one}, {Path{"network"}, one}}));
  EXPECT_LT(distance(a.value(), {1 - 0.2 * 1.5}), 1e-15);
  EXPECT_LT(distance(b.value(), {1}), 1e-15);
  EXPECT_LT(distance(c.value(), {1 - 0.1 * 1.5}), 1e-15);  // another name, not another group

  SGD other(0.1);
  other.register_trainable_weights({{Path{"a"}, a}});
  other.group({"a"}, {.weight_decay = 1});
  other.update(Gradients({{Path{"a"}, {{"", f64({0})}}}}));
  EXPECT_LT(distance(a.value(), {0.7 * 0.9}), 1e-15);
  EXPECT_NE(error_of([&] { other.group({"b"}, {}); }).find("'b'"), std::string::npos);
  EXPECT_NE(error_of([&] { other.group({"a"}, {.lr_factor = -1}); }).find("'a'"), std::string::npos);
}

// θ̄ is the mean of all weights at first, and moves by 1/N of the way later.
TEST(Optimizers, AverageTheWeights) {
  SGD        opt(0.1, {.common = {.average = 3}});
  ParamState w(f64({1}));
  opt.register_trainable_weights({{Path{"w"}, w}});
  w.set(f64({4}));  // weights that are loaded later count too
  const auto averaged = [&] {
    const Averaged scope(opt);
    return at(w.value().array(), 0);
  };
  EXPECT_EQ(averaged(), 4);
  double     theta = 4, mean = 0, t = 0;
  const auto step = jit([&](Tensor g) {
    opt.update(Gradients({{Path{"w"}, {{"", g}}}}));
    return g;
  });
  for (double g : slopes) {
    step(f64({g}));
    theta -= 0.1 * g;
    mean += (theta - mean) / std::min(++t, 3.0);
    EXPECT_NEAR(averaged(), mean, 1e-15);
    EXPECT_EQ(at(w.value().array(), 0), theta);  // as without averages
  }
  EXPECT_NE(mean, theta);
  EXPECT_EQ(opt.states().back().first.str(), "w.average");
  {
    Averaged        scope(opt);
    const Gradients g({{Path{"w"}, {{"", f64({1})}}}});
    EXPECT_NE(error_of([&] { opt.update(g); }).find("averages"), std::string::npos);
    scope.end();
    EXPECT_EQ(at(w.value().array(), 0), theta);
    step(f64({1}));
  }
  EXPECT_NEAR(at(w.value().array(), 0), theta - 0.1, 1e-15);

  SGD plain(0.1);
  EXPECT_NEAR(trained(plain), theta - 3, 1e-15);
  const Averaged nothing(plain);
  EXPECT_EQ(plain.states().size(), 1u);
}

// A thousandth of a weight of eight bits of mantissa is lost where the average has as few.
TEST(Optimizers, AveragesOfSixteenBitsAreWider) {
  SGD        opt(1.0, {.common = {.average = 1000}});
  ParamState w(Tensor(Type{DType::BF16, {1}}, 0));
  opt.register_trainable_weights({{Path{"w"}, w}});
  for (int i = 0; i < 3000; ++i) {
    const Tensor g(Type{DType::BF16, {1}}, i == 1000 ? -1 : 0);
    opt.update(Gradients({{Path{"w"}, {{"", g}}}}));
  }
  const Averaged scope(opt);
  EXPECT_EQ(w.value().dtype(), DType::BF16);
  EXPECT_NEAR(at(w.value().array(), 0), 1 - std::exp(-2), 0.01);
}

TEST(Optimizers, Misuse) {
  SGD opt(0.1);
  EXPECT_NE(error_of([&] { opt.update(Gradients()); }).find("register"), std::string::npos);
  opt.register_trainable_weights({{Path{"w"}, ParamState(f64({1}))}});
  EXPECT_NE(error_of([&] { opt.update(Gradients()); }).find("'w'"), std::string::npos);
  EXPECT_NE(error_of([] { SGD bad(-1.0); }), "");
  EXPECT_NE(error_of([] { SGD bad(0.1, {.common = {.weight_decay = -1}}); }), "");
  EXPECT_NE(error_of([] { SGD bad(0.1, {.common = {.clip_norm = 0}}); }), "");
  EXPECT_NE(error_of([] { SGD bad(0.1, {.common = {.average = -1}}); }).find("average"), std::string::npos);
  EXPECT_NE(error_of([] { Adam bad(0.1, {.eps = -1}); }).find("eps"), std::string::npos);
  EXPECT_NE(error_of([] { RMSProp bad(0.1, {.eps = std::nan("")}); }).find("eps"), std::string::npos);
}

TEST(Optimizers, AccumulatorGivesTheMean) {
  Accumulator acc(2);
  EXPECT_FALSE(acc.add(Gradients({{Path{"w"}, {{"", f64({1})}}}})));
  const auto mean = acc.add(Gradients({{Path{"w"}, {{"", f64({4})}}}}));
  ASSERT_TRUE(mean);
  EXPECT_LT(distance((*mean)["w"], {2.5}), 1e-15);
}

TEST(Schedules, ClosedForms) {
  EXPECT_DOUBLE_EQ(step_lr(1, 3, 0.5).at(7), 0.25);
  EXPECT_DOUBLE_EQ(multi_step_lr(1, {2, 5}, 0.1).at(5), 0.01);
  EXPECT_DOUBLE_EQ(exponential_lr(2, 0.5).at(3), 0.25);
  EXPECT_DOUBLE_EQ(exponential_decay_lr(1, 2, 0.25).at(3), 0.125);
  EXPECT_DOUBLE_EQ(exponential_decay_lr(1, 2, 0.25, {.staircase = true}).at(3), 0.25);
  EXPECT_DOUBLE_EQ(exponential_decay_lr(1, 1, 0.5, {.begin = 2, .end_value = 0.3}).at(9), 0.3);
  EXPECT_NEAR(cosine_annealing_lr(1, 4, 0.2).at(2), 0.6, 1e-15);
  EXPECT_NEAR(cosine_annealing_lr(1, 4, 0.2).at(9), 0.2, 1e-15);
  EXPECT_DOUBLE_EQ(polynomial_lr(1, 4, 2).at(1), 0.5625);
  EXPECT_DOUBLE_EQ(linear_lr(1, 0.5, 1, 4).at(2), 0.75);
  EXPECT_DOUBLE_EQ(warmup_lr(4, 2.0).at(1), 0.5);
  EXPECT_NEAR(warmup_cosine_lr(1, 2, 6).at(4), 0.5, 1e-15);
  EXPECT_NEAR(cosine_warm_restarts_lr(1, 2, 2).at(4), 0.5, 1e-15);
  EXPECT_DOUBLE_EQ(cyclic_lr(0, 1, 4).at(6), 0.5);
  EXPECT_DOUBLE_EQ(piecewise_constant_lr({2, 4}, {1, 2, 3}).at(3), 2);
  EXPECT_DOUBLE_EQ(sequential_lr({1.0, exponential_lr(1, 0.5)}, {3}).at(5), 0.25);
  EXPECT_NEAR(one_cycle_lr(1, 10).at(3), 1, 1e-15);
}

TEST(Schedules, MoveOnlyOnStep) {
  SGD opt(exponential_lr(1, 0.5));
  opt.register_trainable_weights({{Path{"w"}, ParamState(f64({1}))}});
  for (int i = 0; i < 3; ++i) opt.update(Gradients({{Path{"w"}, {{"", f64({0})}}}}));
  EXPECT_DOUBLE_EQ(opt.current_lr(), 1);
  opt.step_epoch();
  EXPECT_DOUBLE_EQ(opt.current_lr(), 0.5);
}

// θ after four updates with the gradient 0.3, the schedule moved before each.
template <class Update>
double moved_along(Optimizer& opt, const std::function<void()>& move, Update&& wrap) {
  ParamState w(f64({1}));
  opt.register_trainable_weights({{Path{"w"}, w}});
  const auto update = wrap([&](const Tensor& g) { opt.update(Gradients({{Path{"w"}, {{"", g}}}})); });
  for (int i = 0; i < 4; ++i) {
    move();
    update(f64({0.3}));
  }
  return w.value()[0].item();
}

template <class O>
void expect_jit_follows(const std::function<Schedule()>& make) {
  const auto plain = [](auto f) { return f; };
  const auto fast  = [](auto f) { return jit(f); };
  O          eager(make()), jitted(make()), by_optimizer(make()), still(make());
  const auto want = moved_along(
      eager, [&] { eager.lr().step(); }, plain);
  EXPECT_EQ(moved_along(
                jitted, [&] { jitted.lr().step(); }, fast),
            want)
      << jitted.lr().text();
  EXPECT_EQ(moved_along(
                by_optimizer, [&] { by_optimizer.step_epoch(); }, fast),
            want);
  EXPECT_NE(moved_along(
                still, [] {}, fast),
            want);
  EXPECT_DOUBLE_EQ(jitted.current_lr(), make().at(4));
}

TEST(Schedules, JittedUpdatesFollowEverySchedule) {
  for (const std::function<Schedule()>& make : std::vector<std::function<Schedule()>>{
           [] { return step_lr(1, 2, 0.5); },
           [] {
             return multi_step_lr(1, {2, 3});
           },
           [] { return exponential_lr(1, 0.5); }, [] { return exponential_decay_lr(1, 2, 0.25); },
           [] { return cosine_annealing_lr(1, 9); }, [] { return polynomial_lr(1, 9); },
           [] { return linear_lr(1, 0.5, 1, 9); }, [] { return warmup_lr(9, 2.0); },
           [] { return warmup_cosine_lr(1, 2, 9); }, [] { return cosine_warm_restarts_lr(1, 9); },
           [] { return one_cycle_lr(1, 9); }, [] { return cyclic_lr(0.1, 1, 4); },
           [] {
             return piecewise_constant_lr({2}, {1, 2});
           },
           [] {
             return sequential_lr({1.0, exponential_lr(1, 0.5)}, {2});
           }})
    expect_jit_follows<SGD>(make);
}

TEST(Schedules, JittedUpdatesOfEveryOptimizerFollow) {
  const auto make = [] { return exponential_lr(0.5, 0.5); };
  expect_jit_follows<SGD>(make);
  expect_jit_follows<Momentum>(make);
  expect_jit_follows<MomentumNesterov>(make);
  expect_jit_follows<Adam>(make);
  expect_jit_follows<AdamW>(make);
  expect_jit_follows<RMSProp>(make);
  expect_jit_follows<Adagrad>(make);
  expect_jit_follows<Adadelta>(make);
  expect_jit_follows<Lion>(make);
}

TEST(Schedules, CopiesMoveTogetherAlsoUnderJit) {
  Schedule mine = exponential_lr(1, 0.5);
  SGD      opt(mine);
  EXPECT_NEAR(moved_along(
                  opt, [&] { mine.step(); }, [](auto f) { return jit(f); }),
              1 - 0.3 * (0.5 + 0.25 + 0.125 + 0.0625), 1e-15);
  ReduceOnPlateau plateau(1, {.factor = 0.5, .patience = 0});
  SGD             watching(plateau);
  EXPECT_NEAR(moved_along(
                  watching, [&] { plateau.step(2); }, [](auto f) { return jit(f); }),
              1 - 0.3 * (1 + 0.5 + 0.25 + 0.125), 1e-15);
  EXPECT_EQ(watching.current_lr(), 0.125);
}

TEST(Schedules, DoNotMoveInsideATrace) {
  SGD opt(exponential_lr(1, 0.5));
  EXPECT_NE(error_of([&] { jit([&] { opt.lr().step(); })(); }).find("outside"), std::string::npos);
  EXPECT_EQ(opt.lr().epoch(), 0);
}

TEST(Schedules, PlateauLowersTheRate) {
  ReduceOnPlateau::Options o;
  o.patience = 1;
  o.factor   = 0.5;
  ReduceOnPlateau lr(1, o);
  for (double v : {3.0, 2.0, 2.0, 2.0}) lr.step(v);
  EXPECT_DOUBLE_EQ(lr(), 0.5);
}

}  // namespace

}  // namespace braintrace
