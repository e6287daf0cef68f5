// SPDX-License-Identifier: Apache-2.0
// Reverse mode through all steps of a recorded sequence: the gradient of the summed loss with respect to every
// parameter equals the recorded one. These cases include all cells, neurons, synapses and operations.
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "braintrace/nn/loss.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

// Errors relative to the largest entry of the gradient, or to one.
double tolerance(const Array& a) { return a.dtype() == DType::F32 ? 1e-5 : 1e-12; }

Tensor step_loss(const json& info, const Tensor& y, const Tensor& target) {
  if (info["loss"]["name"] == "xent_mean") return mean(losses::softmax_cross_entropy_with_integer_labels(y, target));
  return 0.5 * sum(square(y - target));
}

Gradients through_time(Loaded& c) {
  const auto weights = c.arrays.find("loss.step_weights");
  auto       loss    = [&] {
    Tensor total;
    for (int64_t t = 0; t < c.info["T"].get<int64_t>(); ++t) {
      const Tensor l = step_loss(c.info, (*c.model)(at_step(c.arrays.at("x"), t)), at_step(c.arrays.at("target"), t));
      const double w = weights == c.arrays.end() ? 1 : at(weights->second, t);
      total          = total.defined() ? total + w * l : w * l;
    }
    return total;
  };
  return grad(loss, c.model->params())();
}

struct Worst {
  double error = 0, size = 0;  // relative error, and largest gradient
};
Worst compare(const Loaded& c, const Gradients& g) {
  Worst w;
  for (const auto& [key, want] : c.arrays) {
    if (key.rfind("bptt.total.", 0) != 0) continue;
    const auto [state, leaf] = find_leaf(*c.model, key.substr(11));
    for (const auto& [path, s] : c.model->params()) {
      if (!(s == state)) continue;
      const Array got  = g.at(path, leaf).array();
      double      most = 0, off = got.shape() == want.shape() ? 0 : INFINITY;
      for (int64_t i = 0; std::isfinite(off) && i < want.size(); ++i) {
        most = std::max(most, std::abs(at(want, i)));
        off  = std::max(off, std::abs(at(want, i) - at(got, i)));
      }
      w.error = std::max(w.error, off / std::max(1.0, most) / tolerance(want));
      w.size  = std::max(w.size, most);
    }
  }
  return w;
}

class ReverseMode : public testing::TestWithParam<std::string> {};

TEST_P(ReverseMode, GivesTheRecordedGradient) {
  Loaded      c(GetParam());
  const Worst w = compare(c, through_time(c));
  EXPECT_GT(w.size, 1e-6) << "no gradient was compared";
  EXPECT_LT(w.error, 1);
}

// Negative control: a slightly changed parameter gives a different gradient.
TEST(ReverseModeControl, AChangedParameterIsSeen) {
  Loaded c("numerics/gru_batched");
  const auto [state, leaf] = find_leaf(*c.model, "rnn.Wz.weight.bias");
  state.set_leaf(leaf, state.leaf(leaf) + 1e-9);
  EXPECT_GT(compare(c, through_time(c)).error, 1);
}

INSTANTIATE_TEST_SUITE_P(Golden, ReverseMode, testing::ValuesIn(golden_cases({"numerics", "corrected"})),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace

}  // namespace braintrace
