// SPDX-License-Identifier: Apache-2.0
// Every recorded numeric case: the model built from its description, with the recorded parameters and initial states,
// gives the recorded outputs and states at every step.
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/model/frame.h"
#include "braintrace/ops/math.h"
#include "tests/support/golden_case.h"

namespace braintrace {

namespace {

double distance(const Tensor& got, const Array& all, int64_t t) {
  const Array want = at_step(all, t).array(), have = got.array();
  if (want.shape() != have.shape()) return 1e300;
  double worst = 0;
  for (int64_t i = 0; i < want.size(); ++i) worst = std::max(worst, std::abs(at(want, i) - at(have, i)));
  return worst;
}

class Forward : public testing::TestWithParam<std::string> {};

TEST_P(Forward, MatchesTheRecordedRun) {
  Loaded       c(GetParam());
  const bool   single    = c.arrays.at("fwd.y").dtype() == DType::F32;
  const double tolerance = single ? 1e-5 : 1e-12;
  int          states    = 0;
  for (int64_t t = 0; t < c.info["T"].get<int64_t>(); ++t) {
    const Tensor y = (*c.model)(at_step(c.arrays.at("x"), t));
    EXPECT_LT(distance(y, c.arrays.at("fwd.y"), t), tolerance) << "output of step " << t;
    for (const auto& [key, value] : c.arrays)
      if (key.rfind("fwd.h.", 0) == 0) {
        const auto [state, leaf] = find_leaf(*c.model, key.substr(6));
        EXPECT_LT(distance(state.leaf(leaf), value, t), tolerance) << key << " after step " << t;
        ++states;
      }
  }
  EXPECT_TRUE(states > 0 || GetParam() == "corrected/aliased_states");
}

// The step as a program: traced once, it gives the same output and the same new states.
TEST_P(Forward, TracedStepEqualsTheRecordedOne) {
  Loaded                c(GetParam());
  const Tensor          x   = at_step(c.arrays.at("x"), 0);
  const StatefulProgram p   = trace_function({x.type()}, [&](const Tensors& in) { return Tensors{(*c.model)(in[0])}; });
  const Tensors         out = p.store(replay(p.program, p.constants, p.inputs({x})));
  const double          tolerance = c.arrays.at("fwd.y").dtype() == DType::F32 ? 1e-5 : 1e-12;
  EXPECT_LT(distance(out[0], c.arrays.at("fwd.y"), 0), tolerance);
  for (const auto& [key, value] : c.arrays)
    if (key.rfind("fwd.h.", 0) == 0) {
      const auto [state, leaf] = find_leaf(*c.model, key.substr(6));
      EXPECT_LT(distance(state.leaf(leaf), value, 0), tolerance) << key;
    }
}

// Negative control: a parameter moved by a little is seen.
TEST(ForwardControl, AChangedParameterChangesTheOutput) {
  Loaded c("corrected/gru_windows");
  auto [state, leaf] = find_leaf(*c.model, "rnn.Wz.weight.bias");
  state.set_leaf(leaf, state.leaf(leaf) + 1e-6);
  EXPECT_GT(distance((*c.model)(at_step(c.arrays.at("x"), 0)), c.arrays.at("fwd.y"), 0), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Golden, Forward, testing::ValuesIn(golden_cases({"numerics", "corrected"})),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace

}  // namespace braintrace
