// SPDX-License-Identifier: Apache-2.0
// Loops over time inside loops over time.
#include <gtest/gtest.h>

#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "tests/codegen/agreement.h"
#include "tests/support/near.h"

namespace braintrace {
namespace {

using testing_support::worst_disagreement;

// The inner loop's first result is the same in every step of the outer one, its second is not: it must stay inside.
TEST(NestedLoops, WhoseResultsVaryInPartStayInside) {
  const auto program = [](const Tensors& in) -> Tensors {
    const Tensor &start = in[0], &xs = in[1], &w = in[2];
    const auto    outer = [&](Tensor c, Tensor x) {
      const auto inner = [&](std::pair<Tensor, Tensor> at, Tensor v) {
        return std::pair(std::pair(0.5 * at.first + v, at.second + c * v), v);
      };
      const auto last = scan(inner, std::pair(zeros_like(c), c), w).first;
      return std::pair(0.9 * c + x + 0.1 * last.second, last.first + c);
    };
    const auto [last, all] = scan(outer, start, xs);
    return {last, all};
  };
  const Traced t = trace({{DType::F64, {}}, {DType::F64, {4}}, {DType::F64, {3}}}, program);
  const Arrays args{f64({0.3}, {}).array(), f64({1, -2, 0.5, 3}).array(), f64({0.2, 0.7, -0.4}).array()};
  EXPECT_LT(worst_disagreement({{"nested", t.program, {}, args}}).distance, 1e-14);
}

}  // namespace
}  // namespace braintrace
