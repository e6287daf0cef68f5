// SPDX-License-Identifier: Apache-2.0
// One step of each nonlinear neuron against its equation in plain numbers.
#include "braintrace/nn/nonlinear.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/nn/integrators.h"
#include "braintrace/nn/readout.h"
#include "braintrace/nn/refractory.h"
#include "braintrace/ops/math.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

LIFOptions with_dt(LIFOptions o) {
  o.dt = 0.5;
  return o;
}
// v + dt exprel(dt J) f
double ee(double v, double f, double J, double dt) { return v + dt * (J == 0 ? 1 : std::expm1(dt * J) / (dt * J)) * f; }

TEST(Nonlinear, ExponentialWithAndWithoutAdaptation) {
  const double v = -60, e = 3.48 * std::exp((v + 59.9) / 3.48), f = (-(v + 65) + e + 2) / 10, J = (-1 + e / 3.48) / 10;
  ExpIF        exp_if(1, {}, with_dt(cortical()));
  exp_if.V.set(f64({v}));
  exp_if(f64({2}));
  EXPECT_LT(distance(exp_if.V.value(), {ee(v, f, J, 0.5)}), 1e-12);

  AdExIF ad(1, {}, {}, with_dt(cortical()));
  ad.V.set(f64({v}));
  ad.w.set(f64({0.7}));
  ad(f64({2}));
  const double next = ee(v, f - 0.07, J, 0.5), target = next + 65;
  EXPECT_LT(distance(ad.V.value(), {next}), 1e-12);
  EXPECT_LT(distance(ad.w.value(), {target + std::exp(-0.5 / 30) * (0.7 - target)}), 1e-12);
}

template <class Neuron>
void expect_own_name(const std::string& name) {
  const std::string error = error_of([] { Neuron neuron(0); });
  EXPECT_TRUE(error.starts_with(name + ": size must be positive")) << name << ": " << error;
}
template <class Neuron, class... Options>
void expect_own_name_with(const std::string& name, Options... before) {
  const std::string error = error_of([&] { Neuron neuron(2, before..., LIFOptions{.tau = -1.0}); });
  EXPECT_EQ(error, name + ": tau must be positive, got -1.");
}
TEST(Nonlinear, NeuronsNameThemselves) {
  expect_own_name<LIF>("LIF");
  expect_own_name<IF>("IF");
  expect_own_name<ALIF>("ALIF");
  expect_own_name<ExpIF>("ExpIF");
  expect_own_name<QuaIF>("QuaIF");
  expect_own_name<AdExIF>("AdExIF");
  expect_own_name<AdQuaIF>("AdQuaIF");
  expect_own_name<CubaLIF>("CubaLIF");
  expect_own_name<CobaLIF>("CobaLIF");
  expect_own_name<ALIFRef>("ALIFRef");
  expect_own_name_with<LIF>("LIF");
  expect_own_name_with<IF>("IF");
  expect_own_name_with<ALIF>("ALIF", ALIFOptions{});
  expect_own_name_with<ExpIF>("ExpIF", ExpIFOptions{});
  expect_own_name_with<QuaIF>("QuaIF", QuaIFOptions{});
  expect_own_name_with<AdExIF>("AdExIF", AdaptationOptions{}, ExpIFOptions{});
  expect_own_name_with<AdQuaIF>("AdQuaIF", AdaptationOptions{}, QuaIFOptions{});
  expect_own_name_with<CubaLIF>("CubaLIF", TimeSetting(5.0));
  expect_own_name_with<CobaLIF>("CobaLIF", TimeSetting(5.0), 0.0);
  expect_own_name_with<FilteredLIF>("FilteredLIF", SynapseFilter{});
  expect_own_name_with<LIFRef>("LIFRef", TimeSetting(5.0));
  expect_own_name_with<ALIFRef>("ALIFRef", TimeSetting(5.0), ALIFOptions{});
  EXPECT_TRUE(error_of([] { ALIFRef neuron(2, -1.0); }).starts_with("ALIFRef: tau_ref"));
  EXPECT_TRUE(error_of([] { CobaLIF neuron(2, -1.0); }).starts_with("CobaLIF: tau_syn"));
}

TEST(Nonlinear, Quadratic) {
  const double v = -55, f = (0.07 * (v + 65) * (v + 50) + 2) / 10, J = 0.07 * (2 * v + 115) / 10;
  QuaIF        qua(1, {}, with_dt(cortical()));
  qua.V.set(f64({v}));
  qua(f64({2}));
  EXPECT_LT(distance(qua.V.value(), {ee(v, f, J, 0.5)}), 1e-12);
}

TEST(Nonlinear, IzhikevichStepsAndResets) {
  Izhikevich n(2, {.dt = 0.5});
  n.V.set(f64({-60, 35}));
  n.u.set(f64({-13, -13}));
  n(f64({10, 10}));
  const double f1 = 0.04 * 3600 - 300 + 140 + 13 + 10, v1 = ee(-60, f1, 0.08 * -60 + 5, 0.5);
  const double f2 = 0.04 * 4225 - 325 + 140 + 5 + 10, v2 = ee(-65, f2, 0.08 * -65 + 5, 0.5);
  EXPECT_LT(distance(n.V.value(), {v1, v2}), 1e-10);
  const double d = std::exp(-0.5 * 0.02);
  EXPECT_LT(distance(n.u.value(), {0.2 * v1 + d * (-13 - 0.2 * v1), 0.2 * v2 + d * (-5 - 0.2 * v2)}), 1e-10);
}

TEST(Nonlinear, GifJumpsAtASpike) {
  GifOptions o;
  o.A1          = 3;
  o.A2          = -0.6;
  o.membrane.dt = 0.5;
  Gif n(1, o);
  n.V.set(f64({-45}));
  n.I1.set(f64({1}));
  n.I2.set(f64({2}));
  n.V_th.set(f64({-50}));
  n(f64({0.1}));
  const double I1 = 3 * std::exp(-0.1), I2 = 1.4 * std::exp(-0.01);
  EXPECT_LT(distance(n.I1.value(), {I1}), 1e-13);
  EXPECT_LT(distance(n.I2.value(), {I2}), 1e-13);
  EXPECT_LT(distance(n.V_th.value(), {-50}), 1e-13);
  const double v = -45 - 20, target = -70 + 20 * (I1 + I2 + 0.1);  // soft reset by V_th - V_reset = 20
  EXPECT_LT(distance(n.V.value(), {target + std::exp(-0.5 / 20) * (v - target)}), 1e-12);
}

TEST(Nonlinear, NeuronsWithTheirOwnSynapse) {
  LIFOptions o;
  o.dt = 1.0;
  CubaLIF cuba_lif(1, 4.0, o);
  cuba_lif.V.set(f64({0.5}));
  cuba_lif.g.set(f64({1}));
  cuba_lif.add_delta(f64({0.2}));
  cuba_lif(f64({0.1}));
  const double g = std::exp(-0.25) + 0.2, leak = std::exp(-0.2);
  EXPECT_LT(distance(cuba_lif.g.value(), {g}), 1e-15);
  EXPECT_LT(distance(cuba_lif.V.value(), {g + 0.1 + leak * (0.5 - g - 0.1)}), 1e-14);

  CobaLIF coba_lif(1, 4.0, 3, o);
  coba_lif.V.set(f64({0.5}));
  coba_lif.g.set(f64({1}));
  coba_lif(f64({0.1}));
  const double h = std::exp(-0.25), target = (3 * h + 0.1) / (1 + h);
  EXPECT_LT(distance(coba_lif.V.value(), {target + std::exp(-(1 + h) / 5) * (0.5 - target)}), 1e-14);
}

TEST(Readouts, CountsFirstSpikesAndDelays) {
  SpikeCountReadout count(2);
  init_all_states(count);
  count(f64({1, 0}));
  EXPECT_LT(distance(count(f64({1, 1})), {2, 1}), 1e-15);

  FirstSpikeReadout first(2, 1e7, 0.5);
  init_all_states(first);
  first(f64({0, 0}));
  EXPECT_LT(distance(first(f64({1, 0})), {0.5, 1e7}), 1e-12);
  EXPECT_LT(distance(first(f64({1, 1})), {0.5, 1}), 1e-12);

  Delay delay(1, 2);
  init_all_states(delay);
  EXPECT_LT(distance(delay(f64({1})), {0}), 1e-15);
  EXPECT_LT(distance(delay(f64({2})), {0}), 1e-15);
  EXPECT_LT(distance(delay(f64({3})), {1}), 1e-15);
}

}  // namespace

}  // namespace braintrace::nn
