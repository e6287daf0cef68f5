// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cost.h"

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/special.h"

namespace braintrace::codegen {
namespace {

TEST(Work, FunctionsAreDearerThanSums) {
  const auto series_of = [](Tensor (*f)(const Tensor&)) {
    const Traced t = trace({{DType::F32, {100}}}, [&](const Tensors& in) -> Tensors { return {f(in[0])}; });
    return work_of(scheduled({t.program})).series;
  };
  for (const auto f : {tanh, exp, sigmoid, softplus, rsqrt, sqrt, reciprocal}) EXPECT_EQ(series_of(f), 100);
  for (const auto f : {neg, square, abs}) EXPECT_EQ(series_of(f), 0);
}

}  // namespace
}  // namespace braintrace::codegen
