// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/path.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(Path, TextForms) {
  const Path p{"layers", "0", "h"};
  EXPECT_EQ(p.str(), "layers.0.h");
  EXPECT_EQ(p.tuple(), "('layers', 0, 'h')");
  EXPECT_EQ(Path{"h"}.tuple(), "('h',)");
  EXPECT_EQ(Path::dotted("layers.0.h"), p);
  EXPECT_EQ(Path{"layers"} / "0" / "h", p);
}

TEST(Path, ListPositionsAreOrderedByNumber) {
  std::vector<Path> paths = {{"layers", "10", "w"}, {"out"}, {"layers", "2", "w"}, {"layers", "9"}, {"layers", "bias"}};
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const Path& p : paths) texts.push_back(p.str());
  EXPECT_EQ(texts, (std::vector<std::string>{"layers.2.w", "layers.9", "layers.10.w", "layers.bias", "out"}));
  EXPECT_LT(Path({"a"}), Path({"a", "b"}));
  EXPECT_NE(Path({"1"}), Path({"01"}));
  EXPECT_NE(Path({"1"}) <=> Path({"01"}), std::strong_ordering::equal);
}

}  // namespace
}  // namespace braintrace
