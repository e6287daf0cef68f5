// SPDX-License-Identifier: Apache-2.0
// One step of each synapse, projection and readout against its equation in plain numbers.
#include "braintrace/nn/synapse.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/nn/linear.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/readout.h"
#include "braintrace/ops/math.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

using namespace units::literals;

const double leak = std::exp(-1.0 / 5);

LIFOptions options() { return {.dt = 1_ms}; }

TEST(Synapses, OneStepEach) {
  const double d = std::exp(-1.0 / 8);
  Expon        expon(1, 8_ms, 1_ms);
  expon.g.set(f64({0.5}));
  EXPECT_LT(distance(expon(f64({0.2})), {0.5 * d + 0.2}), 1e-15);

  Alpha alpha(1, 8_ms, 1_ms);
  alpha.g.set(f64({0.5}));
  alpha.h.set(f64({1}));
  EXPECT_LT(distance(alpha(f64({0.2})), {1 + d * (0.5 - 1)}), 1e-15);
  EXPECT_LT(distance(alpha.h.value(), {d + 0.2}), 1e-15);

  DualExpon dual(1, {.A = 2, .normalize = false, .dt = 1_ms});
  dual.g_rise.set(f64({0.1}));
  dual.g_decay.set(f64({0.5}));
  const double rise = 0.1 * std::exp(-1.0), fall = 0.5 * std::exp(-0.1);
  EXPECT_LT(distance(dual(f64({0.2})), {2 * (fall - rise)}), 1e-15);
  EXPECT_NE(error_of([] { DualExpon(1, {.tau_decay = 2.0, .tau_rise = 2.0}); }), "");

  STD std_(1, {.dt = 1_ms});
  std_.x.set(f64({0.5}));
  const double back = 1 + std::exp(-1.0 / 200) * (0.5 - 1);
  EXPECT_LT(distance(std_(f64({1})), {back}), 1e-15);
  EXPECT_LT(distance(std_.x.value(), {back - 0.07 * 0.5}), 1e-15);

  STP stp(1, {.dt = 1_ms});
  stp.u.set(f64({0.2}));
  stp.x.set(f64({0.5}));
  const double u = std::exp(-1.0 / 1500) * 0.2 + 0.15 * 0.8, x = 1 + std::exp(-1.0 / 200) * (0.5 - 1);
  EXPECT_LT(distance(stp(f64({1})), {u * x}), 1e-15);
  EXPECT_LT(distance(stp.x.value(), {x - u * 0.5}), 1e-15);
}

TEST(Projections, ASharedSynapseIsSteppedOnceAndSums) {
  auto       neuron = std::make_shared<LIF>(1, options());
  auto       syn    = std::make_shared<Expon>(1, 8_ms, 1_ms);
  const auto unit   = [] {
    return std::make_shared<Linear>(1, 1, LinearOptions{.w_init = f64({1}, {1, 1}), .b_init = no_bias});
  };
  AlignPostProj a(unit(), syn, cuba(), neuron), b(unit(), syn, cuba(), neuron);
  neuron->V.set(f64({0}));
  syn->g.set(f64({1}));
  a(f64({0.25}));
  b(f64({0.5}));
  (*neuron)(Tensor());
  EXPECT_LT(distance(syn->g.value(), {std::exp(-1.0 / 8) + 0.75}), 1e-15);
  EXPECT_LT(distance(neuron->V.value(), {(1 - leak) * (std::exp(-1.0 / 8) + 0.75)}), 1e-15);
}

std::shared_ptr<Linear> unit_weight() {
  return std::make_shared<Linear>(1, 1, LinearOptions{.w_init = f64({1}, {1, 1}), .b_init = no_bias});
}

TEST(Projections, CurrentsActInTheStepTheyComeIn) {
  auto        neuron = std::make_shared<LIF>(1, options());
  CurrentProj proj(unit_weight(), cuba(2), neuron);
  neuron->V.set(f64({0.5}));
  EXPECT_LT(distance(proj(f64({0.3})), {0.3}), 1e-15);
  (*neuron)(Tensor());
  EXPECT_LT(distance(neuron->V.value(), {0.6 + leak * (0.5 - 0.6)}), 1e-15);
  (*neuron)(Tensor());  // consumed
  EXPECT_LT(distance(neuron->V.value(), {leak * (0.6 + leak * (0.5 - 0.6))}), 1e-15);
  EXPECT_EQ(proj.params().size(), 1u);
}

TEST(Projections, SynapsesMayStandBeforeTheWeights) {
  auto         neuron = std::make_shared<LIF>(1, options());
  auto         syn    = std::make_shared<Expon>(2, 8_ms, 1_ms);
  AlignPreProj proj(syn,
                    std::make_shared<Linear>(2, 1, LinearOptions{.w_init = f64({3, 5}, {2, 1}), .b_init = no_bias}),
                    coba(2_mV), neuron);
  neuron->V.set(f64({0.5}));
  syn->g.set(f64({0.1, 0}));
  const double g = 3 * (0.1 * std::exp(-1.0 / 8) + 0.2);
  EXPECT_LT(distance(proj(f64({0.2, 0})), {g}), 1e-15);
  (*neuron)(Tensor());
  const double rate = (1 + g) / 5, target = g * 2 / (1 + g);
  EXPECT_LT(distance(neuron->V.value(), {target + std::exp(-rate) * (0.5 - target)}), 1e-14);
}

TEST(Projections, DeltasJumpAfterTheStep) {
  auto      neuron = std::make_shared<LIF>(1, options());
  DeltaProj proj(unit_weight(), neuron);
  neuron->V.set(f64({0.5}));
  proj(f64({0.3}));
  (*neuron)(Tensor());
  EXPECT_LT(distance(neuron->V.value(), {leak * 0.5 + 0.3}), 1e-15);
}

// I = g (E - v)/(1 + [Mg]/β e^{α (V_off - v)}), one exponential-Euler step.
TEST(Projections, MagnesiumBlocksAtRest) {
  const auto step = [](double v) {
    const double g = 0.4, E = 3, b = 1.2 / 3.57 * std::exp(0.062 * (1 - v)), open = 1 / (1 + b);
    const double I = g * (E - v) * open, slope = -g * open + g * (E - v) * 0.062 * b * open * open;
    const double f = (-v + I) / 5, J = (-1 + slope) / 5;
    return v + std::expm1(J) / J * f;
  };
  for (const double v : {-60.0, 0.5}) {
    LIF lif(1, options());
    lif.V.set(f64({v}));
    mg_block({.E = 3, .V_offset = 1})(lif, f64({0.4}));
    lif(Tensor());
    EXPECT_LT(distance(lif.V.value(), {step(v)}), 1e-12) << v;
  }
  EXPECT_NE(error_of([] { mg_block({.beta = 0}); }).find("beta"), std::string::npos);
}

TEST(Readouts, LeakySpikesAreThoseOfALifPopulation) {
  LeakySpikeReadout out(2, 1, options(), f64({1, 2}, {2, 1}));
  out.neuron.V.set(f64({0.5}));
  EXPECT_LT(distance(out(f64({0.1, 0.4})), {1}), 1e-15);  // e^{-dt/τ} 0.5 + 0.9 passes the threshold
  EXPECT_LT(distance(out.neuron.V.value(), {leak * 0.5 + 0.9}), 1e-15);
  EXPECT_LT(distance(out(f64({0, 0})), {0}), 1e-15);
  EXPECT_LT(distance(out.neuron.V.value(), {leak * (leak * 0.5 + 0.9 - 1)}), 1e-15);
}

TEST(Readouts, LeakyRate) {
  LeakyRateReadout out(2, 1, {.tau = 5_ms, .w_init = f64({1, 2}, {2, 1}), .dt = 1_ms});
  out.r.set(f64({0.5}));
  EXPECT_LT(distance(out(f64({1, 1})), {leak * 0.5 + 3}), 1e-15);
}

}  // namespace

}  // namespace braintrace::nn
