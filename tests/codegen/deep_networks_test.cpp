// SPDX-License-Identifier: Apache-2.0
// Tracing and scheduling of deep networks grow with the number of layers. Bytes that they allocate are counted: unlike
// seconds, these do not depend on other work on the machine.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "braintrace/codegen/schedule.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/elementary.h"
#include "tests/codegen/allocations.h"
#include "tests/codegen/learning_jobs.h"

namespace braintrace {
namespace {

using testing_support::allocated_bytes;
using testing_support::Form;
using testing_support::learning_job;

constexpr int64_t few = 10, more = 20, many = 40;

Program deep(int64_t layers) {
  return learning_job({.kind   = "gru",
                       .form   = Form::Sequence,
                       .dtype  = DType::F32,
                       .batch  = 1,
                       .n_in   = 3,
                       .n      = 3,
                       .layers = layers})
      .program;
}

// How the bytes that `work` of a number of layers allocates grow. From few to more layers and from more to many, work
// that is linear grows by a factor of two, and quadratic work by four.
template <class Work>
double growth(const Work& work) {
  const auto count = [&](int64_t layers) {
    const int64_t before = allocated_bytes();
    work(layers);
    return static_cast<double>(allocated_bytes() - before);
  };
  count(few);  // also what happens only once
  const double a = count(few), b = count(more), c = count(many);
  return (c - b) / (b - a);
}

TEST(DeepNetworks, GrowthTellsLinearFromQuadratic) {
  const auto allocate = [](int64_t times) {
    for (int64_t i = 0; i < times; ++i) std::vector<int64_t>(8);
  };
  EXPECT_NEAR(growth([&](int64_t layers) { allocate(100 * layers); }), 2, 0.01);
  EXPECT_NEAR(growth([&](int64_t layers) { allocate(layers * layers); }), 4, 0.01);
}

TEST(DeepNetworks, TracingGrowsWithTheLayers) {
  EXPECT_LT(growth([](int64_t layers) { deep(layers); }), 2.1);
}

TEST(DeepNetworks, SchedulingGrowsWithTheLayers) {
  const std::map<int64_t, Program> programs{{few, deep(few)}, {more, deep(more)}, {many, deep(many)}};
  EXPECT_LT(growth([&](int64_t layers) { codegen::scheduled({programs.at(layers)}); }), 2.1);
}

// Nearly every gradient may take the memory of nearly every input of the same size, as a comparison shows.
TEST(DeepNetworks, PairsThatShareMemoryAreNotListed) {
  const Types   types(100, Type{DType::F32, {8}});
  const Program p     = trace(types, [](const Tensors& in) {
                      Tensors out;
                      for (const Tensor& x : in) out.push_back(tanh(x));
                      return out;
                    }).program;
  const auto    entry = codegen::scheduled({p}).entries[0];
  EXPECT_TRUE(entry->may_share(99, 99)) << "read by the same kernel";
  EXPECT_TRUE(entry->may_share(99, 0)) << "read by an earlier kernel";
  EXPECT_FALSE(entry->may_share(0, 99)) << "read by a later kernel";
  EXPECT_TRUE(entry->in_place.named.empty());
}

}  // namespace
}  // namespace braintrace
