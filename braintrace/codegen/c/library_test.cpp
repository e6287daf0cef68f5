// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/library.h"

#include <gtest/gtest.h>

#include "braintrace/base/error.h"

namespace braintrace::codegen {
namespace {

TEST(Library, HoldsWhatIsCalled) {
  Library library;
  EXPECT_EQ(library.text(), "");
  EXPECT_EQ(library.linked("@v7[i] = @bt_sigmoidf(@v3[i]);", {{"v7", "y"}, {"v3", "x"}}), "y[i] = bt_sigmoidf(x[i]);");
  EXPECT_EQ(library.linked("@v7[i]"), "v7[i]");
  const std::string text = library.text();
  EXPECT_NE(text.find("static inline float bt_sigmoidf("), text.npos);
  EXPECT_LT(text.find("bt_expf("), text.find("bt_sigmoidf("));  // what it calls stands before it
  EXPECT_EQ(text.find("bt_tanhf"), text.npos);
  EXPECT_EQ(text.find("bt_draw"), text.npos);
}

TEST(Library, TypesStandBeforeTheFunctionsThatUseThem) {
  Library library;
  library.linked("@bt_normal(key, i)");
  const std::string text = library.text("static __device__");
  EXPECT_LT(text.find("} bt_words;"), text.find("static __device__ inline bt_words bt_draw("));
  EXPECT_EQ(text.find("static inline"), text.npos);
}

TEST(Library, KnowsEveryPlaceholder) {
  EXPECT_THROW(Library().linked("@bt_sigmod(@v0[i])", {{"v0", "x"}}), InternalError);
}

}  // namespace
}  // namespace braintrace::codegen
