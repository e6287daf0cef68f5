// SPDX-License-Identifier: Apache-2.0
#include "braintrace/data/series.h"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace braintrace::data {
namespace {

std::string made(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/series_test_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}
void expect_refused(const std::string& name, const std::string& text, const std::string& phrase) {
  const std::string message = error_of([&] { read_series(made(name, text)); });
  EXPECT_NE(message.find(phrase), message.npos) << message;
}

const std::string head = "# about\r\n@problemName P\r\n@classLabel true walk run\r\n@data\r\n";

TEST(SeriesFile, TsHoldsDimensionsOfDifferingLength) {
  const SeriesFile f = read_series(made("a.ts", "\xEF\xBB\xBF" + head + "1,2,3:4,5,?:run\r\n6:7:walk\r\n"));
  EXPECT_EQ(f.dimensions, 2);
  EXPECT_EQ(f.classes, (std::vector<std::string>{"walk", "run"}));
  ASSERT_EQ(f.series.size(), 2u);
  EXPECT_EQ(f.series[0].label, 1);
  EXPECT_EQ(f.length(f.series[0]), 3);
  EXPECT_EQ((std::vector<float>{f.series[0].values.begin(), f.series[0].values.begin() + 5}),
            (std::vector<float>{1, 4, 2, 5, 3}));
  EXPECT_TRUE(std::isnan(f.series[0].values[5]));
  EXPECT_EQ(f.series[1].values, (std::vector<float>{6, 7}));
  EXPECT_EQ(f.series[1].line, 6);
}

TEST(SeriesFile, TimesAreLeftOutAndLabelsMayBeNumbers) {
  const SeriesFile f = read_series(made(
      "b.ts", "@timeStamps true\n@targetlabel true\n@data\n(2007-01-01 00:01:00,1.5),(2007-01-01 00:02:00,2):-3\n"));
  EXPECT_TRUE(f.classes.empty());
  EXPECT_EQ(f.series[0].values, (std::vector<float>{1.5, 2}));
  EXPECT_EQ(f.series[0].value, -3);
}

TEST(SeriesFile, ArffOfOneAndOfSeveralDimensions) {
  const SeriesFile one =
      read_series(made("a.arff", "@relation r\n@attribute t0 numeric\n@attribute class {1,2}\n@data\n1,2,2\n3,4,1\n"));
  EXPECT_EQ(one.classes, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(one.series[0].label, 1);
  EXPECT_EQ(one.series[0].values, (std::vector<float>{1, 2}));
  const SeriesFile two = read_series(made(
      "b.arff",
      "@attribute rel relational\n@attribute t0 numeric\n@end rel\n@attribute class {x,y}\n@data\n'1,2\\n3,4',y\n"));
  EXPECT_EQ(two.dimensions, 2);
  EXPECT_EQ(two.series[0].values, (std::vector<float>{1, 3, 2, 4}));
}

TEST(SeriesFile, TsvNamesItsClassesInOrder) {
  const SeriesFile f = read_series(made("a.tsv", "10\t0.5\t1\n2\t3\t4\n"));
  EXPECT_EQ(f.classes, (std::vector<std::string>{"2", "10"}));
  EXPECT_EQ(f.series[0].label, 1);
  EXPECT_EQ(f.series[1].values, (std::vector<float>{3, 4}));
}

TEST(SeriesFile, WhatIsNotAsTheFormatSaysNamesItsLine) {
  expect_refused("c.ts", head + "1,2\n", "line 5: expected values and a label");
  expect_refused("d.ts", head + "1,b:run\n", "line 5: expected a number, found 'b'");
  expect_refused("e.ts", head + "1:2:run\n1:run\n", "line 6: expected 2 dimensions, found 1");
  expect_refused("f.ts", head + "1,2:3:run\n", "dimension 1 has 1 values, dimension 0 has 2");
  expect_refused("g.ts", head + "1:fly\n", "expected one of the classes walk, run, found 'fly'");
  expect_refused("h.ts", head, "there is no series");
  expect_refused("i.ts", "@data\n1:2\n", "expected @classLabel");
  expect_refused("c.arff", "@data\n1,2\n", "there is no attribute {A,B}");
  expect_refused("a.xyz", "1", "expected a name that ends in .ts, .arff or .tsv");
}

}  // namespace
}  // namespace braintrace::data
