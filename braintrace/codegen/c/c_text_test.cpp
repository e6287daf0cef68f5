// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/c_text.h"

#include <gtest/gtest.h>

namespace braintrace::codegen {
namespace {

TEST(CText, strings_hold_any_bytes) {
  EXPECT_EQ(c_string("a b"), "\"a b\"");
  EXPECT_EQ(c_string("x\", 0), system(\"y"), R"("x\", 0), system(\"y")");
  EXPECT_EQ(c_string("\\\n\x1b\xff"), R"("\\\012\033\377")");
  EXPECT_EQ(c_string("?\?/"), R"("\?\?/")");
}

TEST(CText, comments_do_not_end_early) {
  EXPECT_EQ(c_comment("rnn.W-1"), "rnn.W-1");
  EXPECT_EQ(c_comment("*/ int evil; /*"), "__ int evil; __");
  EXPECT_EQ(c_comment("a\\\nb\r"), "a__b_");
}

TEST(CText, numbers_have_no_comma) {
  EXPECT_EQ(literal(DType::F32, -1.5), "-0x1.8p+0f");
  EXPECT_EQ(literal(DType::F64, 1e6), "0x1.e848p+19");
  EXPECT_EQ(literal(DType::I32, 1e6), "((int32_t)1000000LL)");
}

}  // namespace
}  // namespace braintrace::codegen
