// SPDX-License-Identifier: Apache-2.0
// D-RTRL in step form on every corrected case: the gradient of every parameter at every step equals the one of an
// independent oracle.
#include "braintrace/algorithms/d_rtrl.h"

#include "braintrace/model/functions.h"
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

std::vector<std::string> step_form_cases() {
  std::vector<std::string> out;
  for (const std::string& name : golden_cases({"corrected"})) {
    const json info = json::parse(std::ifstream(golden / name / "case.json"));
    for (const auto& run : info["runs"])
      if (run["id"] == "d_rtrl.ss" && info["loss"]["name"] == "half_sse") out.push_back(name);
  }
  return out;
}

// Runs the case and returns the worst violation of the tolerance: ≤ 1 is a match.
double worst_violation(Loaded& c, double disturbed_signal = 1) {
  const Array& x      = c.arrays.at("x");
  const Array& target = c.arrays.at("target");
  D_RTRL       learner(*c.model);
  learner.compile_graph(step_of(x, 0));
  auto   loss  = [&](Tensor in, Tensor goal, Tensor weight) { return weight * 0.5 * sum(square(learner(in) - goal)); };
  auto   step  = jit(value_and_grad(loss, c.model->params()));
  double worst = 0;
  for (int64_t t = 0; t < x.shape()[0]; ++t) {
    const auto   w            = c.arrays.find("loss.step_weights");
    const double weight       = disturbed_signal * (w == c.arrays.end() ? 1.0 : at(w->second, t));
    const auto [value, grads] = step(step_of(x, t), step_of(target, t), Tensor(Type{DType::F64, {}}, weight));
    for (const auto& [path, leaves] : grads)
      for (const auto& [leaf, g] : leaves) {
        const std::string name = path.str() + (leaf.empty() ? "" : "." + leaf);
        const auto        all  = c.arrays.find("run.d_rtrl.ss.grad_step." + name);
        const Array       want =
            all == c.arrays.end() ? c.arrays.at("run.d_rtrl.ss.grad_sum." + name) : step_of(all->second, t).array();
        const double v =
            largest_difference(g.array(), want) / (relative_tolerance * largest(want) + absolute_tolerance);
        EXPECT_TRUE(disturbed_signal != 1 || v <= 1) << name << " at step " << t << " is off by " << v << " tolerances";
        worst = std::max(worst, v);
      }
  }
  return worst;
}

class StepForm : public testing::TestWithParam<std::string> {};

TEST_P(StepForm, EqualsTheOracle) {
  Loaded c(GetParam());
  EXPECT_LE(worst_violation(c), 1);
}

TEST(StepFormControl, AScaledLossIsSeen) {
  Loaded c("corrected/gru_windows");
  EXPECT_GT(worst_violation(c, 1.001), 1e3);
}

INSTANTIATE_TEST_SUITE_P(Corrected, StepForm, testing::ValuesIn(step_form_cases()),
                         [](const auto& info) { return info.param.substr(info.param.find('/') + 1); });

}  // namespace

}  // namespace braintrace
