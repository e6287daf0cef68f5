// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/expression.h"

#include <set>

#include <gtest/gtest.h>

#include "braintrace/ir/op.h"

namespace braintrace::codegen {
namespace {

// Every elementwise operation must have an expression or be listed here as computed by the host.
TEST(Scalar, ElementwiseOperationsHaveAnExpression) {
  const std::set<std::string_view> by_host = {"digamma", "erf_inv"};
  std::set<std::string_view>       without;
  int                              with = 0;
  for (const Op* op : all_ops()) {
    if (!op->is_elementwise() || op->expand) continue;
    const bool complete =
        (!op->scalar.real || !op->code.real.empty()) && (!op->scalar.integer || !op->code.integer.empty());
    if (!complete) without.insert(op->name);
    with += complete ? 1 : 0;
  }
  EXPECT_EQ(without, by_host);
  EXPECT_GT(with, 50);
}

TEST(Scalar, TypesDecideHowItIsComputed) {
  const Op& add = *find_op("add");
  EXPECT_EQ(expression(add, DType::F32, DType::F32, {"x", "y"}), "(x + y)");
  EXPECT_EQ(expression(*find_op("tanh"), DType::F32, DType::F32, {"x"}), "@bt_tanhf(x)");
  EXPECT_EQ(expression(add, DType::I32, DType::I32, {"x", "y"}), "((int32_t)(((int64_t)x) + ((int64_t)y)))");
  EXPECT_EQ(expression(add, DType::F16, DType::F16, {"x", "y"}),
            "@bt_load_f16(@bt_store_f16((((double)x) + ((double)y))))");
}

}  // namespace
}  // namespace braintrace::codegen
