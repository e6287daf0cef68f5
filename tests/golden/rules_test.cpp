// SPDX-License-Identifier: Apache-2.0
// Every rule in step, window and multi-step form on every corrected case: the gradient of every parameter in every call
// equals the one of an independent oracle.
#include <gtest/gtest.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/rtrl.h"
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
std::shared_ptr<const LearningRule> rule_of(const Loaded* c, const json& run) {
  const std::string algorithm = run["algorithm"];
  const json&       h         = run["hyperparameters"];
  if (algorithm == "D_RTRL") return std::make_shared<ParamDimRule>("D_RTRL");
  if (algorithm == "OSTLRecurrent" || (algorithm == "SnAp" && h["n"] == 1))
    return std::make_shared<ParamDimRule>("OSTLRecurrent", ParamDimOptions{.coupled = true});
  if (algorithm == "ES_D_RTRL" || algorithm == "OSTLFeedforward")
    return std::make_shared<IODimRule>("ES_D_RTRL", IODimOptions{decay_of(h["decay_or_rank"])});
  if (algorithm == "EProp") {
    ParamDimOptions o{.kappa = h["kappa_filter_decay"].get<double>()};
    if (h["feedback"] != "symmetric") {
      RandomFeedback f;
      f.from_output = h.value("feedback_source", "state") == "output";
      if (c)
        for (const auto& [name, array] : c->arrays)
          if (const std::string prefix = "run." + run["id"].get<std::string>() + ".feedback.g";
              name.rfind(prefix, 0) == 0)
            f.given[Path::dotted(
                c->info["graph"]["hidden_groups"][std::stoi(name.substr(prefix.size()))]["hidden_paths"][0]
                    .get<std::string>())] = Tensor(array);
      o.signal = LearningSignal::random_feedback(f);
    }
    return std::make_shared<ParamDimRule>("EProp", o);
  }
  if (algorithm == "TruncatedBPTT") return std::make_shared<BpttRule>();
  if (algorithm == "RTRL") return std::make_shared<RtrlRule>();
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
    const json info = json::parse(std::ifstream(golden / name / "case.json"));
    for (const auto& run : info["runs"])
      if (rule_of(nullptr, run)) out.push_back({name, run["id"]});
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
  const int64_t free_run = run["drive"].value("free_run_steps", 0), T = x.shape()[0];
  const bool    windows = run["drive"]["mode"] == "window";
  const int64_t K       = windows ? run["drive"]["window"].get<int64_t>() : 1;
  OnlineLearner learner(
      *c.model, rule_of(&c, run),
      {.vjp_method = run["vjp_method"] == "multi-step" ? VjpMethod::MultiStep : VjpMethod::SingleStep});
  learner.compile_graph(step_of(x, 0));
  auto loss = [&](Tensor in, Tensor goal, Tensor w) {
    if (!windows) return w * loss_of(c.info, learner(in), goal);
    const Tensor y = learner(MultiStepData{{in}});
    Tensor       total(0.0);
    for (int64_t t = 0; t < y.shape()[0]; ++t) {
      auto row = [&](const Tensor& a) {
        return reshape(slice_axis(a, 0, t, t + 1), Shape(a.shape().begin() + 1, a.shape().end()));
      };
      total = total + row(w) * loss_of(c.info, row(y), row(goal));
    }
    return total;
  };
  auto    step  = jit(value_and_grad(loss, c.model->params()));
  double  worst = 0;
  int64_t call  = 0;
  for (int64_t t = 0; t < T; t += K, ++call) {
    std::vector<double> w;
    for (int64_t s = t; s < std::min(t + K, T); ++s)
      w.push_back(s < free_run ? 0 : scale * (weights == c.arrays.end() ? 1.0 : at(weights->second, s)));
    const Tensor losses =
        windows ? Tensor(Array::of<double>(w, {static_cast<int64_t>(w.size())})) : Tensor(Type{DType::F64, {}}, w[0]);
    auto part_of = [&](const Array& a) {
      return windows ? slice_axis(Tensor(a), 0, t, std::min(t + K, T)) : step_of(a, t);
    };
    const auto [value, grads] = step(part_of(x), part_of(target), losses);
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string name = path.str() + (leaf.empty() ? "" : "." + leaf);
        const auto        rows = c.arrays.find("run." + which.id + ".grad_step." + name);
        const Array       want = rows == c.arrays.end() ? c.arrays.at("run." + which.id + ".grad_sum." + name)
                                                        : step_of(rows->second, call).array();
        const double      off =
            largest_difference(g.array(), want) / (relative_tolerance * largest(want) + absolute_tolerance);
        EXPECT_TRUE(scale != 1 || off <= 1) << name << " at call " << call << " is off by " << off << " tolerances";
        worst = std::max(worst, off);
      }
  }
  return worst;
}

class Rules : public testing::TestWithParam<Run> {};

TEST_P(Rules, EqualTheOracle) { EXPECT_LE(worst_violation(GetParam()), 1); }

TEST(RulesControl, AScaledLossIsSeen) {
  EXPECT_GT(worst_violation({"corrected/gru_windows", "d_rtrl.ss"}, 1.001), 1e3);
}

INSTANTIATE_TEST_SUITE_P(Corrected, Rules, testing::ValuesIn(runs()), [](const auto& info) {
  std::string name = info.param.name.substr(info.param.name.find('/') + 1) + "_" + info.param.id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace

}  // namespace braintrace
