// SPDX-License-Identifier: Apache-2.0
// Data sets in files: who goes into which part, what missing cells become, how inputs are scaled.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/task.h"
#include "tests/support/error_of.h"

namespace braintrace::tasks {

namespace {

using nlohmann::json;

std::string file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/split_test_" + name;
  std::ofstream(path) << text;
  return path;
}

void expect_error(const json& description, const std::string& phrase) {
  const std::string message = error_of([&] { make_task(description, 1); });
  EXPECT_NE(message.find(phrase), message.npos) << message;
}

// Column x counts rows.
std::string series(int rows) {
  std::string text = "day,x,y\n";
  for (int i = 0; i < rows; ++i) text += "day " + std::to_string(i) + "," + std::to_string(i) + ",1\n";
  return text;
}

// The first inputs of all sequences of a part, in order.
std::vector<double> starts(const Task& task, Part part) {
  const int64_t       N = task.facts().samples(part);
  const Batch         b = task.batch(part, 0, N);
  std::vector<double> out;
  for (int64_t i = 0; i < N; ++i) out.push_back(at(b.inputs, i * b.inputs.size() / (b.mask.shape()[0] * N)));
  if (part != Part::Test) std::sort(out.begin(), out.end());
  return out;
}

TEST(Split, PiecesOfASeriesNeverShowTheFuture) {
  json       j    = {{"type", "csv"}, {"file", file("series.csv", series(100))},
                     {"inputs", "x"}, {"targets", "y"},
                     {"length", 10},  {"validation", 0.2},
                     {"test", 0.1}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(starts(*task, Part::Train), (std::vector<double>{0, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(starts(*task, Part::Validation), (std::vector<double>{70, 80}));
  EXPECT_EQ(starts(*task, Part::Test), (std::vector<double>{90}));

  j["split"]         = "random";
  const auto  other  = make_task(j, 1);
  const auto  early  = starts(*other, Part::Train);
  std::size_t number = early.size();
  EXPECT_EQ(number, 7u);
  EXPECT_NE(early, starts(*task, Part::Train));

  j["split"] = "stratified";
  expect_error(j, "stratified needs classes");
  j["split"] = "chronologic";
  expect_error(j, "chronological");
  j["split"] = "auto";
  j["test"]  = 0.9;
  expect_error(j, "more than all");
  j["test"] = 0.1;
  for (double nothing : {0.01, 0.}) {
    j["validation"] = nothing;
    expect_error(j, "leaves one part empty");
  }
}

// 40 sequences, one in ten of class 1.
json rare(const std::string& name) {
  Array inputs({DType::F32, {40, 2, 1}}), targets({DType::I32, {40}});
  for (int64_t i = 0; i < 80; ++i) inputs.mutable_data<float>()[i] = float(i / 2);
  for (int64_t i = 0; i < 40; ++i) targets.mutable_data<int32_t>()[i] = i >= 36;
  const std::string path = ::testing::TempDir() + "/split_test_" + name;
  write_npz(path, {{"inputs", inputs}, {"targets", targets}});
  return {{"type", "npz"}, {"file", path}, {"validation", 0.25}};
}

TEST(Split, EveryClassHasItsShareInEachPart) {
  json j                       = rare("rare.npz");
  j["test"]                    = 0.25;
  const auto              task = make_task(j, 1);
  std::map<Part, int64_t> of_class_1;
  std::set<double>        seen;
  for (Part part : {Part::Train, Part::Validation, Part::Test})
    for (double i : starts(*task, part)) {
      of_class_1[part] += i >= 36;
      EXPECT_TRUE(seen.insert(i).second) << "sequence " << i << " is in two parts";
    }
  EXPECT_EQ(seen.size(), 40u);
  EXPECT_EQ(of_class_1, (std::map<Part, int64_t>{{Part::Train, 2}, {Part::Validation, 1}, {Part::Test, 1}}));
  EXPECT_TRUE(task->facts().warnings.empty());
}

TEST(Split, AClassThatAPartNeverAsksForIsNamed) {
  json j     = rare("rare.npz");
  j["split"] = "chronological";
  j["file"]  = j["file"].get<std::string>();
  EXPECT_TRUE(make_task(j, 1)->facts().warnings.empty()) << "the training part has no class 1 to miss";
  // All of class 1 comes first when the training part is the end of the file.
  Array inputs({DType::F32, {10, 1, 1}}), targets = Array::of<int32_t>({1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, {10});
  write_npz(j["file"], {{"inputs", inputs}, {"targets", targets}});
  const auto warnings = make_task(j, 1)->facts().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("validation part has no target of class 1"), std::string::npos) << warnings[0];
}

TEST(Split, PartsFromFilesOfTheirOwn) {
  const json j    = {{"type", "csv"},
                     {"file", file("train.csv", series(40))},
                     {"validation_file", file("validation.csv", series(30))},
                     {"test_file", file("test.csv", series(20))},
                     {"inputs", "x"},
                     {"targets", "y"},
                     {"length", 10}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(task->facts().train_samples, 4);
  EXPECT_EQ(task->facts().validation_samples, 3);
  EXPECT_EQ(starts(*task, Part::Test), (std::vector<double>{0, 10}));
  json without = j;
  without.erase("test_file");
  EXPECT_FALSE(make_task(without, 1)->facts().has_test);
  const std::string message = error_of([&] { make_task(without, 1)->batch(Part::Test, 0, 1); });
  EXPECT_NE(message.find("no test part"), message.npos) << message;
  json wrong         = rare("rare.npz");
  wrong["test_file"] = ::testing::TempDir() + "/split_test_wide.npz";
  write_npz(wrong["test_file"], {{"inputs", Array({DType::F32, {4, 2, 3}})}, {"targets", Array({DType::I32, {4}})}});
  expect_error(wrong, "as in the training file; found [3]");
}

json with_gaps(const std::string& way) {
  return {{"type", "csv"}, {"file", file("gaps.csv", "x,y\n1,1\n3,1\n,2\n5,2\n7,NA\n8,3\n9,3\n9,3\n")},
          {"inputs", "x"}, {"targets", "y"},
          {"length", 2},   {"validation", 0.25},
          {"missing", way}};
}

TEST(Missing, EveryPolicyDoesWhatItSays) {
  expect_error(with_gaps("error"), "row 3, column 'x'");
  EXPECT_EQ(make_task(with_gaps("skip"), 1)->facts().train_samples, 1);
  for (const auto& [way, filled] : std::map<std::string, double>{{"zero", 0}, {"mean", (1 + 3 + 5 + 7 + 8) / 5.}}) {
    const auto  task = make_task(with_gaps(way), 1);
    const Batch b    = task->batch(Part::Train, 0, 3);
    int         seen = 0;
    for (int64_t i = 0; i < 3; ++i) {
      if (at(b.inputs, 3 + i) == 5) seen += at(b.inputs, i) == float(filled) && at(b.mask, i) == 1;
      if (at(b.inputs, 3 + i) == 8) seen += at(b.inputs, i) == 7 && at(b.mask, i) == 0 && at(b.mask, 3 + i) == 1;
    }
    EXPECT_EQ(seen, 2) << way << ": an input is filled in, a target is not asked for";
  }
  Array inputs({DType::F32, {4, 2, 3}}), targets({DType::I32, {4}});
  inputs.mutable_data<float>()[6 + 3 + 2] = NAN;
  json j                                  = rare("nan.npz");
  write_npz(j["file"], {{"inputs", inputs}, {"targets", targets}});
  expect_error(j, "sequence 1, step 1, input 2: the number is missing");
}

TEST(Normalize, IsFittedOnTheTrainingPartAlone) {
  json       j    = {{"type", "csv"},          {"file", file("scale.csv", series(100))},
                     {"inputs", "x,y"},        {"targets", "y"},
                     {"length", 10},           {"validation", 0.5},
                     {"normalize", "standard"}};
  const auto task = make_task(j, 1);
  Batch      b    = task->batch(Part::Train, 0, 5);
  double     sum = 0, squares = 0;
  for (int64_t i = 0; i < 100; i += 2) {
    sum += at(b.inputs, i);
    squares += std::pow(at(b.inputs, i), 2);
    EXPECT_EQ(at(b.inputs, i + 1), 0) << "an input that never changes";
  }
  EXPECT_NEAR(sum / 50, 0, 1e-6);
  EXPECT_NEAR(squares / 50, 1, 1e-6);
  EXPECT_EQ(at(b.targets, 0), 1) << "targets stay as they are";
  EXPECT_GT(at(task->batch(Part::Validation, 0, 1).inputs, 0), 1.7) << "what comes later lies outside";

  j["normalize"]    = "minmax";
  const auto scaled = make_task(j, 1);
  b                 = scaled->batch(Part::Train, 0, 5);
  std::set<double> seen;
  for (int64_t i = 0; i < 100; i += 2) seen.insert(at(b.inputs, i));
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 1);

  // The numbers that were found scale another file in the same way.
  json other = j;
  other.update(json::parse(scaled->facts().found));
  other["file"] = file("later.csv", "x,y\n49,2\n98,2\n");
  other.update({{"length", 1}, {"validation", 0}, {"test", 1}});
  EXPECT_EQ(starts(*make_task(other, 1), Part::Test), (std::vector<double>{1, 2}));
  other["fitted"]["scale"] = json::array({0, 1});
  expect_error(other, "positive");
  other["fitted"]["scale"] = json::array({1});
  expect_error(other, "2 numbers");
}

}  // namespace

}  // namespace braintrace::tasks
