// SPDX-License-Identifier: Apache-2.0
// A rule that only this file defines: after it is registered, everything that takes the name of a rule accepts it.
#include <gtest/gtest.h>

#include "braintrace/advise/advise.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/stream/online_stream.h"
#include "braintrace/train/trainer.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

// D-RTRL in windows, with traces that fade twice as fast:  ε_t = ½ D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w
struct FadingRule : LearningRule {
  FadingRule() : LearningRule({.name = "Fading", .coupled = false, .method = VjpMethod::MultiStep}) {}
  std::optional<TraceRecursion> recursion() const override {
    TraceRecursion out;
    out.D = [](Step& step, int group) { return step.D(group).defined() ? 0.5 * step.D(group) : Tensor(); };
    return out;
  }
};

const json net = chain({layer("gru", 2, 3), linear(3, 2)});

struct OwnRule : ::testing::Test {
  static void SetUpTestSuite() {
    register_algorithm(
        {.name    = "Fading",
         .aliases = {"half_trace"},
         .doc     = "D_RTRL with traces that fade",
         .rule    = []() -> std::shared_ptr<const LearningRule> { return std::make_shared<FadingRule>(); }});
  }
};

TEST_F(OwnRule, StandsBesideTheOthers) {
  EXPECT_EQ(&algorithm_named("Half_Trace"), &algorithm_named("fading"));
  EXPECT_NE(list_of_algorithms().find("traces that fade"), std::string::npos);
  const auto refuses = [](const char* name, std::vector<std::string> aliases, const char* words) {
    Algorithm a = algorithm_named("Fading");
    a.name = name, a.aliases = std::move(aliases);
    return error_of([&] { register_algorithm(a); }).find(words) != std::string::npos;
  };
  EXPECT_TRUE(refuses("d_rtrl", {}, "a built-in rule 'D_RTRL' already"));
  EXPECT_TRUE(refuses("Fading", {"pp_prop"}, "a built-in rule 'pp_prop' already"));
  EXPECT_TRUE(refuses("Other", {"half_trace"}, "a rule 'half_trace' already"));
}

TEST_F(OwnRule, GivesWayToAnotherOfItsName) {
  const Algorithm& before = algorithm_named("Fading");
  const size_t     count  = algorithms().size();
  Algorithm        again  = before;
  again.name = "fading", again.doc = "written again";
  register_algorithm(again);
  EXPECT_EQ(algorithms().size(), count);
  EXPECT_EQ(algorithm_named("Half_Trace").doc, "written again");
  EXPECT_EQ(before.doc, "D_RTRL with traces that fade") << "a record that was found before stays valid";
  again = before;
  register_algorithm(again);
}

TEST_F(OwnRule, Trains) {
  const json     config = {{"model", chain({layer("gru", 4, 3), linear(3, 4)})},
                           {"task", {{"type", "copy"}, {"lag", 3}, {"count", 2}, {"symbols", 2}}},
                           {"rule", {{"name", "Fading"}}},
                           {"optimizer", {{"lr", 0.01}}},
                           {"batch", 2},
                           {"steps", 2},
                           {"update", 1},
                           {"backend", "reference"}};
  train::Trainer trainer(train::read_config(config.dump()));
  EXPECT_GT(trainer.step().gradient_norm, 0);
  EXPECT_TRUE(std::isfinite(trainer.step().loss));
}

TEST_F(OwnRule, LearnsFromAStream) {
  auto                 model = make_model(net);
  stream::OnlineStream s(*model, {DType::F64, {2}}, {.rule = "Fading", .optimizer = "sgd", .lr = 0.1});
  const Array          x = ones({2}, DType::F64).array(), y = zeros({2}, DType::F64).array();
  const double         first = s.learn(x, y).loss;
  double               last  = first;
  for (int i = 0; i < 20; ++i) last = s.learn(x, y).loss;
  EXPECT_LT(last, first);
  EXPECT_NE(s.learning().find("Fading"), std::string::npos);
}

TEST_F(OwnRule, LiesBetweenTheSameStepAndDRtrl) {
  auto                 model = make_model(net);
  const FidelityReport r =
      measure_fidelity(*model, "net", {DType::F64, {2}}, {}, {.steps = 6, .windows = {1}, .rules = {"BPTT", "Fading"}});
  ASSERT_EQ(r.rules.size(), 2u);
  EXPECT_EQ(r.rules[1].left_out, "");
  EXPECT_GT(r.rules[1].trace_bytes, 0);
  EXPECT_GT(r.rules[1].all.cosine, r.rules[0].all.cosine);
}

TEST_F(OwnRule, IsCosted) {
  const Environment::Scope single({.precision = DType::F32});
  auto                     model  = make_model(net);
  const Advice             advice = advise(*model, "net", {DType::F32, {2}}, {.length = 5, .rules = {"Fading"}});
  set_default_backend("reference");
  ASSERT_EQ(advice.costs.size(), 2u);
  for (const Cost& c : advice.costs) {
    EXPECT_EQ(c.left_out, "");
    EXPECT_GT(c.flops_per_step, 0);
  }
  EXPECT_EQ(advice.recommended, std::optional<size_t>(0));
}

}  // namespace

}  // namespace braintrace
