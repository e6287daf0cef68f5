// SPDX-License-Identifier: Apache-2.0
// Sizes of zero: a sequence without steps and a batch without samples are values like others; where they mean nothing
// the error says so.
#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/model/loops.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::zoo {

namespace {

const char* const gru = R"({"type": "gru", "n_in": 2, "n_rec": 3})";

TEST(Empty, SequencesAndBatchesOfAModel) {
  const auto m = build_model(gru);
  init_all_states(*m);
  EXPECT_EQ(for_loop([&](const Tensor& x) { return (*m)(x); }, zeros({0, 2})).shape(), (Shape{0, 3}));
  init_all_states(*m, {.batch_size = 0});
  EXPECT_EQ((*m)(zeros({0, 2})).shape(), (Shape{0, 3}));
}

TEST(Empty, WindowsOfALearner) {
  for (const char* rule : {"D_RTRL", "ES_D_RTRL", "RTRL", "BPTT"}) {
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
