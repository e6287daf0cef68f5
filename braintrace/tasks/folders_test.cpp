// SPDX-License-Identifier: Apache-2.0
// Data sets in folders as they are distributed, made here in small: every sample is found with its label.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/npy.h"
#include "braintrace/tasks/task.h"
#include "tests/support/error_of.h"

namespace braintrace::tasks {

namespace {

namespace fs = std::filesystem;

std::string fresh_folder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}
void write(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}
std::string big_endian(uint32_t x) {
  return {static_cast<char>(x >> 24), static_cast<char>(x >> 16), static_cast<char>(x >> 8), static_cast<char>(x)};
}
std::string little_endian(uint32_t x) {
  const std::string b = big_endian(x);
  return {b.rbegin(), b.rend()};
}

// The labels of a part, each told apart by a place that holds it: `place(label)` in the inputs of step 0.
std::set<int64_t> labels_of(const Task& task, Part part, const std::function<int64_t(int64_t)>& place) {
  const int64_t     samples = task.facts().samples(part);
  const Batch       all     = task.batch(part, 0, samples);
  const int64_t     last = task.facts().length - 1, width = all.inputs.size() / (task.facts().length * samples);
  std::set<int64_t> seen;
  for (int64_t b = 0; b < samples; ++b) {
    const auto label = static_cast<int64_t>(at(all.targets, last * samples + b));
    EXPECT_GT(at(all.inputs, b * width + place(label)), 0) << label;
    seen.insert(label);
  }
  return seen;
}

// Of `learned` samples some validate; `tested` ones are a part of their own. Every class is in both.
void expect_parts(const Task& task, int64_t learned, int64_t tested, const std::function<int64_t(int64_t)>& place) {
  const TaskFacts& facts = task.facts();
  EXPECT_GT(facts.validation_samples, 0);
  EXPECT_EQ(facts.train_samples + facts.validation_samples, learned);
  EXPECT_EQ(facts.test_samples, tested);
  std::set<int64_t> seen = labels_of(task, Part::Train, place);
  seen.merge(labels_of(task, Part::Validation, place));
  EXPECT_EQ(std::ssize(seen), facts.outputs);
  EXPECT_EQ(std::ssize(labels_of(task, Part::Test, place)), facts.outputs);
}

std::string nmnist_recording(int digit) {  // three events at x = digit; the last is dropped, as the remainder
  std::string out;
  for (int t : {0, 10, 50, 150'000}) out += {char(digit), 3, char(0x80 | t >> 16), char(t >> 8), char(t)};
  return out;
}

TEST(Folders, Nmnist) {
  const std::string folder = fresh_folder("nmnist");
  for (int digit = 0; digit < 10; ++digit) {
    const std::string d = std::to_string(digit);
    write(folder + "/Train/" + d + "/00001.bin", nmnist_recording(digit));
    write(folder + "/Train/" + d + "/00002.bin", nmnist_recording(digit));
    write(folder + "/Test/" + d + "/00003.bin", nmnist_recording(digit));
  }
  nlohmann::json j{{"type", "nmnist"}, {"folder", folder}, {"bins", 2}};
  const auto     task  = make_task(j, 1);
  const auto     place = [](int64_t digit) { return (34 + 3) * 34 + digit; };  // polarity 1, y = 3
  EXPECT_EQ(task->facts().input, (Shape{2, 34, 34}));
  expect_parts(*task, 20, 10, place);
  // Of 0, 10, 50 µs in two frames of 25 µs the first two events count; with all saccades the width is 75 ms.
  const auto events = [](const Batch& b, int64_t frame) {
    double n = 0;
    for (int64_t i = 0; i < 2312; ++i) n += at(b.inputs, frame * 2312 + i);
    return n;
  };
  EXPECT_EQ(events(task->batch(Part::Train, 0, 1), 0), 2);
  j["first_saccade"] = false;
  EXPECT_EQ(events(make_task(j, 1)->batch(Part::Train, 0, 1), 0), 3);

  write(folder + "/Train/4/00001.bin", "abc");
  write(folder + "/Train/4/00002.bin", "abc");
  const std::string damaged = error_of([&] { task->batch(Part::Train, 0, 20); });
  EXPECT_NE(damaged.find("/Train/4/0000"), damaged.npos) << damaged;
  fs::remove_all(folder + "/Test/7");
  const std::string missing = error_of([&] { make_task(j, 1); });
  EXPECT_NE(missing.find("/Test/7: the folder cannot be read"), missing.npos) << missing;
}

TEST(Folders, DvsGestureCutIntoClips) {
  const std::string folder = fresh_folder("gestures");
  for (const char* part : {"ibmGestureTrain", "ibmGestureTest"})
    for (int label = 0; label < 11; ++label) {
      const std::string user = folder + "/" + part + "/user01_led";
      fs::create_directories(user);
      const auto x = double(label);
      write_npy(user + "/" + std::to_string(label) + ".npy",
                Array::of<double>({x, 127, 1, 1, x, 127, 1, 1.5, x, 0, 0, 9}, {3, 4}));
    }
  const nlohmann::json j{{"type", "dvs_gesture"}, {"folder", folder}, {"bins", 2}};
  const auto           place = [](int64_t label) { return (128 + 127) * 128 + label; };
  expect_parts(*make_task(j, 1), 11, 11, place);
  write(folder + "/ibmGestureTest/user01_led/11.npy", "");
  const std::string message = error_of([&] { make_task(j, 1); });
  EXPECT_NE(message.find("11.npy: expected a name from 0.npy to 10.npy"), message.npos) << message;
}

TEST(Folders, DvsGestureRecordings) {
  const std::string folder = fresh_folder("aedat");
  std::string       events, table = "class,startTime_usec,endTime_usec\n";
  uint32_t          count = 0;
  for (uint32_t label = 0; label < 11; ++label) {
    for (uint32_t t : {0u, 5u, 99u}) {
      events += little_endian(label << 17 | 127 << 2 | 1 << 1 | 1) + little_endian(1000 * label + t);
      ++count;
    }
    table += std::to_string(label + 1) + "," + std::to_string(1000 * label) + "," + std::to_string(1000 * label + 100) +
             "\n";
  }
  const std::string header = little_endian(1) + little_endian(8) + little_endian(4) + little_endian(0) +
                             little_endian(count) + little_endian(count) + little_endian(count);
  for (const char* user : {"user01_led", "user02_lab"}) {
    write(folder + "/" + user + ".aedat", "#!AER-DAT3.1\r\n#!END-HEADER\r\n" + header + events);
    write(folder + "/" + user + "_labels.csv", table);
  }
  write(folder + "/trials_to_train.txt", "user01_led.aedat\r\nuser02_lab.aedat\r\n");
  write(folder + "/trials_to_test.txt", "user02_lab.aedat\n");
  const nlohmann::json j{{"type", "dvs_gesture"}, {"folder", folder}, {"bins", 2}};
  const auto           place = [](int64_t label) { return (128 + 127) * 128 + label; };
  expect_parts(*make_task(j, 1), 22, 11, place);
  write(folder + "/trials_to_test.txt", "user09_lab.aedat\n");
  const std::string message = error_of([&] { make_task(j, 1); });
  EXPECT_NE(message.find("user09_lab.aedat: cannot be opened"), message.npos) << message;
}

TEST(Folders, Mnist) {
  const std::string folder = fresh_folder("mnist");
  for (const auto& [part, n] : {std::pair{"train", 20}, {"t10k", 10}}) {
    std::string images = std::string{0, 0, 8, 3} + big_endian(uint32_t(n)) + big_endian(28) + big_endian(28);
    std::string labels = std::string{0, 0, 8, 1} + big_endian(uint32_t(n));
    for (int i = 0; i < n; ++i) {
      std::string image(784, 0);
      image[static_cast<size_t>(i % 10)] = char(255);
      images += image;
      labels += char(i % 10);
    }
    write(folder + "/" + part + "-images-idx3-ubyte", images);
    write(folder + "/" + part + "-labels-idx1-ubyte", labels);
  }
  const nlohmann::json j{{"type", "mnist"}, {"folder", folder}};
  const auto           task = make_task(j, 1);
  expect_parts(*task, 20, 10, [](int64_t digit) { return digit; });
  EXPECT_EQ(at(task->batch(Part::Train, 0, 1).mask, 26), 0);
  write(folder + "/t10k-labels-idx1-ubyte", std::string{0, 0, 8, 1} + big_endian(3) + "abc");
  const std::string message = error_of([&] { make_task(j, 1); });
  EXPECT_NE(message.find("one label for each of 10 images, found [3]"), message.npos) << message;
}

}  // namespace

}  // namespace braintrace::tasks
