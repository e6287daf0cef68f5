// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/c_text.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "braintrace/codegen/c/dialect.h"

namespace braintrace::codegen {
namespace {

TEST(CText, numbers_have_no_comma) {
  EXPECT_EQ(literal(DType::F32, -1.5), "-0x1.8p+0f");
  EXPECT_EQ(literal(DType::F64, 1e6), "0x1.e848p+19");
  EXPECT_EQ(literal(DType::I32, 1e6), "((int32_t)1000000LL)");
}

TEST(CText, ArraysAreWrapped) {
  const std::string  text = array_text("a", Array::of<double>(std::vector<double>(40, 1. / 3), {40}));
  std::istringstream lines(text);
  size_t             longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  EXPECT_LE(longest, 112u) << text;
  EXPECT_GT(longest, 80u) << text;
}

}  // namespace
}  // namespace braintrace::codegen
