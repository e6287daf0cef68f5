// SPDX-License-Identifier: Apache-2.0
// Every rule in step form on every corrected case: the gradient of every parameter at every step equals the one of an
// independent oracle.
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/model/functions.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

constexpr double relative_tolerance = 1e-9, absolute_tolerance = 1e-12;  // of the data set, float64

double largest(const Array& a) {
  double m = 0;
  for (int64_t i = 0; i < a.size(); ++i) m = std::max(m, std::abs(at(a, i)));
  return m;
}
double largest_difference(const Array& a, const Array& b) {
  double m = a.shape() == b.shape() ? 0 : INFINITY;
  for (int64_t i = 0; std::isfinite(m) && i < a.size(); ++i) m = std::max(m, std::abs(at(a, i) - at(b, i)));
  return m;
}

TraceDecay decay_of(const json& j) {
  if (j.is_array()) return {j[0].get<double>(), j[1].get<double>()};
  return j.is_number_integer() ? TraceDecay::rank(j.get<int>()) : TraceDecay::decay(j.get<double>());
}

// The rule of a recorded run; null for rules that are not in the library.
std::shared_ptr<const LearningRule> rule_of(const json& run) {
  const std::string algorithm = run["algorithm"];
  const json&       h         = run["hyperparameters"];
  if (algorithm == "D_RTRL") return std::make_shared<DRtrlRule>();
  if (algorithm == "OSTLRecurrent" || (algorithm == "SnAp" && h["n"] == 1))
    return std::make_shared<OstlRecurrentRule>();
  if (algorithm == "ES_D_RTRL" || algorithm == "OSTLFeedforward")
    return std::make_shared<EsDRtrlRule>(decay_of(h["decay_or_rank"]));
  if (algorithm == "EProp" && h["feedback"] == "symmetric")
    return std::make_shared<EPropRule>(h["kappa_filter_decay"].get<double>());
  return nullptr;
}

Tensor loss_of(const json& info, const Tensor& y, const Tensor& target) {
  if (info["loss"]["name"] == "xent_mean") return mean(losses::softmax_cross_entropy_with_integer_labels(y, target));
  return 0.5 * sum(square(y - target));
}

struct Run {
  std::string name, id;
};
void PrintTo(const Run& r, std::ostream* out) { *out << r.name << " " << r.id; }

std::vector<Run> runs() {
  std::vector<Run> out;
  for (const std::string& name : golden_cases({"corrected"})) {
    const json info = golden::load_case((golden_data / name).string()).info;
    for (const auto& run : info["runs"])
      if (run["vjp_method"] == "single-step" && run["drive"]["mode"] == "step" && rule_of(run))
        out.push_back({name, run["id"]});
  }
  return out;
}

// Worst distance from the recorded gradients in tolerances: ≤ 1 is a match. `scale` multiplies every loss.
double worst_violation(const Run& which, double scale = 1) {
  Loaded c(which.name);
  json   run;
  for (const auto& r : c.info["runs"])
    if (r["id"] == which.id) run = r;
  const Array & x = c.arrays.at("x"), &target = c.arrays.at("target");
  const auto    weights  = c.arrays.find("loss.step_weights");
  const int64_t free_run = run["drive"].value("free_run_steps", 0);
  OnlineLearner learner(*c.model, rule_of(run));
  learner.compile_graph(at_step(x, 0));
  auto   loss  = [&](Tensor in, Tensor goal, Tensor w) { return w * loss_of(c.info, learner(in), goal); };
  auto   step  = jit(value_and_grad(loss, c.model->params()));
  double worst = 0;
  for (int64_t t = 0; t < x.shape()[0]; ++t) {
    const double w            = t < free_run ? 0 : scale * (weights == c.arrays.end() ? 1.0 : at(weights->second, t));
    const auto [value, grads] = step(at_step(x, t), at_step(target, t), Tensor(Type{DType::F64, {}}, w));
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string name = path.str() + (leaf.empty() ? "" : "." + leaf);
        const auto        rows = c.arrays.find("run." + which.id + ".grad_step." + name);
        const Array       want = rows == c.arrays.end() ? c.arrays.at("run." + which.id + ".grad_sum." + name)
                                                        : at_step(rows->second, t).array();
        const double      off =
            largest_difference(g.array(), want) / (relative_tolerance * largest(want) + absolute_tolerance);
        EXPECT_TRUE(scale != 1 || off <= 1) << name << " at step " << t << " is off by " << off << " tolerances";
        worst = std::max(worst, off);
      }
  }
  return worst;
}

class StepForm : public testing::TestWithParam<Run> {};

TEST_P(StepForm, EqualsTheOracle) { EXPECT_LE(worst_violation(GetParam()), 1); }

TEST(StepFormControl, AScaledLossIsSeen) {
  EXPECT_GT(worst_violation({"corrected/gru_windows", "d_rtrl.ss"}, 1.001), 1e3);
}

INSTANTIATE_TEST_SUITE_P(Corrected, StepForm, testing::ValuesIn(runs()), [](const auto& info) {
  std::string name = info.param.name.substr(info.param.name.find('/') + 1) + "_" + info.param.id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace

}  // namespace braintrace
