// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/c_text.h"

#include <gtest/gtest.h>

namespace braintrace::codegen {
namespace {

TEST(CText, numbers_have_no_comma) {
  EXPECT_EQ(literal(DType::F32, -1.5), "-0x1.8p+0f");
  EXPECT_EQ(literal(DType::F64, 1e6), "0x1.e848p+19");
  EXPECT_EQ(literal(DType::I32, 1e6), "((int32_t)1000000LL)");
}

}  // namespace
}  // namespace braintrace::codegen
