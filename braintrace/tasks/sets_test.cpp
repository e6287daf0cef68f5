// SPDX-License-Identifier: Apache-2.0
// Tasks on data sets: the digits that come with the library, synthetic recordings, and tables.
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/digits.h"
#include "braintrace/tasks/task.h"
#include "tests/support/error_of.h"

namespace braintrace::tasks {

namespace {

std::vector<float> image(const Batch& batch, int64_t b, int64_t B) {
  const int64_t      T = batch.mask.shape()[0], width = batch.inputs.size() / (T * B);
  std::vector<float> out;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < width; ++i) out.push_back(float(at(batch.inputs, (t * B + b) * width + i)));
  return out;
}

TEST(Digits, AreTheKnownSet) {
  ASSERT_EQ(digits().size(), 1797u);
  std::map<int, int> per_class;
  double             sum = 0;
  for (const Digit& d : digits()) {
    ++per_class[d.label];
    for (float p : d.pixels) sum += 16 * p;
  }
  EXPECT_EQ(per_class,
            (std::map<int, int>{
                {0, 178}, {1, 182}, {2, 177}, {3, 183}, {4, 181}, {5, 182}, {6, 181}, {7, 179}, {8, 174}, {9, 180}}));
  EXPECT_EQ(sum, 561718);
}

TEST(Digits, AnEpochShowsEverySampleOnceAndThePartsAreDisjoint) {
  const auto                        task = make_task(R"({"type": "sequential_digits", "by": "pixel"})", 3);
  std::map<std::vector<float>, int> label_of;
  for (const Digit& d : digits()) label_of[{d.pixels.begin(), d.pixels.end()}] = d.label;
  std::map<Part, std::set<std::vector<float>>> seen;
  std::vector<std::vector<float>>              order[2];
  for (Part part : {Part::Train, Part::Validation}) {
    const int64_t N = part == Part::Train ? task->facts().train_samples : task->facts().validation_samples;
    for (int64_t epoch : {0, 1}) {
      const Batch all = task->batch(part, epoch, N);
      for (int64_t b = 0; b < N; ++b) {
        const auto pixels = image(all, b, N);
        ASSERT_TRUE(label_of.contains(pixels));
        EXPECT_EQ(at(all.targets, 63 * N + b), label_of[pixels]);
        seen[part].insert(pixels);
        if (part == Part::Train) order[epoch].push_back(pixels);
      }
      EXPECT_EQ(std::ssize(seen[part]), N) << "no image twice, none missing, and the same ones in each epoch";
    }
  }
  EXPECT_NE(order[0], order[1]);
  EXPECT_EQ(seen[Part::Train].size() + seen[Part::Validation].size(), 1797u);
  EXPECT_EQ(task->facts().validation_samples, 359);
  for (const auto& pixels : seen[Part::Validation]) EXPECT_FALSE(seen[Part::Train].contains(pixels));
}

TEST(Digits, SpikesFollowThePixels) {
  const auto  task = make_task(R"({"type": "spiking_digits", "rate_hz": 500, "length": 200, "classes": 4})", 3);
  const Batch one  = task->batch(Part::Train, 0, 1);
  double      best = 1e30, label = -1;
  for (const Digit& d : digits()) {
    double distance = 0;
    for (int64_t i = 0; i < 64; ++i) {
      double spikes = 0;
      for (int64_t t = 0; t < 200; ++t) spikes += at(one.inputs, t * 64 + i);
      distance += std::pow(spikes / 200 - 0.5 * d.pixels[static_cast<size_t>(i)], 2);
    }
    if (distance < best) best = distance, label = d.label;
  }
  EXPECT_EQ(label, at(one.targets, 0));
  EXPECT_LT(best, 64 * 0.25 / 200 * 2) << "the variance of 200 draws";
  EXPECT_EQ(task->facts().outputs, 4);

  const auto  latency = make_task(R"({"type": "spiking_digits", "encoding": "latency", "length": 17})", 3);
  const Batch first   = latency->batch(Part::Train, 0, 1);
  double      spikes  = 0;
  for (int64_t i = 0; i < first.inputs.size(); ++i) spikes += at(first.inputs, i);
  EXPECT_GT(spikes, 20);
  EXPECT_LE(spikes, 64);
}

// The direction is where the events move; the tone is where they start.
TEST(EventStream, TheClassIsFoundAgainFromTheFrames) {
  const int64_t B = 40, T = 20, W = 16;
  const Batch   batch = make_task(R"({"type": "event_stream"})", 3)->batch(Part::Train, 0, B);
  int           right = 0, front = 0;
  for (int64_t b = 0; b < B; ++b) {
    double       x[2] = {}, y[2] = {}, n[2] = {}, ahead[2] = {}, of[2] = {};
    const double label = at(batch.targets, b), angle = 2 * M_PI * label / 8;
    for (int64_t t = 0; t < T; ++t)
      for (int64_t p = 0; p < 2; ++p)
        for (int64_t i = 0; i < W * W; ++i) {
          const double count = at(batch.inputs, ((t * B + b) * 2 + p) * W * W + i);
          const int    half  = t >= T / 2;
          n[half] += count;
          x[half] += count * double(i % W);
          y[half] += count * double(i / W);
          of[p] += count;
          ahead[p] += count * (double(i % W) * std::cos(angle) + double(i / W) * std::sin(angle));
        }
    EXPECT_GT(n[0] + n[1], 350);
    EXPECT_LE(n[0] + n[1], 400);
    const double turn = std::atan2(y[1] / n[1] - y[0] / n[0], x[1] / n[1] - x[0] / n[0]) / (2 * M_PI) * 8;
    right += (std::lround(turn) + 8) % 8 == std::lround(label);
    front += ahead[1] / of[1] > ahead[0] / of[0];
  }
  EXPECT_EQ(right, B);
  EXPECT_EQ(front, B);
}

TEST(EventStream, LayoutsHoldTheSameCounts) {
  const auto batch = [](const char* layout) {
    const nlohmann::json j{{"type", "event_stream"}, {"layout", layout}, {"height", 4}, {"width", 5}};
    return make_task(j, 3)->batch(Part::Train, 0, 2).inputs;
  };
  const Array chw = batch("chw"), hwc = batch("hwc"), flat = batch("flat");
  EXPECT_EQ(chw.shape(), (Shape{20, 2, 2, 4, 5}));
  EXPECT_EQ(hwc.shape(), (Shape{20, 2, 4, 5, 2}));
  EXPECT_TRUE(identical(flat.reshaped(chw.shape()), chw));
  for (int64_t i = 0; i < chw.size(); ++i) ASSERT_EQ(at(chw, i), at(hwc, i / 40 * 40 + i % 20 * 2 + i / 20 % 2));
}

TEST(Shd, MadeUpTonesStartAtTheirChannel) {
  const auto    task  = make_task(R"({"type": "shd", "synthetic": true, "bins": 30})", 3);
  const int64_t B     = 30;
  const Batch   batch = task->batch(Part::Train, 0, B);
  ASSERT_EQ(batch.inputs.shape(), (Shape{30, B, 700}));
  for (int64_t b = 0; b < B; ++b) {
    double re = 0, im = 0;  // of the first frame's channels, around a circle
    for (int64_t i = 0; i < 700; ++i) {
      re += at(batch.inputs, b * 700 + i) * std::cos(2 * M_PI * double(i) / 700);
      im += at(batch.inputs, b * 700 + i) * std::sin(2 * M_PI * double(i) / 700);
    }
    EXPECT_EQ((std::lround(std::atan2(im, re) / (2 * M_PI) * 20) + 20) % 20, std::lround(at(batch.targets, b)));
  }
}

std::string file(const std::string& name) { return ::testing::TempDir() + "/" + name; }

TEST(Npz, TargetsPerSequenceAndPerStepWithLengths) {
  Array inputs({DType::F32, {10, 4, 2}}), classes({DType::I32, {10}}), values({DType::F32, {10, 4, 3}});
  Array lengths({DType::I64, {10}});
  for (int64_t i = 0; i < inputs.size(); ++i) inputs.mutable_data<float>()[i] = float(i + 1);
  for (int64_t i = 0; i < values.size(); ++i) values.mutable_data<float>()[i] = float(i) / 2;
  for (int64_t i = 0; i < 10; ++i) classes.mutable_data<int32_t>()[i] = int32_t(i % 3);
  for (int64_t i = 0; i < 10; ++i) lengths.mutable_data<int64_t>()[i] = 1 + i % 4;
  const std::string path = file("sets_test.npz");
  write_npz(
      path,
      {{"inputs", inputs}, {"targets", classes}, {"lengths", lengths}, {"v", values}, {"w", Array({DType::I32, {9}})}});

  const nlohmann::json description{{"type", "npz"}, {"file", path}, {"split", "random"}};
  const auto           task = make_task(description, 1);
  EXPECT_EQ(task->facts().outputs, 3);
  EXPECT_EQ(task->facts().train_samples, 8);
  const Batch       batch = task->batch(Part::Train, 0, 8);
  std::set<int64_t> seen;
  for (int64_t b = 0; b < 8; ++b) {
    const auto    i      = static_cast<int64_t>(at(batch.inputs, b * 2) - 1) / 8;  // which sequence it is
    const int64_t length = 1 + i % 4;
    seen.insert(i);
    for (int64_t t = 0; t < 4; ++t) {
      EXPECT_EQ(at(batch.inputs, (t * 8 + b) * 2 + 1), t < length ? double(i * 8 + t * 2 + 2) : 0);
      EXPECT_EQ(at(batch.mask, t * 8 + b), t == length - 1);
      EXPECT_EQ(at(batch.targets, t * 8 + b), t < length ? double(i % 3) : 0);
    }
  }
  EXPECT_EQ(seen.size(), 8u);

  auto per_step       = description;
  per_step["targets"] = "v";
  const Batch numbers = make_task(per_step, 1)->batch(Part::Validation, 0, 2);
  for (int64_t b = 0; b < 2; ++b) {
    const auto i = static_cast<int64_t>(at(numbers.inputs, b * 2) - 1) / 8;
    EXPECT_FALSE(seen.contains(i));
    for (int64_t t = 0; t < 4; ++t) {
      EXPECT_EQ(at(numbers.mask, t * 2 + b), t < 1 + i % 4);
      EXPECT_EQ(at(numbers.targets, (t * 2 + b) * 3 + 2), t < 1 + i % 4 ? double((i * 4 + t) * 3 + 2) / 2 : 0);
    }
  }

  const auto refused = [&](const char* key, const nlohmann::json& value, const char* phrase) {
    auto j                    = description;
    j[key]                    = value;
    const std::string message = error_of([&] { make_task(j, 1); });
    EXPECT_NE(message.find(phrase), message.npos) << message;
  };
  refused("inputs", "x", "has no array 'x'");
  refused("inputs", "lengths", "[N, T, …]");
  refused("targets", "w", "found i32[9]");
  refused("classes", 2, "from 0 to 1, found 2");
  refused("file", file("missing.npz"), "missing.npz");
}

TEST(Csv, SequencesByColumnOrByLength) {
  const std::string path = file("sets_test.csv");
  {
    std::ofstream out(path);
    out << "id,a,b,label\r\n";
    for (int id = 0; id < 12; ++id)
      for (int t = 0; t <= id % 3; ++t) out << id << "," << 100 * id + t << "," << -t << ", " << id % 2 << "\r\n";
  }
  const nlohmann::json description{{"type", "csv"}, {"file", path},     {"inputs", "a,b"},   {"targets", "label"},
                                   {"classes", 2},  {"sequence", "id"}, {"validation", 0.25}};
  const auto           task = make_task(description, 1);
  EXPECT_EQ(task->facts().length, 3);
  EXPECT_EQ(task->facts().train_samples, 9);
  const Batch batch = task->batch(Part::Train, 0, 9);
  for (int64_t b = 0; b < 9; ++b) {
    const auto id = static_cast<int64_t>(at(batch.inputs, b * 2)) / 100;
    for (int64_t t = 0; t < 3; ++t) {
      const bool inside = t <= id % 3;
      EXPECT_EQ(at(batch.inputs, (t * 9 + b) * 2), inside ? double(100 * id + t) : 0);
      EXPECT_EQ(at(batch.mask, t * 9 + b), inside);
      EXPECT_EQ(at(batch.targets, t * 9 + b), inside ? double(id % 2) : 0);
    }
  }
  const auto refused = [&](nlohmann::json change, const char* phrase) {
    auto j = description;
    j.update(change);
    const std::string message = error_of([&] { make_task(j, 1)->batch(Part::Train, 0, 9); });
    EXPECT_NE(message.find(phrase), message.npos) << message;
  };
  refused({{"inputs", "a,bb"}}, "no column 'bb'; did you mean 'b'?");
  refused({{"length", 3}}, "not both");
  refused({{"classes", 1}}, "from 0 to 0, found 1");
  refused({{"file", file("missing.csv")}}, "missing.csv");
  std::ofstream(path, std::ios::app) << "12,1,x,0\n";
  refused(nlohmann::json::object(), "row 25, column 'b'");
}

}  // namespace

}  // namespace braintrace::tasks
