// SPDX-License-Identifier: Apache-2.0
// Populations of neurons under inputs far beyond the usual: every state stays a finite number, and so does every
// derivative.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"
#include "tests/support/near.h"

namespace braintrace {

namespace {

struct Variant {
  std::string name, description;
  int64_t     steps;
};

const std::vector<double> currents{0, 10, -10, 100, -100, 1e4, -1e4};

// Every neuron of the vocabulary with its defaults, and with each reset and integrator that it knows.
std::vector<Variant> variants() {
  std::vector<Variant> out;
  for (const zoo::LayerType& t : zoo::neuron_layers()) {
    const auto knows = [&](const char* field) { return t.fields.find(field) != std::string::npos; };
    if (!knows("surrogate") || knows("n_in")) continue;  // synapses, readouts
    const auto add = [&](const std::string& name, const std::string& fields, int64_t steps = 40) {
      out.push_back(
          {t.name + name, fmt::format(R"({{"type": "{}", "n": {}{}}})", t.name, currents.size(), fields), steps});
    };
    add("", "", t.name == "exp_if" || t.name == "adex_if" ? 1000 : 100);
    for (const char* reset : {"soft", "hard"})
      if (knows("spk_reset")) add(fmt::format("_{}", reset), fmt::format(R"(, "spk_reset": "{}")", reset));
    if (knows("method")) add("_euler", R"(, "method": "euler")");
  }
  return out;
}

class StrongInput : public testing::TestWithParam<Variant> {};

bool all_finite(const Tensor& t) {
  const Array a = t.array();
  for (int64_t i = 0; i < a.size(); ++i)
    if (!std::isfinite(at(a, i))) return false;
  return true;
}

Tensor constant_drive(int64_t steps) {
  const Tensor I = convert(f64(currents), DType::F32);
  return broadcast_to(I, {steps, I.size()});
}

TEST_P(StrongInput, LeavesEveryStateFinite) {
  const auto model = zoo::build_model(GetParam().description);
  init_all_states(*model);
  const Tensor spikes = for_loop([&](Tensor I) { return (*model)(I); }, constant_drive(GetParam().steps));
  EXPECT_TRUE(all_finite(spikes));
  for (const auto& [path, state] : model->states<HiddenState>())
    EXPECT_TRUE(all_finite(state.value())) << path.str() << " " << to_string(state.value().array());
}

TEST_P(StrongInput, LeavesEveryDerivativeFinite) {
  const auto model = zoo::build_model(GetParam().description);
  init_all_states(*model);
  const Tensor slope = grad([&](const Tensor& I) {
    const Tensor spikes = for_loop([&](Tensor x) { return (*model)(x); }, I);
    Tensor       total  = sum(spikes);
    for (const auto& [path, state] : model->states<HiddenState>()) total = total + sum(state.value());
    return total;
  })(constant_drive(8));
  EXPECT_TRUE(all_finite(slope)) << to_string(slope.array());
}

INSTANTIATE_TEST_SUITE_P(Neurons, StrongInput, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

// Spike initiation with its defaults: an input starts spikes, and without it they end.
TEST(SpikeInitiation, FiresWithInputOnly) {
  for (const char* type : {"exp_if", "adex_if", "qua_if", "ad_qua_if", "izhikevich"}) {
    const auto model = zoo::build_model(fmt::format(R"({{"type": "{}", "n": 1}})", type));
    init_all_states(*model);
    const auto count = [&](double I, int64_t steps) {
      return sum(for_loop([&](Tensor x) { return (*model)(x); }, full({steps, 1}, I, DType::F32))).item();
    };
    EXPECT_EQ(count(0, 20), 0) << type;
    EXPECT_GT(count(40, 60), 2) << type;
    count(0, 30);
    EXPECT_EQ(count(0, 30), 0) << type;
  }
}

}  // namespace

}  // namespace braintrace
