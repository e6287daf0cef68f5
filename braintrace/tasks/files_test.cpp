// SPDX-License-Identifier: Apache-2.0
// What data files are asked for besides their parts: forecasts, weights of classes, lengths, rows that go on.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/task.h"
#include "tests/support/error_of.h"
#include "tests/support/wav.h"

namespace braintrace::tasks {

namespace {

using nlohmann::json;

std::string made_file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/files_test_" + name;
  std::ofstream(path) << text;
  return path;
}
std::string counted(int rows) {  // column x counts rows
  std::string text = "x\n";
  for (int i = 0; i < rows; ++i) text += std::to_string(i) + "\n";
  return text;
}
void expect_refused(const json& description, const std::string& phrase) {
  const std::string message = error_of([&] { make_task(description, 1); });
  EXPECT_NE(message.find(phrase), message.npos) << message;
}

TEST(Files, ForecastsAskForALaterRow) {
  json        j    = {{"type", "csv"}, {"file", made_file("ahead.csv", counted(43))},
                      {"inputs", "x"}, {"targets", "x"},
                      {"length", 10},  {"ahead", 3}};
  const auto  task = make_task(j, 1);
  const Batch b    = task->batch(Part::Train, 0, 3);
  EXPECT_EQ(task->facts().train_samples + task->facts().validation_samples, 4)
      << "the last three rows are targets only";
  EXPECT_EQ(task->facts().ahead, 3);
  for (int64_t k = 0; k < b.mask.size(); ++k) EXPECT_EQ(at(b.targets, k), at(b.inputs, k) + 3);

  const std::string two = "id,x\n1,0\n1,1\n1,2\n2,10\n2,11\n2,12\n2,13\n3,5\n";
  j                     = {{"type", "csv"},    {"file", made_file("two.csv", two)},
                           {"inputs", "x"},    {"targets", "x"},
                           {"sequence", "id"}, {"ahead", 1},
                           {"validation", 0.5}};
  EXPECT_EQ(make_task(j, 1)->facts().length, 3) << "sequences end one step earlier, and one of a single row is none";
}

// A target at every row, or only at the last one; `asked` is the older name of the field.
TEST(Files, TargetsAtEveryStepOrAtTheLast) {
  std::string rows = "id,x,y\n";
  for (int i = 0; i < 12; ++i) rows += std::to_string(i / 3) + ",0," + std::to_string(i) + "\n";
  const auto targets = [&](json more) {
    more.update({{"type", "csv"},
                 {"file", made_file("at.csv", rows)},
                 {"inputs", "x"},
                 {"targets", "y"},
                 {"sequence", "id"},
                 {"validation", 0.25}});
    const Batch b   = make_task(more, 1)->batch(Part::Train, 0, 3);
    double      sum = 0;
    for (int64_t k = 0; k < b.mask.size(); ++k) sum += at(b.mask, k);
    return sum;
  };
  EXPECT_EQ(targets(json::object()), 9);
  EXPECT_EQ(targets({{"target_at", "last"}}), 3);
  EXPECT_EQ(targets({{"asked", "last"}}), 3);
  EXPECT_THROW(targets({{"asked", "last"}, {"target_at", "last"}}), UserError);
}

TEST(Files, TablesNameClassesAndSequencesByText) {
  std::string rows = "who;x;\"kind, roughly\"\n";
  for (const char* who : {"p_7", "q, \"\"the\"\" second", "r"})
    for (int t = 0; t < 2; ++t) rows += fmt::format("\"{}\";{};{}\n", who, t, *who == 'p' ? "cat" : "\"a dog\"");
  json       j    = {{"type", "csv"},
                     {"file", made_file("named.csv", rows)},
                     {"inputs", json::array({"x"})},
                     {"targets", json::array({"kind, roughly"})},
                     {"sequence", "who"},
                     {"classes", {"a dog", "cat"}},
                     {"validation", 0.34}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(task->facts().train_samples, 2);
  EXPECT_EQ(task->facts().outputs, 2);
  EXPECT_EQ(task->facts().class_names[1], "cat");
  double     cats  = 0;
  const auto count = [&](Part part, int64_t size) {
    const Batch b = task->batch(part, 0, size);
    for (int64_t k = 0; k < 2 * size; ++k) cats += at(b.targets, k);
  };
  count(Part::Train, 2);
  count(Part::Validation, 1);
  EXPECT_EQ(cats, 2);

  j["classes"] = {"a dog", "cart"};
  expect_refused(j, "row 1, column 'kind, roughly': there is no class 'cat'; did you mean 'cart'");
  j["classes"] = 2;
  expect_refused(j, R"(Classes that are texts are listed: "classes": [")");
  j["inputs"] = json::array({"x", 3});
  expect_refused(j, "inputs: expected strings");
}

TEST(Files, BalancedClassesWeighAlikeInTraining) {
  std::string rows = "id,x,y\n";
  for (int i = 0; i < 40; ++i) rows += std::to_string(i) + ",0," + (i % 10 == 0 ? "1" : "0") + "\n";
  json                     j    = {{"type", "csv"},      {"file", made_file("rare.csv", rows)},
                                   {"inputs", "x"},      {"targets", "y"},
                                   {"sequence", "id"},   {"classes", 2},
                                   {"validation", 0.25}, {"class_weights", "balanced"}};
  const auto               task = make_task(j, 1);
  const Batch              b = task->batch(Part::Train, 0, 30), v = task->batch(Part::Validation, 0, 10);
  std::map<double, double> weight;
  for (int64_t k = 0; k < 30; ++k) weight[at(b.targets, k)] += at(b.mask, k);
  EXPECT_NEAR(weight[0], 15, 1e-4);
  EXPECT_NEAR(weight[1], 15, 1e-4);
  for (int64_t k = 0; k < 10; ++k) EXPECT_EQ(at(v.mask, k), 1) << "results are not weighted";
  j["class_weights"] = {1, 2.5};
  const Batch given  = make_task(j, 1)->batch(Part::Train, 0, 30);
  for (int64_t k = 0; k < 30; ++k) EXPECT_EQ(at(given.mask, k), at(given.targets, k) == 1 ? 2.5 : 1);
  j["class_weights"] = {1, 2, 3};
  expect_refused(j, "expected 2 numbers");
  j["class_weights"] = {1, 0};
  expect_refused(j, "expected positive numbers");
  j["class_weights"] = "balancd";
  expect_refused(j, "balanced");
}

// Lengths 1 … 64, most of them short.
std::string ragged() {
  std::string text = "@classLabel true a b\n@data\n";
  for (int i = 0; i < 64; ++i) {
    const int length = 1 + i * i / 64;
    for (int t = 0; t < length; ++t) text += (t ? "," : "") + std::to_string(i);
    text += i % 2 == 0 ? ":a\n" : ":b\n";
  }
  return text;
}

TEST(Files, BucketsPadLessAndShowEverySampleOnce) {
  json       j     = {{"type", "ts"}, {"file", made_file("ragged.ts", ragged())}, {"validation", 0.25}};
  const auto steps = [&](const Task& task, std::multiset<double>& seen) {
    int64_t out = 0;
    for (int64_t i = 0; i < 24; ++i) {  // two epochs of 48 samples
      const Batch b = task.batch(Part::Train, i, 4);
      out += b.mask.size();
      for (int64_t k = 0; k < b.mask.size(); ++k)
        if (at(b.mask, k) != 0) seen.insert(at(b.inputs, k));
    }
    return out;
  };
  std::multiset<double> plain, sorted;
  const int64_t         padded = steps(*make_task(j, 1), plain);
  j["buckets"]                 = 4;
  const auto    task           = make_task(j, 1);
  const int64_t less           = steps(*task, sorted);
  EXPECT_EQ(plain, sorted);
  EXPECT_LT(2 * less, padded + less) << padded << " steps without buckets, " << less << " with them";
  std::set<int64_t> lengths;
  for (int64_t i = 0; i < 12; ++i) lengths.insert(task->batch(Part::Train, i, 4).mask.shape()[0]);
  EXPECT_LE(lengths.size(), 4u);
  EXPECT_GE(lengths.size(), 3u);
}

TEST(Files, SeveralArraysSideBySide) {
  const std::string path = ::testing::TempDir() + "/files_test_several.npz";
  Array             a({DType::F32, {8, 2, 1}}), b({DType::F32, {8, 2, 2, 2}}), targets({DType::I32, {8}});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = float(i);
  for (int64_t i = 0; i < b.size(); ++i) b.mutable_data<float>()[i] = 100 + float(i);
  for (int64_t i = 0; i < 8; ++i) targets.mutable_data<int32_t>()[i] = int32_t(i % 2);
  write_npz(path, {{"a", a}, {"b", b}, {"targets", targets}, {"short", Array({DType::F32, {8, 1, 1}})}});
  json       j    = {{"type", "npz"}, {"file", path}, {"inputs", "a,b"}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(task->facts().input, (Shape{5}));
  const Batch x = task->batch(Part::Train, 0, 4);
  for (int64_t row = 0; row < 8; ++row)  // 100 + 4 i beside i
    for (int64_t k = 0; k < 4; ++k)
      EXPECT_EQ(at(x.inputs, row * 5 + 1 + k), 100 + 4 * at(x.inputs, row * 5) + double(k));
  j["inputs"] = "a,short";
  expect_refused(j, "the same N and T");
  j["inputs"] = "a,";
  expect_refused(j, "has no array ''");
}

TEST(Files, SoundAsBandsOrAsSamples) {
  const std::string folder = testing_support::tones(::testing::TempDir() + "/files_test_tones", 6);
  json              j      = {{"type", "wav"}, {"file", folder}, {"bands", 8}};
  const auto        bands  = make_task(j, 1);
  EXPECT_EQ(bands->facts().class_names, (std::vector<std::string>{"high", "low"}));
  EXPECT_EQ(bands->facts().input, (Shape{8}));
  EXPECT_EQ(bands->facts().length, 1 + (440 - 200) / 80);
  // the highest band tells the classes apart
  const Batch   b    = bands->batch(Part::Train, 0, 8);
  const int64_t last = bands->facts().length - 1;
  for (int64_t row = 0; row < 8; ++row) {
    const double low = at(b.inputs, row * 8), high = at(b.inputs, row * 8 + 6);
    const bool   short_one = at(b.mask, last * 8 + row) == 0;
    EXPECT_EQ(at(b.targets, (short_one ? last - 1 : last) * 8 + row), low > high ? 1 : 0);
  }
  j.update({{"features", "samples"}, {"samples", 50}});
  const auto samples = make_task(j, 1);
  EXPECT_EQ(samples->facts().input, (Shape{50}));
  EXPECT_EQ(samples->facts().length, 9);  // the last of 440 samples and silence
  j["file"] = ::testing::TempDir() + "/files_test_tones/low";
  EXPECT_NE(error_of([&] { make_task(j, 1); }).find("a folder of .wav files for every class"), std::string::npos);
  j["file"] = made_file("no_folder.csv", "x");
  EXPECT_NE(error_of([&] { make_task(j, 1); }), "");
  j.update({{"file", folder}, {"features", "bands"}, {"hop_ms", 0}});
  EXPECT_NE(error_of([&] { make_task(j, 1); }).find("hop_ms"), std::string::npos);
}

// Rows go on from batch to batch, each through a stretch of its own.
TEST(Files, ContiguousRowsGoOn) {
  json       j    = {{"type", "csv"},     {"file", made_file("long.csv", counted(100))},
                     {"inputs", "x"},     {"targets", "x"},
                     {"length", 5},       {"contiguous", true},
                     {"validation", 0.25}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(task->facts().train_samples, 15);
  for (int64_t i = 0; i < 9; ++i) {
    const Batch b = task->batch(Part::Train, i, 2), next = task->batch(Part::Train, i + 1, 2);
    const bool  around = (i + 1) % 7 == 0;  // ⌊15 / 2⌋ windows in a row
    for (int64_t row = 0; row < 2; ++row)
      EXPECT_EQ(at(next.inputs, row), around ? 35.0 * double(row) : at(b.inputs, 4 * 2 + row) + 1) << i;
  }
  // The five windows of the validation part fill two rows of three, with one left.
  double asked = 0;
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 10; ++k) asked += at(task->batch(Part::Validation, i, 2).mask, k);
  EXPECT_EQ(asked, 25);
  j["split"] = "random";
  expect_refused(j, "contiguous pieces need a chronological one");
}

TEST(Files, TextIsDividedAndMayGoOn) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + i % 20);
  json j = {
      {"type", "char_lm"}, {"file", made_file("text.txt", text)}, {"length", 10}, {"contiguous", true}, {"test", 0.1}};
  const auto task = make_task(j, 1);
  EXPECT_EQ(task->facts().train_samples, 31);  // (320 - 1) / 10
  EXPECT_EQ(task->facts().validation_samples, 3);
  EXPECT_EQ(task->facts().test_samples, 3);
  const Batch b = task->batch(Part::Train, 0, 3), next = task->batch(Part::Train, 1, 3);
  for (int64_t row = 0; row < 3; ++row)
    EXPECT_EQ(at(next.inputs, row * 20 + static_cast<int64_t>(at(b.targets, 9 * 3 + row))), 1) << row;
  j["test"] = 0.95;
  expect_refused(j, "no text is left for training");
}

TEST(Files, ATableMayLackTargetsWhereTheyAreOptional) {
  json j = {{"type", "csv"}, {"file", made_file("unlabeled.csv", counted(20))},
            {"inputs", "x"}, {"targets", "y"},
            {"length", 5},   {"classes", 3}};
  expect_refused(j, "there is no column 'y'");
  j["targets_optional"] = true;
  const Batch b         = make_task(j, 1)->batch(Part::Train, 0, 2);
  for (int64_t k = 0; k < b.mask.size(); ++k) EXPECT_EQ(at(b.mask, k) + at(b.targets, k), 1) << "asked, with no answer";
}

TEST(Files, SeriesHaveClassesByName) {
  const std::string head = "@classLabel true up down\n@data\n";
  json              j    = {{"type", "ts"},
                            {"file", made_file("train.ts", head + "1,2,3:up\n3,2:down\n1,2:up\n5,4:down\n")},
                            {"test_file", made_file("test.ts", head + "7,8,9,10:up\n")},
                            {"validation", 0.5}};
  const auto        task = make_task(j, 1);
  EXPECT_EQ(task->facts().class_names, (std::vector<std::string>{"up", "down"}));
  const Batch b = task->batch(Part::Test, 0, 1);
  EXPECT_EQ(b.inputs.shape(), (Shape{4, 1, 1}));
  for (int64_t t = 0; t < 4; ++t) {
    EXPECT_EQ(at(b.inputs, t), 7.0 + double(t));
    EXPECT_EQ(at(b.mask, t), t == 3 ? 1 : 0);
  }
  // What was found completes the description, as in a checkpoint.
  j["normalize"] = "standard";
  json again     = j;
  again.update(json::parse(make_task(j, 1)->facts().found));
  EXPECT_TRUE(again.contains("fitted"));
  EXPECT_EQ(make_task(again, 1)->facts().outputs, 2);
  j["test_file"] = made_file("other.ts", "@classLabel true up\n@data\n1:up\n");
  expect_refused(j, "expected the classes up, down");
}

}  // namespace

}  // namespace braintrace::tasks
