// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/quoted.h"

#include <gtest/gtest.h>

namespace braintrace::exporting {
namespace {

TEST(Quoted, strings_hold_any_bytes) {
  EXPECT_EQ(c_string("a b"), "\"a b\"");
  EXPECT_EQ(c_string("x\", 0), system(\"y"), R"("x\", 0), system(\"y")");
  EXPECT_EQ(c_string("\\\n\x1b\xff"), R"("\\\012\033\377")");
  EXPECT_EQ(c_string("?\?/"), R"("\?\?/")");
}

TEST(Quoted, comments_do_not_end_early) {
  EXPECT_EQ(c_comment("rnn.W-1"), "rnn.W-1");
  EXPECT_EQ(c_comment("*/ int evil; /*"), "__ int evil; __");
  EXPECT_EQ(c_comment("a\\\nb\r"), "a__b_");
}

}  // namespace
}  // namespace braintrace::exporting
