// SPDX-License-Identifier: Apache-2.0
// Sums and extremes over some axes of arrays large enough that loops process several rows at once, with and without a
// remainder; the loops also write the terms.
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

using testing_support::Job;
using testing_support::worst_disagreement;

Job job(const Shape& shape, const Ints& axes, DType dtype) {
  const Types types{{dtype, shape}, {dtype, {shape.back()}}, {dtype, {shape[0]}}};
  Job         j;
  j.name    = to_string(shape) + " over " + to_string(axes);
  j.program = trace(types, [&](const Tensors& in) -> Tensors {
                const auto   last   = static_cast<int64_t>(shape.size()) - 1;
                const Tensor column = broadcast_axes(in[1], shape, {last}), row = broadcast_axes(in[2], shape, {0});
                const Tensor y = row * tanh(in[0] * column) - column;
                return {y, sum(y, axes), sum(y * in[0], axes), max(y + row, axes)};
              }).program;
  Rng rng(3);
  for (const Type& t : types) j.args.push_back(random_array(rng, t));
  return j;
}

}  // namespace

TEST(RowsTakenTogether, HaveTheSumsOfRowsOneByOne) {
  std::vector<Job> jobs;
  for (const Ints& axes : {Ints{0}, Ints{1}}) jobs.push_back(job({71, 61}, axes, DType::F64));
  for (const Ints& axes : {Ints{0}, Ints{1}, Ints{2}, Ints{0, 1}, Ints{0, 2}, Ints{1, 2}})
    jobs.push_back(job({7, 37, 29}, axes, DType::F64));
  const auto w = worst_disagreement(jobs);
  EXPECT_LE(w.distance, 1e-12) << w.name;
  const auto together = [](const Shape& shape) {
    const auto kernels = codegen::scheduled({job(shape, {1}, DType::F32).program}).entries[0]->kernels;
    return std::get<codegen::LoopNest>(kernels.at(0).what).tiling.together == 4;
  };
  EXPECT_TRUE(together({71, 61}));
  EXPECT_FALSE(together({9, 61})) << "few elements";
}

// Over positions and a few channels of a group: positions first, along rows of memory.
TEST(AxesApart, AreSummedOneAfterTheOther) {
  const Job  groups = job({3, 25, 2, 4}, {1, 3}, DType::F64);
  const auto w      = worst_disagreement({groups, job({2, 5, 2, 40}, {1, 3}, DType::F64)});
  EXPECT_LE(w.distance, 1e-12) << w.name;
  const auto is_by_columns = [](const Program& p) {
    const auto s     = codegen::scheduled({p});
    const auto first = std::get<codegen::LoopNest>(s.entries[0]->kernels.at(0).what);
    return first.tiling.form == codegen::Tiling::Form::Blocks;
  };
  const auto sums = [](const Shape& shape) {
    return trace({{DType::F32, shape}}, [](const Tensors& in) -> Tensors { return {sum(in[0], Ints{1, 3})}; }).program;
  };
  EXPECT_TRUE(is_by_columns(sums({3, 25, 2, 4})));
  EXPECT_FALSE(is_by_columns(sums({3, 25, 2, 40}))) << "the last axis is a vector of its own";
}

// Many rows of few columns: terms are interleaved, so that none waits for the previous one.
TEST(NarrowSums, AreThoseOfTheInterpreter) {
  const auto sums = [](const Shape& shape, DType dtype) {
    const Shape rows(shape.begin(), shape.end() - 1);
    const Types types{{dtype, shape}, {dtype, rows}};
    const auto  axis = static_cast<int64_t>(rows.size()) - 1;
    Job         j;
    j.name    = to_string(shape);
    j.program = trace(types, [&](const Tensors& in) -> Tensors {
                  return {sum(in[0] * broadcast_axes(in[1], shape, counted(0, axis + 1)), Ints{axis})};
                }).program;
    Rng rng(4);
    for (const Type& t : types) j.args.push_back(random_array(rng, t));
    return j;
  };
  std::vector<Job> jobs;
  for (const Shape& shape : {Shape{64, 1}, Shape{1001, 2}, Shape{3, 2085, 3}, Shape{5000, 4}, Shape{70, 5}})
    jobs.push_back(sums(shape, DType::F64));
  const auto w = worst_disagreement(jobs);
  EXPECT_LE(w.distance, 1e-11) << w.name;
  const auto form = [&](const Shape& shape) {
    const auto s = codegen::scheduled({sums(shape, DType::F32).program});
    return std::get<codegen::LoopNest>(s.entries[0]->kernels.at(0).what).tiling.form;
  };
  EXPECT_EQ(form({1001, 2}), codegen::Tiling::Form::Lanes);
  EXPECT_EQ(form({1001, 5}), codegen::Tiling::Form::Blocks) << "columns are a vector";
  EXPECT_EQ(form({40, 2}), codegen::Tiling::Form::Blocks) << "few terms";
}

}  // namespace braintrace
