// SPDX-License-Identifier: Apache-2.0
// The tests write HDF5 files with the library's own C interface where it is installed; without it, the refusal is
// tested.
#include "braintrace/data/spike_file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/tasks/task.h"
#include "tests/support/error_of.h"

#ifdef BRAINTRACE_HDF5
#include "tests/support/spike_file_writer.h"
#endif

namespace braintrace::data {

namespace {

std::string path_of(const std::string& name) { return ::testing::TempDir() + "/" + name; }

void expect_holds(const std::string& message, const std::vector<std::string>& phrases) {
  for (const std::string& p : phrases)
    EXPECT_NE(message.find(p), message.npos) << "'" << p << "' is not in: " << message;
}

#ifdef BRAINTRACE_HDF5

std::string written(const std::string& name, const SpikeContent& c) {
  EXPECT_TRUE(write_spike_file(path_of(name), c));
  return path_of(name);
}

TEST(SpikeFile, ListsOfVariableLength) {
  ASSERT_TRUE(hdf5_is_built_in());
  const SpikeFile file(written("a.h5", {}));
  ASSERT_EQ(file.size(), 3);
  EXPECT_EQ(file.label(0), 7);
  EXPECT_EQ(file.label(2), 19);
  EXPECT_EQ(file.read(0), (Events{{3, 0, 0, 1000}, {699, 0, 0, 250000}}));
  EXPECT_EQ(file.read(1), Events{});
  EXPECT_EQ(file.read(2), (Events{{0, 0, 0, 500000}, {1, 0, 0, 750000}, {2, 0, 0, 1000000}}));
  expect_holds(error_of([&] { file.read(3); }), {"a.h5", "row 3", "there are 3"});
}

TEST(SpikeFile, DamagedFilesAreRefused) {
  const auto refused = [](const std::string& path, const std::vector<std::string>& phrases) {
    expect_holds(error_of([&] {
                   const SpikeFile f(path);
                   for (int64_t i = 0; i < f.size(); ++i) f.read(i);
                 }),
                 phrases);
  };
  refused(path_of("missing.h5"), {"missing.h5", "No such file"});
  refused(written("b.h5", {.times_name = "time"}), {"b.h5", "spikes/times"});
  refused(written("b.h5", {.labels = {1, 2}}), {"b.h5", "2 labels"});
  refused(written("b.h5", {.times = {{0.1f}, {}, {0.5f, 0.75f, 1}}}), {"b.h5", "row 0", "1 and 2"});
  refused(written("b.h5", {.times = {{0.1f, -1}, {}, {0.5f, 0.75f, 1}}}), {"b.h5", "row 0", "-1 s"});

  std::ifstream     in(written("b.h5", {}), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (size_t part : {0u, 1u, 2u, 3u}) {
    std::ofstream(path_of("c.h5"), std::ios::binary) << bytes.substr(0, bytes.size() * part / 4);
    refused(path_of("c.h5"), {"c.h5", "HDF5"});
  }
}

TEST(SpikeFile, AsTasks) {
  written("shd_train.h5", {});
  written("shd_test.h5", {});
  const nlohmann::json j{{"type", "shd"}, {"folder", ::testing::TempDir()}, {"bins", 2}, {"validation", 0.34}};
  auto                 task = tasks::make_task(j, 1);
  EXPECT_EQ(task->facts().train_samples, 2);
  EXPECT_EQ(task->facts().validation_samples, 1);
  const tasks::Batch all = task->batch(tasks::Part::Test, 0, 3);
  for (int64_t b = 0; b < 3; ++b) {
    double spikes = 0;
    for (int64_t i = 0; i < 1400; ++i) spikes += at(all.inputs, (i / 700 * 3 + b) * 700 + i % 700);
    const double label = at(all.targets, b);
    EXPECT_EQ(spikes, label == 7 ? 1 : label == 0 ? 0 : 2) << "the last spike is the remainder";
  }
  task.reset();  // an open file cannot be written
  written("shd_test.h5", {.labels = {1, 2, 20}});
  expect_holds(error_of([&] { tasks::make_task(j, 1); }), {"shd_test.h5", "row 2", "below 20", "found 20"});
}

#else

TEST(SpikeFile, WithoutTheLibraryTheRefusalSaysWhatToDo) {
  EXPECT_FALSE(hdf5_is_built_in());
  expect_holds(error_of([] { SpikeFile f(path_of("a.h5")); }), {"a.h5", "libhdf5-dev", "synthetic"});
}

#endif

}  // namespace

}  // namespace braintrace::data
