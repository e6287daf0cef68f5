// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/checkpoint.h"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "braintrace/train/history.h"

namespace braintrace::train {
namespace {

namespace fs = std::filesystem;

struct CheckpointTest : ::testing::Test {
  fs::path         dir = fs::temp_directory_path() / ("checkpoints_" + std::to_string(::getpid()));
  CheckpointFolder folder{dir.string(), 2};
  Checkpoint       sample{{{"w", Array::of<double>(std::vector<double>(1000, 0.5), {1000})}}, "{}", "{}"};

  void SetUp() override { folder.prepare(); }
  void TearDown() override { fs::remove_all(dir); }

  std::string complaint(const std::string& path) {
    try {
      read_checkpoint(path);
    } catch (const UserError& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_F(CheckpointTest, KeepsTheLastOnes) {
  for (int64_t step : {5, 100000000, 7, 12}) folder.write(step, sample);
  // The newest by number count; what was just written stays.
  EXPECT_EQ(folder.files(), (std::vector<std::string>{folder.path_of(12), folder.path_of(100000000)}));
  std::ofstream(dir / "step-x.safetensors") << "";
  std::ofstream(dir / "step-00000013.safetensors.99.0.tmp") << "half";
  folder.prepare();
  EXPECT_FALSE(fs::exists(dir / "step-00000013.safetensors.99.0.tmp"));
  EXPECT_EQ(folder.files().size(), 2u);
}

TEST_F(CheckpointTest, NewestValidSkipsDamagedOnes) {
  std::vector<std::string> refused;
  EXPECT_FALSE(folder.newest_valid(refused).has_value());
  folder.write(1, sample);
  folder.write(2, sample);
  fs::resize_file(folder.path_of(2), 100);
  EXPECT_EQ(folder.newest_valid(refused), folder.path_of(1));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find("step-00000002"), std::string::npos);
}

TEST_F(CheckpointTest, RefusesWhatItCannotTrust) {
  const std::string path = folder.write(3, sample);
  EXPECT_EQ(complaint(path), "no error");
  EXPECT_NE(complaint((dir / "none").string()).find("No such file"), std::string::npos);
  SafeTensors file         = read_safetensors(path);
  file.metadata["version"] = "2";
  write_safetensors(path, file);
  EXPECT_NE(complaint(path).find("newer version of braintrace"), std::string::npos);
  file.metadata["version"] = "one";
  write_safetensors(path, file);
  EXPECT_NE(complaint(path).find("damaged"), std::string::npos);
  file.metadata["format"] = "pt";
  write_safetensors(path, file);
  EXPECT_NE(complaint(path).find("not a checkpoint of braintrace"), std::string::npos);
}

TEST_F(CheckpointTest, OtherModelsAreRefusedAndChangeNothing) {
  const LongTermState a(Tensor(Array::of<double>({1, 2}, {2}))), b(Tensor(Array::of<float>({1}, {})));
  NamedArrays         stored;
  gather(stored, "model", {{Path{"a"}, a}, {Path{"b"}, b}});
  a.set(Tensor(Array::of<double>({3, 4}, {2})));
  EXPECT_THROW(restore(stored, "model", {{Path{"a"}, a}}, "file"), UserError);
  EXPECT_THROW(restore(stored, "model", {{Path{"a"}, a}, {Path{"c"}, b}}, "file"), UserError);
  EXPECT_THROW(restore(stored, "model", {{Path{"a"}, a}, {Path{"b"}, a}}, "file"), UserError);
  restore(stored, "model", {{Path{"a"}, a}, {Path{"b"}, b}}, "file");
  EXPECT_EQ(at(a.value().array(), 0), 1);
}

TEST_F(CheckpointTest, CountersOf32BitsAreRead) {
  const LongTermState count(Tensor(Array::of<int64_t>({0}, {})));
  restore({{"learner.count", Array::of<int32_t>({7}, {})}}, "learner", {{Path{"count"}, count}}, "file");
  EXPECT_EQ(count.value().type(), (Type{DType::I64, {}}));
  EXPECT_EQ(count.value().item(), 7);
  const LongTermState narrow(Tensor(Array::of<int32_t>({0}, {})));
  EXPECT_THROW(restore({{"learner.count", Array::of<int64_t>({7}, {})}}, "learner", {{Path{"count"}, narrow}}, "file"),
               UserError);
}

// The disk ends in the middle of a file: an earlier checkpoint stays, no rest is left.
TEST_F(CheckpointTest, ShortWritesLoseNothing) {
  folder.write(1, sample);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (rlim_t bytes : {0, 1, 500, 4096, 8000}) {
    rlimit small   = before;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(folder.write(2, sample), UserError) << bytes;
    EXPECT_THROW(folder.write(1, sample), UserError) << bytes;
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(folder.files(), std::vector<std::string>{folder.path_of(1)});
    EXPECT_TRUE(identical(read_checkpoint(folder.path_of(1)).arrays.at("w"), sample.arrays.at("w")));
    EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), 1) << bytes;
  }
}

TEST_F(CheckpointTest, FoldersThatCannotBe) {
  EXPECT_THROW(CheckpointFolder("/proc/none/here", 1).prepare(), UserError);
  std::ofstream(dir / "file") << "";
  EXPECT_THROW(CheckpointFolder((dir / "file").string(), 1).prepare(), UserError);
  EXPECT_THROW(CheckpointFolder((dir / "file/below").string(), 1).prepare(), UserError);
}

TEST(History, IsBoundedAndGoesOnFromWhereItWas) {
  History whole, before, after;
  for (int64_t i = 1; i <= 9001; ++i) {
    const StepRecord r{i, std::sin(double(i)), 0.5, double(i), 0.1, 0};
    whole.add(r);
    (i <= 4321 ? before : after).add(r);
    if (i != 4321) continue;
    NamedArrays stored;
    before.save(stored);
    after.load(stored);
  }
  NamedArrays a, b;
  whole.save(a);
  after.save(b);
  for (const auto& [name, array] : a) EXPECT_TRUE(identical(array, b.at(name))) << name;
  EXPECT_GE(whole.stretches().size(), 1000u);
  EXPECT_LT(whole.stretches().size(), 2000u);
  EXPECT_EQ(whole.stretches()[0].step, 8);
  EXPECT_DOUBLE_EQ(whole.stretches()[0].gradient_norm, 4.5);
  EXPECT_DOUBLE_EQ(whole.stretches()[0].accuracy, 0.5);
}

}  // namespace
}  // namespace braintrace::train
