// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/shell_word.h"

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(ShellWord, QuotesOnlyWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("runs/a-1.json"), "runs/a-1.json");
  EXPECT_EQ(shell_word("output=runs/b"), "output=runs/b");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("é"), "'é'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace braintrace
