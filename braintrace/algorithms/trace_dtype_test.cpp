// SPDX-License-Identifier: Apache-2.0
// Traces in reduced precision: types of traces and gradients, and the error of the gradients.
#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/rnn.h"
#include "tests/support/error_of.h"
#include "tests/support/online.h"

namespace braintrace {

namespace {

const Type    input{DType::F32, {3, 2}};
constexpr int steps = 12;

// Gradients with reduced-precision traces stay within relative · |g| + absolute of the gradient g in full precision.
constexpr double relative = 0.2, absolute = 1e-2;

struct Setting {
  const char*            name;
  bool                   lstm;  // two states per position
  ParamDimOptions        options;
  std::optional<int64_t> window = {};
};
const Setting settings[] = {
    {"Gru", false, {}},
    {"Lstm", true, {}},
    {"GruFiltered", false, {.kappa = 0.5}},
    {"LstmCoupled", true, {.coupled = true}},
    {"GruLeak", false, {.leak = 0.8}},
    {"GruWindows", false, {}, 3},
};

struct Outcome {
  Gradients gradient;
  Types     memory;
};
Outcome run(const Setting& s, std::optional<DType> storage) {
  random::seed(3);
  std::shared_ptr<Module> model =
      s.lstm ? std::shared_ptr<Module>(std::make_shared<nn::LSTMCell>(2, 4)) : std::make_shared<nn::GRUCell>(2, 4);
  init_all_states(*model, {.batch_size = 3});
  ParamDimOptions options = s.options;
  options.trace_dtype     = storage;
  OnlineLearner learner(*model, std::make_shared<ParamDimRule>("rule", options));
  learner.compile_graph(wave(input, 0));
  if (!s.window) return {online_gradient(learner, input, steps), types_of(learner.memory())};

  Type window = input;
  window.shape.insert(window.shape.begin(), *s.window);
  auto loss  = grad([&](Tensor xs) { return sum(square(learner(MultiStepData{{xs}}))); }, model->params());
  auto total = loss(wave(window, 0));
  for (int t = 1; t < 4; ++t) total = total + loss(wave(window, t));
  return {total, types_of(learner.memory())};
}

// Largest |a - b| / (relative |b| + absolute) over all elements.
double violation(const Gradients& a, const Gradients& b) {
  double worst = 0;
  for (const auto& [path, leaves] : b)
    for (const auto& [leaf, want] : leaves) {
      const Array got = a.at(path, leaf).array(), full = want.array();
      for (int64_t i = 0; i < full.size(); ++i)
        worst = std::max(worst, std::abs(at(got, i) - at(full, i)) / (relative * std::abs(at(full, i)) + absolute));
    }
  return worst;
}

class TraceDtype : public testing::TestWithParam<Setting> {};

TEST_P(TraceDtype, IsThatOfTheMemoryAndNotOfGradients) {
  for (DType storage : {DType::BF16, DType::F16, DType::F64}) {
    const Outcome narrow = run(GetParam(), storage);
    ASSERT_FALSE(narrow.memory.empty());
    for (const Type& t : narrow.memory) EXPECT_EQ(t.dtype, storage);
    for (const auto& [path, leaves] : narrow.gradient)
      for (const auto& [leaf, g] : leaves) EXPECT_EQ(g.dtype(), DType::F32) << path.str();
  }
}

TEST_P(TraceDtype, MovesGradientsALittle) {
  const Gradients full = run(GetParam(), {}).gradient;
  ASSERT_GT(full.squared_norm().item(), 1);
  for (DType storage : {DType::BF16, DType::F16}) {
    const Gradients narrow = run(GetParam(), storage).gradient;
    EXPECT_LE(violation(narrow, full), 1) << name_of(storage);
    EXPECT_LT(distance(narrow, full), 0.01) << name_of(storage);
    EXPECT_GT(distance(narrow, full), 1e-6) << name_of(storage) << " changed nothing";
  }
  EXPECT_LT(distance(run(GetParam(), DType::F64).gradient, full), 1e-6);
}

// Negative control: the bounds reject a different rule.
TEST(TraceDtypeControl, ForgettingIsSeen) {
  const Gradients full = run(settings[0], {}).gradient;
  EXPECT_GT(violation(run({"", false, {.leak = 0.0}}, {}).gradient, full), 2);
}

TEST(TraceDtypeControl, IsAFloat) {
  const std::string message = error_of([] { ParamDimRule("rule", {.trace_dtype = DType::I32}); });
  EXPECT_NE(message.find("trace_dtype must be a float type, got i32"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(ParamDim, TraceDtype, testing::ValuesIn(settings),
                         [](const auto& info) { return info.param.name; });

}  // namespace

}  // namespace braintrace
