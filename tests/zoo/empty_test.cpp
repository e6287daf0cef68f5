// SPDX-License-Identifier: Apache-2.0
// Sizes of zero: a loop over no steps gives no results; elsewhere the error says what is empty.
#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {

namespace {

const char* const gru = R"({"type": "gru", "n_in": 2, "n_rec": 3})";

TEST(Empty, LoopsAndBatchesOfAModel) {
  const auto m = build_model(gru);
  init_all_states(*m);
  EXPECT_EQ(for_loop([&](const Tensor& x) { return (*m)(x); }, zeros({0, 2})).shape(), (Shape{0, 3}));
  EXPECT_NE(error_of([&] { init_all_states(*m, {.batch_size = 0}); }).find("must be positive, got 0"),
            std::string::npos);
}

TEST(Empty, WindowsOfALearner) {
  for (const char* rule : {"D_RTRL", "SnAp", "RTRL", "BPTT"}) {
    const auto        m         = build_model(gru);
    const auto        learner   = compile(*m, rule, zeros({2}));
    const std::string no_window = error_of([&] { learner->update(MultiStepData{{zeros({0, 2})}}); });
    EXPECT_NE(no_window.find("at least one step"), std::string::npos) << rule << ": " << no_window;
    const auto        step        = [&](const Tensor& x) { return sum(square((*learner)(x))); };
    const std::string no_sequence = error_of([&] { etrace_grad(step, *learner)(zeros({0, 2})); });
    EXPECT_NE(no_sequence.find("empty"), std::string::npos) << rule << ": " << no_sequence;
  }
}

}  // namespace

}  // namespace braintrace::zoo
