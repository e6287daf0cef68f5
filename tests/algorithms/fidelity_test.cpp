// SPDX-License-Identifier: Apache-2.0
// Rules compared with the exact gradient: the report agrees with the laws of the rules.
#include "braintrace/fidelity/fidelity.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/base/lists.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

const json two_layers = chain({layer("gru", 2, 3), layer("mini_gru", 3, 3), linear(3, 2)});
const json one_layer  = chain({layer("gru", 2, 3), linear(3, 2)});

FidelityReport measured(const json& description, const FidelityOptions& options, Type input = {DType::F64, {2}}) {
  auto model = make_model(description);
  return measure_fidelity(*model, "net", input, {}, options);
}
const RuleFidelity& found(const FidelityReport& r, const std::string& rule, int64_t window) {
  for (const RuleFidelity& f : r.rules)
    if (f.rule == rule && f.window == window) return f;
  throw UserError("no such row: " + rule);
}

// With one target at the end, credit must go back through all steps: the same-step gradient is all that BPTT in windows
// of one step has, and RTRL is exact still.
TEST(Fidelity, OneTargetAtTheEndAsksMoreOfARule) {
  const FidelityOptions every{.steps = 8, .windows = {1}, .rules = {"BPTT", "RTRL"}};
  FidelityOptions       last = every;
  last.last_only             = true;
  const FidelityReport all = measured(one_layer, every), end = measured(one_layer, last);
  EXPECT_LT(end.norms[0], all.norms[0]);
  EXPECT_LT(found(end, "BPTT", 1).layers[0].norm_ratio, found(all, "BPTT", 1).layers[0].norm_ratio);
  EXPECT_NEAR(found(end, "RTRL", 1).all.cosine, 1, 1e-12);
}

TEST(Fidelity, SaysWhatTheLawsSay) {
  const FidelityReport r = measured(one_layer, {.steps = 8, .windows = {1, 4, 8}});
  EXPECT_EQ(r.layers, (std::vector<std::string>{"a", "out"}));
  EXPECT_EQ(r.parameters.size(), 8u);
  for (double n : r.norms) EXPECT_GT(n, 1e-4);
  const size_t Wr = index_of(r.parameters, "a.Wr.weight.weight"), Wz = index_of(r.parameters, "a.Wz.weight.weight");
  ASSERT_LT(std::max(Wr, Wz), r.parameters.size());
  EXPECT_TRUE(r.windowed[Wr]);
  EXPECT_FALSE(r.windowed[Wz]);
  for (const RuleFidelity& f : r.rules) {
    EXPECT_EQ(f.left_out, "") << f.rule;
    EXPECT_NEAR(f.layers[1].cosine, 1, 1e-12) << f.rule;  // the readout has no memory
    EXPECT_GT(f.seconds_per_step, 0);
    const bool exact = f.rule == "RTRL" || (f.rule == "BPTT" && f.window == 8);
    if (exact) {
      EXPECT_NEAR(f.all.cosine, 1, 1e-12) << f.rule;
      EXPECT_NEAR(f.all.norm_ratio, 1, 1e-12) << f.rule;
    }
  }
  const RuleFidelity &steps = found(r, "D_RTRL", 1), &whole = found(r, "D_RTRL", 8);
  EXPECT_LT(steps.all.cosine, 0.9999);
  EXPECT_NEAR(steps.parameters[Wz].cosine, whole.parameters[Wz].cosine, 1e-12);
  EXPECT_GT(std::abs(steps.parameters[Wr].cosine - whole.parameters[Wr].cosine), 1e-4);
  // Wz and Wh, weight [5,3] and bias [3], one state, eight bytes.
  EXPECT_EQ(steps.trace_bytes, 2 * (5 * 3 + 3) * 8);
  EXPECT_EQ(found(r, "BPTT", 1).trace_bytes, 0);
  for (const auto& [rule, setting] :
       {std::pair{"ES_D_RTRL", "decay 0.9"}, {"EProp", "kappa 0.5"}, {"SnAp", "n 2"}, {"UORO", "one draw"}})
    EXPECT_EQ(found(r, rule, 1).setting, setting);
}

TEST(Fidelity, LeavesOutWhatCannotRun) {
  const FidelityReport r = measured(
      one_layer, {.steps = 3, .windows = {1}, .rules = {"three_factor", "d_rtrl", "bptt"}, .memory_limit = 100});
  ASSERT_EQ(r.rules.size(), 3u);
  EXPECT_NE(r.rules[0].left_out.find("modulator"), std::string::npos);
  EXPECT_NE(r.rules[1].left_out.find("its traces take"), std::string::npos);
  EXPECT_EQ(r.rules[2].left_out, "");
  EXPECT_NE(fidelity_table(r).find("left out: its traces take"), std::string::npos);
  EXPECT_NE(fidelity_json(r).find("\"left_out\": \"its traces take"), std::string::npos);

  EXPECT_NE(error_of([] { measured(one_layer, {.rules = {"d_rtlr"}}); }).find("did you mean 'D_RTRL'"),
            std::string::npos);
  EXPECT_NE(error_of([] { measured(one_layer, {.steps = 3, .windows = {4}}); }).find("does not fit"),
            std::string::npos);
  EXPECT_NE(error_of([] { measured(one_layer, {.steps = 0}); }).find("at least one step"), std::string::npos);
}

TEST(Fidelity, TakesIdsAndWritesEveryForm) {
  const json           ids = chain({{{"type", "embedding"}, {"vocab", 4}, {"n_out", 2}}, layer("gru", 2, 3)});
  const FidelityReport r =
      measured(ids, {.steps = 4, .windows = {1, 4}, .rules = {"d_rtrl", "eprop"}}, {DType::I32, {}});
  EXPECT_EQ(r.layers, (std::vector<std::string>{"a", "b"}));
  const json j = json::parse(fidelity_json(r));
  EXPECT_EQ(j["schema"], "braintrace-fidelity/1");
  EXPECT_EQ(j["rules"].size(), 4u);
  EXPECT_EQ(j["rules"][0]["parameters"].size(), r.parameters.size());
  EXPECT_EQ(j["rules"][2]["setting"], "kappa 0.5");
  EXPECT_NEAR(j["rules"][0]["layers"]["b"]["cosine"].get<double>(), r.rules[0].layers[1].cosine, 1e-15);
  const std::string table = fidelity_table(r), picture = fidelity_svg(r);
  for (const char* text : {"D_RTRL", "EProp", "kappa 0.5"}) {
    EXPECT_NE(table.find(text), std::string::npos) << text;
    EXPECT_NE(picture.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(picture.rfind("<svg", 0), 0u);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
}

// Equal rows are drawn once: windows matter for the windowed weights of a GRU, and for nothing in a mini GRU.
TEST(Fidelity, PictureShowsEqualRowsOnce) {
  const auto rows = [](const json& cell) {
    const std::string svg = fidelity_svg(measured(cell, {.steps = 6, .windows = {1, 3, 6}, .rules = {"d_rtrl"}}));
    size_t            n   = 0;
    for (size_t at = svg.find("class=\"line\""); at != std::string::npos; at = svg.find("class=\"line\"", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(rows(layer("mini_gru", 2, 3)), 1u);
  EXPECT_GT(rows(layer("gru", 2, 3)), 1u);
  EXPECT_EQ(measured(two_layers, {.steps = 3, .windows = {1}, .rules = {"bptt"}}).layers.size(), 3u);
}

}  // namespace

}  // namespace braintrace
