// SPDX-License-Identifier: Apache-2.0
// Every operation in the registry obeys every law; each law detects a broken record.
#include "tests/ops/laws.h"

#include <gtest/gtest.h>

#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {
namespace {

constexpr double difference_tolerance = 1e-6;   // central differences with h = 1e-6 in f64
constexpr double exact_tolerance      = 1e-11;  // the same sums in another order

class OpLaw : public testing::TestWithParam<const Op*> {};

TEST_P(OpLaw, HasSamples) { EXPECT_TRUE(GetParam()->sample) << "the record has no sample slot"; }

TEST_P(OpLaw, InferredTypeIsEvaluatedType) {
  for (const auto& c : laws::cases(*GetParam())) EXPECT_EQ(laws::type_mismatch(c), "");
}
TEST_P(OpLaw, JvpIsDifferenceQuotient) {
  for (const auto& c : laws::cases(*GetParam()))
    EXPECT_LT(laws::jvp_error(c), difference_tolerance) << "sample " << c.index;
}
TEST_P(OpLaw, TransposeIsAdjoint) {
  for (const auto& c : laws::cases(*GetParam()))
    EXPECT_LT(laws::transpose_error(c), exact_tolerance) << "sample " << c.index;
}
TEST_P(OpLaw, BatchIsLoop) {
  for (const auto& c : laws::cases(*GetParam()))
    EXPECT_LT(laws::batch_error(c), exact_tolerance) << "sample " << c.index;
}
TEST_P(OpLaw, TextRoundTrips) {
  for (const auto& c : laws::cases(*GetParam())) EXPECT_EQ(laws::text_mismatch(c), "");
}
TEST_P(OpLaw, IndependentPositionsHaveZeroDerivative) {
  for (const auto& c : laws::cases(*GetParam())) EXPECT_LE(laws::dependence_error(c), 0) << "sample " << c.index;
}
TEST_P(OpLaw, SimplifyKeepsValues) {
  for (const auto& c : laws::cases(*GetParam()))
    EXPECT_LT(laws::simplify_error(c), exact_tolerance) << "sample " << c.index;
}

INSTANTIATE_TEST_SUITE_P(AllOps, OpLaw, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

// Negative controls: each law, on a record that breaks it.
laws::Case only_case(const Op& op) { return {&op, 0}; }

TEST(OpLawControl, WrongDerivativeIsSeen) {
  static constinit const Op bad =
      elementwise({.name   = "bad_square",
                   .doc    = "x² with derivative x",
                   .scalar = {.real    = [](const double* x) { return x[0] * x[0]; },
                              .partial = {[](const Tensors& x, const Tensor&) { return x[0]; }}}});
  EXPECT_GT(laws::jvp_error(only_case(bad)), 1e-2);
}

TEST(OpLawControl, WrongTransposeIsSeen) {
  static constinit const Op bad = elementwise({.name      = "bad_neg",
                                               .doc       = "-x with transpose +ct",
                                               .linearity = Linearity::Joint,
                                               .transpose = [](const TransposeArgs& a) -> Tensors { return {a.ct[0]}; },
                                               .scalar    = {.real = [](const double* x) { return -x[0]; }}});
  EXPECT_GT(laws::transpose_error(only_case(bad)), 1e-2);
}

TEST(OpLawControl, WrongBatchIsSeen) {
  static constinit const Op bad = elementwise({.name   = "bad_batch",
                                               .doc    = "x, but batching flips the sign",
                                               .batch  = [](const BatchArgs& a) -> Tensors { return {-a.in[0]}; },
                                               .scalar = {.real = [](const double* x) { return x[0]; }}});
  EXPECT_GT(laws::batch_error(only_case(bad)), 1e-2);
}

TEST(OpLawControl, WrongTypeIsSeen) {
  static constinit const Op bad =
      elementwise({.name  = "bad_type",
                   .doc   = "claims bool",
                   .infer = [](const Op&, const Types& in, const Attrs&) -> Types {
                     return {{DType::Bool, in[0].shape}};
                   },
                   .eval   = [](const Op&, const Arrays& in, const Attrs&, const Types&) -> Arrays { return {in[0]}; },
                   .scalar = {.real = [](const double* x) { return x[0]; }}});
  EXPECT_NE(laws::type_mismatch(only_case(bad)), "");
}

TEST(OpLawControl, WrongDependenceIsSeen) {
  static constinit const Op bad =
      composite({.name   = "bad_reverse",
                 .doc    = "mirrored, but claims to keep positions",
                 .expand = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {transpose(in[0])}; },
                 .depend = elementwise_depend,
                 .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
                   auto s     = scalar_sample(tanh_op, rng);
                   s[0].in[0] = reshape(concat({s[0].in[0], s[0].in[0]}, 1), {2, 6});
                   s[0].in[0] = slice(s[0].in[0], {0, 0}, {2, 2});
                   return s;
                 }});
  EXPECT_GT(laws::dependence_error(only_case(bad)), 1e-2);
}

TEST(OpLawControl, WrongSimplifyIsSeen) {
  static constinit const Op bad =
      elementwise({.name     = "bad_simplify",
                   .doc      = "2x, but simplifies to x",
                   .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return in; },
                   .scalar   = {.real = [](const double* x) { return 2 * x[0]; }}});
  EXPECT_GT(laws::simplify_error(only_case(bad)), 1e-2);
}

}  // namespace
}  // namespace braintrace
