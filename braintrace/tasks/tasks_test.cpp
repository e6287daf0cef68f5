// SPDX-License-Identifier: Apache-2.0
// What holds for every task type: shapes and types, purity, streams that differ, samples that do not depend on the
// batch they are in; and which errors wrong descriptions give.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/sample.h"
#include "tests/support/error_of.h"
#include "tests/support/wav.h"

namespace braintrace::tasks {

namespace {

std::string written_npz() {
  const std::string path = ::testing::TempDir() + "/tasks_test.npz";
  Random            random(1, Part::Train, 0);
  Array             inputs({DType::F32, {40, 6, 3}}), targets({DType::I32, {40}});
  for (int64_t i = 0; i < inputs.size(); ++i) inputs.mutable_data<float>()[i] = float(random.normal());
  for (int64_t i = 0; i < 40; ++i) targets.mutable_data<int32_t>()[i] = int32_t(i % 4);
  write_npz(path, {{"inputs", inputs}, {"targets", targets}});
  return path;
}
std::string written_csv() {
  const std::string path = ::testing::TempDir() + "/tasks_test.csv";
  std::ofstream     out(path);
  out << "a,b,c\n";
  for (int row = 0; row < 200; ++row) out << row << "," << 0.5 * row << "," << row % 7 << "\n";
  return path;
}
std::string written_ts() {
  const std::string path = ::testing::TempDir() + "/tasks_test.ts";
  std::ofstream     out(path);
  out << "@classLabel true a b c\n@data\n";
  for (int i = 0; i < 60; ++i)
    out << i << "," << i % 7 << "," << i % 5 << ":"
        << "abc"[i % 3] << "\n";
  return path;
}

// Defaults; types that read files make up their data, or read what the test has written.
std::string description(const TaskType& type) {
  nlohmann::json j{{"type", type.name}};
  for (const zoo::FieldSpec& f : zoo::field_specs(type.fields))
    if (f.name == "synthetic")
      j["synthetic"] = true;
    else if (f.name == "bins")
      j["bins"] = 5;
  if (type.name == "npz") j["file"] = written_npz();
  if (type.name == "ts") j["file"] = written_ts();
  if (type.name == "wav") j["file"] = testing_support::tones(::testing::TempDir() + "/tasks_test_tones", 10);
  if (type.name == "csv") j.update({{"file", written_csv()}, {"inputs", "a,b"}, {"targets", "c"}, {"length", 5}});
  return j.dump();
}

bool all_equal(const Batch& a, const Batch& b) {
  return identical(a.inputs, b.inputs) && identical(a.targets, b.targets) && identical(a.mask, b.mask);
}

double sum(const Array& a) {
  double total = 0;
  for (int64_t i = 0; i < a.size(); ++i) total += at(a, i);
  return total;
}

void expect_refused(const std::string& text, std::initializer_list<const char*> phrases) {
  const std::string message = error_of([&] { make_task(text, 1); });
  for (const char* p : phrases) EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
}

TEST(Tasks, ShapesTypesAndRanges) {
  std::set<std::string> names;
  for (const TaskType& type : task_types()) {
    SCOPED_TRACE(type.name);
    EXPECT_TRUE(names.insert(type.name).second);
    EXPECT_FALSE(type.doc.empty());
    const auto       task = make_task(description(type), 7);
    const TaskFacts& f    = task->facts();
    for (Part part : {Part::Train, Part::Validation}) {
      const int64_t B     = 2;
      const Batch   batch = task->batch(part, 0, B);
      Shape         inputs{f.length, B};
      inputs.insert(inputs.end(), f.input.begin(), f.input.end());
      EXPECT_EQ(batch.inputs.type(), (Type{DType::F32, inputs}));
      EXPECT_EQ(batch.mask.type(), (Type{DType::F32, {f.length, B}}));
      EXPECT_GT(sum(batch.mask), 0);
      EXPECT_NE(sum(batch.inputs), 0);
      if (f.targets == TargetKind::Values) {
        EXPECT_EQ(batch.targets.type(), (Type{DType::F32, {f.length, B, f.outputs}}));
        continue;
      }
      EXPECT_EQ(batch.targets.type(), (Type{DType::I32, {f.length, B}}));
      EXPECT_TRUE(f.class_names.empty() || std::ssize(f.class_names) == f.outputs);
      for (int64_t i = 0; i < batch.targets.size(); ++i) {
        EXPECT_GE(at(batch.targets, i), 0);
        EXPECT_LT(at(batch.targets, i), double(f.outputs));
      }
    }
  }
  EXPECT_GE(names.size(), 20u);
}

TEST(Tasks, ABatchIsAFunctionOfSeedPartAndIndex) {
  for (const TaskType& type : task_types()) {
    SCOPED_TRACE(type.name);
    const auto task = make_task(description(type), 7), same = make_task(description(type), 7);
    const auto other_seed = make_task(description(type), 8), high_seed = make_task(description(type), 7 + (1ull << 32));
    const int64_t B     = 4;
    const Batch   later = task->batch(Part::Train, 3, B), first = task->batch(Part::Train, 0, B);
    EXPECT_TRUE(all_equal(first, same->batch(Part::Train, 0, B)));
    EXPECT_TRUE(all_equal(later, same->batch(Part::Train, 3, B)));
    for (const Batch& other : {later, task->batch(Part::Validation, 0, B), other_seed->batch(Part::Train, 0, B),
                               high_seed->batch(Part::Train, 0, B)})
      EXPECT_FALSE(identical(first.inputs, other.inputs));
    // Two batches of two are one batch of four.
    const Batch left = task->batch(Part::Train, 0, 2), right = task->batch(Part::Train, 1, 2);
    const auto  width = first.inputs.size() / (task->facts().length * B);
    for (int64_t t = 0; t < task->facts().length; ++t)
      for (int64_t i = 0; i < 2 * width; ++i) {
        ASSERT_EQ(at(first.inputs, t * B * width + i), at(left.inputs, t * 2 * width + i));
        ASSERT_EQ(at(first.inputs, t * B * width + 2 * width + i), at(right.inputs, t * 2 * width + i));
      }
  }
}

TEST(Tasks, EveryClassIsAsked) {
  for (const TaskType& type : task_types()) {
    SCOPED_TRACE(type.name);
    const auto task = make_task(description(type), 7);
    if (task->facts().targets != TargetKind::Classes || task->facts().outputs > 11) continue;
    std::set<double> seen;
    for (int64_t i = 0; i < 12 && std::ssize(seen) < task->facts().outputs; ++i) {
      const Batch batch = task->batch(Part::Train, i, 8);
      for (int64_t j = 0; j < batch.mask.size(); ++j)
        if (at(batch.mask, j) > 0) seen.insert(at(batch.targets, j));
    }
    const bool blank_and_cue_are_never_asked = type.name == "copy";
    EXPECT_EQ(std::ssize(seen), task->facts().outputs - (blank_and_cue_are_never_asked ? 2 : 0));
  }
}

TEST(Tasks, WrongDescriptionsAreRefused) {
  expect_refused("[1]", {"task", "object", "[1]"});
  expect_refused("{", {"task", "not JSON"});
  expect_refused(R"({"lag": 3})", {"task.type", "copy"});
  expect_refused(R"({"type": "copi"})", {"task.type", "'copi'", "did you mean 'copy'"});
  expect_refused(R"({"type": "copy", "lagg": 3})", {"task.lagg", "did you mean 'lag'", "lag = 10"});
  expect_refused(R"({"type": "copy", "lag": 0})", {"task.lag", "positive", "0"});
  expect_refused(R"({"type": "copy", "lag": "3"})", {"task.lag", "whole number"});
  expect_refused(R"({"type": "copy", "lag": 5000000000000})", {"task.lag", "too large"});
  expect_refused(R"({"type": "copy", "lag": 900000000})", {"task", "too large", "900000020 steps"});
  expect_refused(R"({"type": "adding", "length": 1})", {"task.length", "at least 2"});
  expect_refused(R"({"type": "working_memory", "shown": 1.5})", {"task.shown", "0 to 1", "1.5"});
  expect_refused(R"({"type": "integrator", "dt": -1})", {"task.dt", "positive", "-1"});
  expect_refused(R"({"type": "dms", "rate_hz": 2000})", {"task.rate_hz", "2 spikes in a step"});
  expect_refused(R"({"type": "dms", "channels": 1})", {"task.channels", "at least 2"});
  expect_refused(R"({"type": "dms", "active": 17})", {"task.active", "17 of 16"});
  expect_refused(R"({"type": "dms_full", "directions": 1})", {"task.directions", "at least 2"});
  expect_refused(R"({"type": "dms_full", "sample_ms": 0.1})", {"task.sample_ms", "0 steps"});
  expect_refused(R"({"type": "evidence", "cues": 6})", {"task.cues", "tie"});
  expect_refused(R"({"type": "char_lm", "text": "storry"})", {"task.text", "did you mean 'story'"});
  expect_refused(R"({"type": "char_lm", "length": 100})", {"task.length", "validation part of the text"});
  expect_refused(R"({"type": "char_lm", "file": "/no/such/file"})", {"/no/such/file"});
  expect_refused(R"({"type": "spiking_digits", "classes": 11})", {"task.classes", "10 digits"});
  expect_refused(R"({"type": "sequential_digits", "validation": 0})", {"task.validation", "one part empty"});
  expect_refused(R"({"type": "sequential_digits", "by": "rov"})", {"task.by", "did you mean 'row'"});
  expect_refused(R"({"type": "event_stream", "layout": "hw"})", {"task.layout", "chw, hwc, flat"});
  expect_refused(R"({"type": "event_stream", "height": 1})", {"task.height", "at least 2"});
  for (const char* type : {"nmnist", "dvs_gesture", "shd", "ssc", "mnist"}) {
    const std::string start = fmt::format(R"({{"type": "{}")", type);
    expect_refused(start + "}", {"task.folder", "synthetic"});
    expect_refused(start + R"(, "folder": "/no/such/folder"})", {"/no/such/folder"});
  }
}

TEST(Tasks, WrongBatchesAreRefused) {
  const auto task = make_task(R"({"type": "copy"})", 1);
  EXPECT_NE(error_of([&] { task->batch(Part::Train, -1, 4); }).find("batch -1 of size 4"), std::string::npos);
  EXPECT_NE(error_of([&] { task->batch(Part::Train, 0, 0); }).find("size 0"), std::string::npos);
  EXPECT_NE(error_of([&] { task->batch(Part::Train, 0, int64_t{1} << 40); }).find("smaller batch"), std::string::npos);
}

TEST(Random, MomentsAreThoseOfTheDistributions) {
  Random             random(3, Part::Train, 0);
  const int          n = 100000;
  double             u = 0, u2 = 0, g = 0, g2 = 0, g4 = 0, p = 0, p2 = 0, c = 0;
  std::array<int, 7> faces{};
  for (int i = 0; i < n; ++i) {
    const double x = random.uniform(), y = random.normal(), z = double(random.poisson(2.5));
    u += x, u2 += x * x, g += y, g2 += y * y, g4 += y * y * y * y, p += z, p2 += z * z;
    c += random.chance(0.08);
    ++faces[static_cast<size_t>(random.integer(7))];
  }
  // Six standard errors each.
  EXPECT_NEAR(u / n, 1.0 / 2, 6 * 0.289 / std::sqrt(n));
  EXPECT_NEAR(u2 / n, 1.0 / 3, 6 * 0.298 / std::sqrt(n));
  EXPECT_NEAR(g / n, 0, 6 / std::sqrt(n));
  EXPECT_NEAR(g2 / n, 1, 6 * 1.41 / std::sqrt(n));
  EXPECT_NEAR(g4 / n, 3, 6 * 9.8 / std::sqrt(n));
  EXPECT_NEAR(p / n, 2.5, 6 * 1.58 / std::sqrt(n));
  EXPECT_NEAR(p2 / n - p / n * (p / n), 2.5, 6 * 4 / std::sqrt(n));
  EXPECT_NEAR(c / n, 0.08, 6 * 0.271 / std::sqrt(n));
  for (int face : faces) EXPECT_NEAR(double(face) / n, 1.0 / 7, 6 * 0.35 / std::sqrt(n));
}

TEST(Permuted, IsAnOrderOfItsOwnPerEpochAndSeed) {
  for (int64_t n : {1, 2, 3, 10, 64, 100, 1797}) {
    std::vector<std::vector<int64_t>> orders;
    for (const auto& [seed, epoch] : {std::pair{1u, 0u}, {1u, 1u}, {2u, 0u}}) {
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n; ++i) order.push_back(permuted(i, n, seed, epoch));
      EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), static_cast<size_t>(n));
      EXPECT_GE(*std::min_element(order.begin(), order.end()), 0);
      EXPECT_LT(*std::max_element(order.begin(), order.end()), n);
      orders.push_back(order);
    }
    if (n >= 10) {
      EXPECT_NE(orders[0], orders[1]);
      EXPECT_NE(orders[0], orders[2]);
    }
  }
  // Every pair of values comes first equally often: χ² with 89 degrees of freedom, deviation 13.3.
  std::array<int, 100> seen{};
  for (uint64_t epoch = 0; epoch < 2000; ++epoch)
    ++seen[static_cast<size_t>(permuted(0, 10, 5, epoch) * 10 + permuted(1, 10, 5, epoch))];
  double chi = 0;
  for (size_t i = 0; i < 100; ++i) {
    if (i % 11 == 0)
      EXPECT_EQ(seen[i], 0);
    else
      chi += std::pow(seen[i] - 2000.0 / 90, 2) / (2000.0 / 90);
  }
  EXPECT_LT(chi, 89 + 5 * 13.3);
}

}  // namespace

}  // namespace braintrace::tasks
