// SPDX-License-Identifier: Apache-2.0
// A new sequence: states and traces are reset together, and a learner warns if only the states were.
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/base/warning.h"
#include "braintrace/etp/dense.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

// The tutorial's style: states made from values.
struct Leaky : Module {
  ParamState  w = state("w", ParamState(full({2, 2}, 0.4, DType::F64)));
  HiddenState h = state("h", HiddenState(full({2}, 0.1, DType::F64)));
  Tensor      update(const Tensor& x) override {
    h.set(0.5 * h.value() + matmul(x, w.value()));
    return h.value();
  }
};

const Tensor x = full({2}, 1, DType::F64);

struct Learning {
  Leaky                    model;
  D_RTRL                   learner{model};
  std::vector<std::string> warnings;
  WarningHook              before;

  Learning() {
    learner.compile_graph(x);
    before = set_warning_hook([this](const std::string& text) { warnings.push_back(text); });
  }
  ~Learning() { set_warning_hook(before); }

  Gradients slope(const Tensor& in) {
    return grad([this](const Tensor& v) { return sum(square(learner(v))); }, model.params())(in);
  }
};

TEST(Reset, StartsStatesAndTracesAgain) {
  Learning        l;
  const Gradients first = l.slope(x);
  l.slope(x);
  l.learner.reset();
  EXPECT_EQ(l.model.h.value()[0].item(), 0.1);
  EXPECT_EQ(l.learner.running_index(), 0);
  for (const Tensor& m : l.learner.memory()) EXPECT_TRUE(m.is_literal(0));
  EXPECT_EQ(max(abs(l.slope(x)["w"] - first["w"])).item(), 0);
  EXPECT_TRUE(l.warnings.empty());
}

TEST(Reset, StaleTracesAreAnnouncedOnce) {
  for (const bool jitted : {false, true}) {
    Learning   l;
    const auto step = [&](const Tensor& v) { return l.learner(v); };
    const auto fast = jit(step);
    const auto call = [&] { jitted ? fast(x) : step(x); };
    call();
    call();
    reset_all_states(l.model);
    EXPECT_TRUE(l.warnings.empty());
    call();
    ASSERT_EQ(l.warnings.size(), 1u) << jitted;
    EXPECT_NE(l.warnings[0].find("learner.reset()"), std::string::npos);
    call();
    EXPECT_EQ(l.warnings.size(), 1u);
    reset_all_states(l.model);
    call();
    EXPECT_EQ(l.warnings.size(), 2u);
  }
}

TEST(Reset, NothingIsSaidWhereTracesAreFreshOrStatesWerePutBack) {
  Learning l;
  init_all_states(l.model);  // no step was taken yet
  l.learner(x);
  reset_all_states(l.model);
  l.learner.reset_state();
  l.learner(x);
  const Tensor kept = l.model.h.value();
  reset_all_states(l.model);  // an evaluation in between
  l.model.h.set(kept);
  l.learner(x);
  EXPECT_TRUE(l.warnings.empty());
}

TEST(Registration, AModelHasAllStatesItsStepUses) {
  Leaky other;
  struct Borrower : Module {
    HiddenState borrowed;
    explicit Borrower(const HiddenState& h) : borrowed(h) {}
    Tensor update(const Tensor& in) override {
      borrowed.set(0.5 * borrowed.value() + in);
      return borrowed.value();
    }
  } model(other.h);
  D_RTRL            learner(model);
  const std::string text = error_of([&] { learner.compile_graph(x); });
  for (const char* phrase : {"state 'h' (HiddenState f64[2])", "not part of the model", "state()", "children()"})
    EXPECT_NE(text.find(phrase), std::string::npos) << text;
}

}  // namespace

}  // namespace braintrace
