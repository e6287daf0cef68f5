// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/warning.h"

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(Warning, GoesToStderrOrToTheHook) {
  testing::internal::CaptureStderr();
  warn("first");
  warn("first");  // said already
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: first\n");
  std::string heard;
  EXPECT_FALSE(set_warning_hook([&](const std::string& text) { heard += text; }));
  testing::internal::CaptureStderr();
  warn("second");
  EXPECT_TRUE(set_warning_hook({}));
  EXPECT_EQ(heard, "second");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Warning, OfOneTopicIsSaidOnce) {
  testing::internal::CaptureStderr();
  warn("file a", "files");
  warn("file b", "files");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: file a\n");
  std::string heard;
  set_warning_hook([&](const std::string& text, const std::string& topic) { heard += topic + ":" + text + ";"; });
  warn("file a", "files");
  warn("file b", "files");
  warn("of a model");
  set_warning_hook({});
  EXPECT_EQ(heard, "files:file a;files:file b;:of a model;");
}

}  // namespace
}  // namespace braintrace
