// SPDX-License-Identifier: Apache-2.0
// One step of each neuron against its equation in plain numbers.
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/refractory.h"
#include "braintrace/nn/synapse.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

using namespace units::literals;

const double leak = std::exp(-1.0 / 5);

LIFOptions options(Reset reset = Reset::Soft) { return {.reset = reset, .dt = 1_ms}; }

TEST(Neurons, LIFDecaysIntegratesAndResets) {
  LIF lif(3, options());
  lif.V.set(f64({0.5, 1.2, 2.5}));
  const Tensor z = lif(f64({0.1, 0.2, 0.3}));
  // soft reset takes V_th - V_reset from those that had reached the threshold
  EXPECT_LT(distance(lif.V.value(), {0.1 + leak * (0.5 - 0.1), 0.2 + leak * (0.2 - 0.2), 0.3 + leak * (1.5 - 0.3)}),
            1e-15);
  EXPECT_EQ(distance(z, {0, 0, 1}), 0);

  LIF hard(1, options(Reset::Hard));
  hard.V.set(f64({2.5}));
  hard(f64({0}));
  EXPECT_LT(distance(hard.V.value(), {0}), 1e-15);
}

// However far the potential overshot; v - (v - V_reset) would lose V_reset among the digits of v.
TEST(Neurons, AHardResetIsExact) {
  const Tensor v = convert(f64({1e3, 1e30, -2}), DType::F32), z = convert(f64({1, 1, 0}), DType::F32);
  EXPECT_EQ(distance(after_reset(v, z, 1, -68, Reset::Hard), {-68, -68, -2}), 0);
}

TEST(Neurons, DeltasAreAddedAfterTheStepAndConsumed) {
  LIF lif(1, options());
  lif.V.set(f64({0.5}));
  lif.add_delta(f64({0.25}));
  lif(Tensor());
  EXPECT_LT(distance(lif.V.value(), {leak * 0.5 + 0.25}), 1e-15);
  lif(Tensor());
  EXPECT_LT(distance(lif.V.value(), {leak * (leak * 0.5 + 0.25)}), 1e-15);
}

TEST(Neurons, ConductancesAreStepsOfExponentialEuler) {
  LIF lif(1, options());
  lif.V.set(f64({0.5}));
  coba(3_mV)(lif, f64({0.4}));
  lif(Tensor());
  // dv/dt = (-v + g (E-v))/τ has the exact solution with rate (1+g)/τ and target g E/(1+g)
  const double rate = 1.4 / 5, target = 0.4 * 3 / 1.4;
  EXPECT_LT(distance(lif.V.value(), {target + std::exp(-rate) * (0.5 - target)}), 1e-14);
}

TEST(Neurons, ALIFRaisesItsThreshold) {
  ALIF alif(2, {.tau_a = 20_ms, .beta = 0.3}, options());
  alif.V.set(f64({1.2, 1.2}));
  alif.a.set(f64({0, 1}));
  EXPECT_EQ(distance(alif.spikes(), {1, 0}), 0);
  alif(f64({0, 0}));
  EXPECT_LT(distance(alif.V.value(), {leak * 0.2, leak * 1.2}), 1e-15);
  EXPECT_LT(distance(alif.a.value(), {std::exp(-0.05), std::exp(-0.05)}), 1e-15);
}

TEST(Neurons, RefractoryOnesHoldTheirValue) {
  LIFRef lif(1, 2_ms, options());
  lif.V.set(f64({0.9}));
  lif.since.set(f64({1e7}));
  EXPECT_EQ(distance(lif(f64({5})), {1}), 0);  // fires
  const double fired = at(lif.V.value().array(), 0);
  lif(f64({5}));
  EXPECT_LT(distance(lif.V.value(), {fired - 1}), 1e-15);  // 1 ms later: reset, input ignored
  lif(f64({5}));
  EXPECT_GT(std::abs(at(lif.V.value().array(), 0) - (fired - 1)), 0.1);  // 2 ms later: integrates again
}

TEST(Neurons, RefractoryOnesHoldEveryState) {
  ALIFRef alif(2, 3_ms, {.tau_a = 20_ms}, options());
  init_all_states(alif);
  alif.V.set(f64({1.5, 0.5}));  // the first fires in this step, the second does not
  alif.a.set(f64({0.5, 0.5}));
  alif.since.set(f64({0, 1e7}));
  alif(f64({4, 4}));
  EXPECT_LT(distance(alif.V.value(), {0.5, 4 + leak * (0.5 - 4)}), 1e-15);  // post-reset value, and integrated
  EXPECT_LT(distance(alif.a.value(), {1.5, 0.5 * std::exp(-0.05)}), 1e-15);
  EXPECT_LT(distance(alif.since.value(), {1, 0}), 1e-9);  // the second fires now
  EXPECT_NE(error_of([] { LIFRef(2, -1.0); }).find("tau_ref"), std::string::npos);
}

// The currents of a spike act before they decay, and a resting neuron keeps all that the spike left.
TEST(Neurons, RefractoryGif) {
  GifOptions o{.A1 = 3, .A2 = -0.6, .decay_first = false};
  o.membrane.dt = 1_ms;
  GifRef gif(2, 2_ms, o);
  init_all_states(gif);
  gif.V.set(f64({-45, -45}));  // both fire
  gif.I1.set(f64({1, 1}));
  gif.I2.set(f64({2, 2}));
  gif.V_th.set(f64({-50, -50}));
  gif.since.set(f64({0, 1e7}));  // the first one rests
  gif(f64({0.1, 0.1}));
  const double v = -45 - 20, target = -70 + 20 * (3 + 1.4 + 0.1);
  EXPECT_LT(distance(gif.V.value(), {v, target + std::exp(-1.0 / 20) * (v - target)}), 1e-12);
  EXPECT_LT(distance(gif.I1.value(), {3, 3 * std::exp(-0.2)}), 1e-14);
  EXPECT_LT(distance(gif.I2.value(), {1.4, 1.4 * std::exp(-0.02)}), 1e-14);
  EXPECT_LT(distance(gif.since.value(), {1, 1e7 + 1}), 1e-9);
}

TEST(Neurons, HeterogeneousAndTrainableSettings) {
  LIF lif(2, {.tau = f64({5, 10}), .dt = 1.0});
  lif.V.set(f64({0.5, 0.5}));
  lif(f64({0, 0}));
  EXPECT_LT(distance(lif.V.value(), {0.5 * leak, 0.5 * std::exp(-0.1)}), 1e-15);

  LIF learning(2, {.tau = ParamState(f64({5, 10})), .dt = 1.0});
  EXPECT_EQ(learning.params().size(), 1u);
  learning.V.set(f64({0.5, 0.5}));
  learning(f64({0, 0}));
  EXPECT_LT(distance(learning.V.value(), {0.5 * leak, 0.5 * std::exp(-0.1)}), 1e-15);
}

// A trainable time constant is a parameter wherever it stands, and its value is used.
TEST(Neurons, EverySettingMayBeTrainable) {
  const auto tau    = [] { return ParamState(f64({4})); };
  const auto params = [](const Module& m) { return m.params().size(); };
  EXPECT_EQ(params(LIF(1, {.tau = tau(), .V_th = tau(), .R = tau()})), 3u);
  EXPECT_EQ(params(ALIF(1, {.tau_a = tau(), .beta = tau()})), 2u);
  EXPECT_EQ(params(GIF(1, {.tau = tau(), .tau_I2 = tau(), .V_th = tau()})), 3u);
  EXPECT_EQ(params(LIFRef(1, tau())), 1u);
  EXPECT_EQ(params(AdExIF(1, {.tau_w = tau()})), 1u);
  EXPECT_EQ(params(Expon(1, tau())), 1u);
  EXPECT_EQ(params(Alpha(1, tau())), 1u);
  EXPECT_EQ(params(DualExpon(1, {.tau_decay = tau(), .normalize = false})), 1u);
  EXPECT_EQ(params(STP(1, {.tau_f = tau(), .tau_d = tau()})), 2u);
  EXPECT_EQ(params(STD(1, {.tau = tau()})), 1u);

  Alpha alpha(1, tau(), 1_ms);
  alpha.g.set(f64({0.5}));
  alpha.h.set(f64({1}));
  EXPECT_LT(distance(alpha(f64({0})), {1 + std::exp(-0.25) * (0.5 - 1)}), 1e-15);
}

TEST(Neurons, WrittenFromEquations) {
  struct QIF : Neuron {
    HiddenState V;
    explicit QIF(int64_t n) : V(state("V", hidden_state({n}))) {}
    Tensor spikes() const override { return spike(V.value() - 1); }
    void   reset() override { V.set(after_reset(V.value(), spikes(), 1, -1, Reset::Hard)); }
    void   integrate() override {
      V.set(with_delta(exp_euler([&](const Tensor& v) { return v * v + current(v); }, V.value(), 0.1)));
    }
  };
  QIF qif(1);
  qif.V.set(f64({0.5}));
  qif(f64({0.2}));
  const double J = 1.0, f = 0.45;
  EXPECT_LT(distance(qif.V.value(), {0.5 + 0.1 * std::expm1(0.1 * J) / (0.1 * J) * f}), 1e-15);
}

// A class that writes the whole step itself still gets its inputs, and they are consumed.
TEST(Neurons, MayWriteTheirOwnUpdate) {
  struct Leaky : Neuron {
    HiddenState V = state("V", hidden_state({1}));
    Tensor      update(const Tensor& x) override {
      return stepped([&] {
        V.set(with_delta(0.5 * V.value() + current(V.value()) + x));
        return spikes();
      });
    }
    Tensor spikes() const override { return spike(V.value() - 1); }
    void   reset() override {}
    void   integrate() override {}
  } leaky;
  leaky.V.set(f64({1}));
  int runs = 0;
  leaky.before_update(&leaky, [&](Neuron& n) {
    ++runs;
    n.add_current(f64({2}));
  });
  leaky.add_delta(f64({10}));
  leaky(f64({0.25}));
  EXPECT_EQ(runs, 1);
  EXPECT_LT(distance(leaky.V.value(), {12.75}), 1e-15);
  leaky(f64({0}));
  EXPECT_LT(distance(leaky.V.value(), {6.375 + 2}), 1e-15);
  leaky.stepped([&] { return leaky(f64({0})); });  // a step inside of a step
  EXPECT_EQ(runs, 3);
  EXPECT_NE(error_of([&] { leaky.get_spike(f64({2})); }).find("Leaky: it computes spikes of its current state only"),
            std::string::npos);
}

TEST(Neurons, SayTheSpikesAtAPotential) {
  const auto expect = [](Neuron& n, const HiddenState& V, double v) {
    const Tensor asked = n.get_spike(f64({v})), before = V.value();
    V.set(f64({v}));
    EXPECT_EQ(at(asked.array(), 0), at(n.get_spike().array(), 0)) << n.type_name() << " " << v;
    V.set(before);
  };
  LIF        lif(1);
  ALIF       alif(1);
  GIF        gif(1);
  Izhikevich izhikevich(1);
  Gif        generalized(1);
  init_all_states(lif), init_all_states(alif), init_all_states(gif), init_all_states(izhikevich);
  init_all_states(generalized);
  alif.a.set(f64({3}));  // the threshold is 1.3
  EXPECT_EQ(at(alif.get_spike(f64({1.2})).array(), 0), 0);
  for (const double v : {-80.0, 0.5, 1.2, 1.4, 50.0}) {
    expect(lif, lif.V, v), expect(alif, alif.V, v), expect(gif, gif.V, v);
    expect(izhikevich, izhikevich.V, v), expect(generalized, generalized.V, v);
  }
}

TEST(Neurons, PlainEulerOnRequest) {
  LIFOptions o = options();
  o.method     = Integrator::Euler;
  LIF lif(1, o);
  lif.V.set(f64({0.5}));
  lif(f64({0.1}));
  EXPECT_LT(distance(lif.V.value(), {0.5 + (-0.5 + 0.1) / 5}), 1e-15);
  coba(3_mV)(lif, f64({0.4}));
  const double v = at(lif.V.value().array(), 0);
  lif(Tensor());
  EXPECT_LT(distance(lif.V.value(), {v + (-v + 0.4 * (3 - v)) / 5}), 1e-15);

  Izhikevich n(1, {.dt = 0.5, .method = Integrator::Euler});
  n.V.set(f64({-60}));
  n.u.set(f64({-13}));
  n(f64({10}));
  EXPECT_LT(distance(n.V.value(), {-60 + 0.5 * (0.04 * 3600 - 300 + 140 + 13 + 10)}), 1e-12);
  EXPECT_NE(error_of([] { integrator_named("rk4"); }).find("exp_euler"), std::string::npos);
}

TEST(Neurons, WrongSettingsAreRefused) {
  EXPECT_NE(error_of([] { LIF(3, {.tau = -1.0}); }).find("tau"), std::string::npos);
  EXPECT_NE(error_of([] { LIF(3, {.tau = f64({1, 0, 2})}); }).find("entry 1"), std::string::npos);
  EXPECT_NE(error_of([] { StepSize(0); }).find("dt"), std::string::npos);
  EXPECT_NE(error_of([] { reset_named("softly"); }), "");
}

TEST(Dynamics, ExprelNearZero) {
  const std::vector<double> z{0, 1e-12, 1e-5, 0.05, 0.0999, 0.1001, -0.3, 2};
  std::vector<double>       want;
  for (double x : z) want.push_back(x == 0 ? 1 : std::expm1(x) / x);
  EXPECT_LT(distance(exprel(f64(z)), want), 4e-15);
}

// d/dz (e^z - 1)/z = ((z - 1) e^z + 1)/z², by its series where that cancels.
TEST(Dynamics, ExprelHasADerivativeNearZero) {
  for (const double z : {0.0, 1e-9, -1e-4, 0.05, 0.0999, 0.1001, -0.7, 3.0}) {
    const Tensor slope = grad([](const Tensor& x) { return sum(exprel(x)); })(f64({z}));
    const double want =
        std::abs(z) < 1e-2 ? 0.5 + z / 3 + z * z / 8 + z * z * z / 30 : ((z - 1) * std::exp(z) + 1) / (z * z);
    EXPECT_NEAR(at(slope.array(), 0), want, 1e-11) << z;
  }
}

// ∂V'/∂V = e^{-dt/τ} (1 - s(u) ∂u/∂V (Θ - V_reset)), and one more term when Θ is V itself: held, it has none.
TEST(Neurons, TheSurrogateFlowsThroughTheReset) {
  const double v = 1.3, s = 0.3 * (1 - (v - 1));  // relu_grad(0.3, 1)
  for (const Reset kind : {Reset::Soft, Reset::Hard}) {
    const Tensor slope = grad([&](const Tensor& V) {
      LIF lif(1, options(kind));
      lif.V.set(V);
      lif(Tensor());
      return sum(lif.V.value());
    })(f64({v}));
    EXPECT_LT(distance(slope, {leak * (kind == Reset::Soft ? 1 - s : 1 - v * s)}), 1e-14);
  }
}

TEST(Units, DimensionsCancel) {
  EXPECT_DOUBLE_EQ(100_Hz * 1_ms, 0.1);
  EXPECT_DOUBLE_EQ((2_mA * 3_ohm).value, (6_mV).value);
  EXPECT_DOUBLE_EQ((1_V + 1_mV).value, 1001);
  EXPECT_DOUBLE_EQ((1_S * 1_V).value, (1_A).value);
  static_assert(!std::is_convertible_v<units::Voltage, TimeSetting>);
  static_assert(!std::is_convertible_v<units::Time, VoltageSetting>);
}

}  // namespace

}  // namespace braintrace::nn
