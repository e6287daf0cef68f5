// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/nearest.h"

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(Nearest, FindsSwapsOmissionsAndOtherCase) {
  const std::vector<std::string> known = {"lstm", "gru", "D_RTRL", "ES_D_RTRL"};
  EXPECT_EQ(nearest("gur", known), "gru");
  EXPECT_EQ(nearest("GRU", known), "gru");
  EXPECT_EQ(nearest("d_rtlr", known), "D_RTRL");
  EXPECT_EQ(nearest("lsm", known), "lstm");
  EXPECT_EQ(nearest("esdrtrl", known), "ES_D_RTRL");
}

TEST(Nearest, SuggestsNothingForUnrelatedWords) {
  EXPECT_EQ(nearest("transformer", {"gru", "lstm"}), std::nullopt);
  EXPECT_EQ(nearest("nope", {"copy"}), std::nullopt);
  EXPECT_EQ(nearest("", {"gru"}), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(hint("transformer", {"gru"}), ".");
  EXPECT_EQ(hint("gur", {"gru"}), "; did you mean 'gru'?");
}

}  // namespace
}  // namespace braintrace
