// SPDX-License-Identifier: Apache-2.0
// Values that a loop over time stacks may overwrite an input that nothing else reads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/codegen/agreement.h"

namespace braintrace {
namespace {

using testing_support::Job;
using testing_support::worst_disagreement;

constexpr int64_t steps = 6, n = 24;

// a = x w; c_t = c_{t-1} / 2 + tanh a_t; y_t = c_t a_t; Σ_t y_tᵀ x_t, and Σ_t a_tᵀ x_t where a is needed afterwards.
Job job(int64_t batch, bool needed) {
  const Traced t = trace({{DType::F64, {steps, batch, n}}, {DType::F64, {n, n}}}, [&](const Tensors& in) -> Tensors {
    const Tensor a    = dot_general(in[0], in[1], {{2}, {0}, {}, {}});
    const auto   step = [](Tensor c, Tensor at) {
      const Tensor next = 0.5 * c + tanh(at);
      return std::pair(next, next * at);
    };
    const Tensor y = scan(step, zeros({batch, n}, DType::F64), a).second;
    Tensors      out{dot_general(y, in[0], {{0, 1}, {0, 1}, {}, {}})};
    if (needed) out.push_back(dot_general(a, in[0], {{0, 1}, {0, 1}, {}, {}}));
    return out;
  });
  Rng          rng(3);
  return {fmt::format("batch {}, needed {}", batch, needed),
          t.program,
          {},
          {random_array(rng, t.program.type(t.program.args[0])), random_array(rng, t.program.type(t.program.args[1]))}};
}

TEST(StackedRows, TakeThePlaceOfAnInputThatEnds) {
  std::vector<Job> jobs;
  for (const int64_t batch : {3, 32})  // rows together, and in parts
    for (const bool needed : {false, true}) {
      jobs.push_back(job(batch, needed));
      const int64_t arena = codegen::scheduled({jobs.back().program}).entries[0]->arena_bytes;
      const int64_t stack = steps * batch * n * 8;
      EXPECT_EQ(arena < 2 * stack, !needed) << jobs.back().name << ": " << arena;
    }
  EXPECT_LT(worst_disagreement(jobs).distance, 1e-12);
}

// y_t = tanh(c_t + x_t), c_{t+1} = v: what is carried on comes from outside, whole, so rows cannot go their own ways.
TEST(StackedRows, ACarryThatIsNotMadeOfRowsKeepsThemTogether) {
  constexpr int64_t batch = 32;
  const Traced      t =
      trace({{DType::F64, {steps, batch, n}}, {DType::F64, {batch, n}}, {DType::F64, {n, n}}},
            [&](const Tensors& in) -> Tensors {
              const auto step = [&](Tensor c, Tensor x) { return std::pair(in[1], tanh(dot(c, in[2]) + x)); };
              const auto r    = scan(step, zeros({batch, n}, DType::F64), in[0]);
              return {r.first, r.second};
            });
  Rng rng(4);
  Job one{"carry from outside", t.program, {}, {}};
  for (Var v : t.program.args) one.args.push_back(random_array(rng, t.program.type(v)));
  EXPECT_LT(worst_disagreement({one}).distance, 1e-12);
}

}  // namespace
}  // namespace braintrace
