// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/path.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
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

TEST(Path, PrintsWithFmtAndStreams) {
  const std::vector<Path> paths = {{"layers", "0", "h"}, {"out"}};
  EXPECT_EQ(fmt::format("{}", paths[0]), "layers.0.h");
  EXPECT_EQ(fmt::format("{}", fmt::join(paths, " ")), "layers.0.h out");
  std::ostringstream out;
  out << paths[0];
  EXPECT_EQ(out.str(), "layers.0.h");
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
