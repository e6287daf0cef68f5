// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rotate.h"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "tests/codegen/learning_jobs.h"

namespace braintrace {

namespace {

using testing_support::learning_job;
using testing_support::LearningJob;

// Runs a step with and without a stepper, each on its own results, and reads the weights in between.
void expect_same_stream(const LearningJob& j, double tolerance, const codegen::Options& options = {}) {
  const auto is_fed = [&](auto field, size_t i) {
    return std::any_of(j.feeds.begin(), j.feeds.end(), [&](const Feed& f) { return f.*field == i; });
  };
  cpu::Stepper             stepper(j.program, j.constants, j.feeds, j.args, options);
  std::vector<const void*> in;
  Arrays                   rest, args = j.args;
  std::vector<void*>       out;
  for (size_t a = 0; a < args.size(); ++a)
    if (!is_fed(&Feed::arg, a)) in.push_back(args[a].raw());
  for (size_t k = 0; k < j.program.results.size(); ++k)
    if (!is_fed(&Feed::result, k)) rest.emplace_back(j.program.type(j.program.results[k]));
  for (Array& a : rest) out.push_back(a.mutable_raw());
  const auto distance = [](const Array& a, const Array& b) {  // relative to the largest element
    return max_difference(Tensor(a), Tensor(b)) / (1 + max_difference(Tensor(b), Tensor(b.type(), 0)));
  };
  for (int t = 0; t < 4; ++t) {
    const Arrays want = evaluate(j.program, j.constants, args);
    for (const Feed& f : j.feeds) args[f.arg] = want[f.result];
    stepper.step(in.data(), out.data());
    EXPECT_LT(distance(rest[0], want[0]), tolerance) << j.name << ", step " << t;
    if (t != 1 && t != 3) continue;
    for (const Feed& f : j.feeds)
      EXPECT_LT(distance(stepper.value(f.arg), args[f.arg]), tolerance)
          << j.name << ", step " << t << ", argument " << f.arg;
  }
  double moved = 0;
  for (const Feed& f : j.feeds)
    if (j.args[f.arg].type().size() >= 16384)
      moved = std::max(moved, max_difference(Tensor(args[f.arg]), Tensor(j.args[f.arg])));
  EXPECT_GT(moved, 1e3 * tolerance) << j.name << ": nothing was learned";
}

}  // namespace

TEST(Rotation, DoesWhatTheStepDoes) {
  // Parts share the rows of the larger ones; the last part of 287 rows has fewer.
  for (const auto& [kind, rule, n] :
       {std::tuple("rnn", "D_RTRL", 128), std::tuple("rnn", "ES_D_RTRL", 128), std::tuple("gru", "D_RTRL", 256),
        std::tuple("gru", "D_RTRL", 255), std::tuple("gru", "ES_D_RTRL", 128), std::tuple("lif", "D_RTRL", 128),
        std::tuple("lif", "ES_D_RTRL", 128)}) {
    const LearningJob j = learning_job({.kind = kind, .rule = rule, .batch = 1, .n_in = 32, .n = n});
    ASSERT_TRUE(codegen::rotated(j.program, j.feeds)) << j.name;
    expect_same_stream(j, 1e-12);
  }
}

// Update and product read a matrix in one pass, whether or not its rows can be divided evenly.
TEST(Rotation, FusesAnyNumberOfRows) {
  const auto kernels = [](int64_t n) {
    const LearningJob j = learning_job({.batch = 1, .n_in = 32, .n = n});
    return codegen::scheduled({codegen::rotated(j.program, j.feeds)->step}).entries[0]->kernels.size();
  };
  EXPECT_EQ(kernels(255), kernels(256));
  EXPECT_EQ(kernels(251), kernels(256));
}

TEST(Rotation, DoesSoWithoutThePassesItUses) {
  const LearningJob j = learning_job({.kind = "rnn", .batch = 1, .n_in = 32, .n = 128});
  for (const char* pass : {"rotate", "expand", "products", "factor", "separate"}) {
    SCOPED_TRACE(pass);
    expect_same_stream(j, 1e-12, {.without = {pass}});
  }
}

// Any update element by element: of weights by their momentum and by the size of past gradients.
TEST(Rotation, TakesAnyUpdateByElements) {
  const Shape shape{128, 256};
  const Types types{{DType::F64, shape}, {DType::F64, shape}, {DType::F64, shape}, {DType::F64, {128}}};
  LearningJob j;
  j.name    = "momentum";
  j.program = trace(types, [&](const Tensors& in) {
                const Tensor y = tanh(dot(in[3], in[0]));
                const Tensor g = broadcast_axes(in[3], shape, {0}) * broadcast_axes(y, shape, {1});
                const Tensor m = 0.9 * in[1] + g, v = 0.99 * in[2] + 0.01 * g * g;
                return Tensors{sum(y, {0}), in[0] - 0.01 * m / (sqrt(v) + 1e-3), m, v};
              }).program;
  j.feeds   = {{1, 0}, {2, 1}, {3, 2}};
  for (const Type& t : types) {
    Array a(t);
    for (int64_t i = 0; i < t.size(); ++i) a.mutable_data<double>()[i] = 0.01 * static_cast<double>(i % 17);
    j.args.push_back(a);
  }
  const auto rotated = codegen::rotated(j.program, j.feeds);
  ASSERT_TRUE(rotated);
  EXPECT_EQ(rotated->large.size(), 3u);
  expect_same_stream(j, 1e-12);
}

TEST(Rotation, LeavesOtherStepsAlone) {
  const auto is_rotated = [](const testing_support::LearningOptions& o) {
    const LearningJob j = learning_job(o);
    return codegen::rotated(j.program, j.feeds).has_value();
  };
  EXPECT_FALSE(is_rotated({.batch = 2, .n_in = 32, .n = 128})) << "traces of a batch are summed when they are updated";
  EXPECT_FALSE(is_rotated({.batch = 1, .n_in = 8, .n = 16})) << "small arrays";
}

// Code that reads elements of an array, other than in products with vectors, would read them before their update.
TEST(Rotation, NeedsThatNobodyElseReads) {
  const auto step = [](bool sums) {
    Types types{{DType::F32, {128, 256}}, {DType::F32, {128}}, {DType::F32, {256}}};
    return trace(types,
                 [&](const Tensors& in) {
                   const Tensor u = broadcast_axes(in[1], {128, 256}, {0}), v = broadcast_axes(in[2], {128, 256}, {1});
                   return Tensors{dot(in[1], in[0]), in[0] - u * v, sums ? sum(in[0], {0, 1}) : sum(in[1], {0})};
                 })
        .program;
  };
  EXPECT_TRUE(codegen::rotated(step(false), {{1, 0}}));
  EXPECT_FALSE(codegen::rotated(step(true), {{1, 0}}));
}

}  // namespace braintrace
