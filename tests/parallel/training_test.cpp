// SPDX-License-Identifier: Apache-2.0
// Training by several processes gives the same bytes as by one.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/registry.h"
#include "braintrace/io/file.h"
#include "braintrace/io/npy.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/train/trainer.h"
#include "tests/parallel/forked.h"
#include "tests/support/training_runs.h"

namespace braintrace::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using parallel::Forked;
using parallel::run_forked;
using parallel::work_forked;
using GroupPtr = std::shared_ptr<parallel::Group>;

// Sequences of seven steps, the last two of which have a target.
json sharded() {
  return json::parse(R"({
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 2},
                                          {"name": "out", "type": "linear", "n_in": 2, "n_out": 4}]},
    "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2},
    "optimizer": {"lr": 0.01, "clip_norm": 1}, "shards": 4,
    "batch": 8, "steps": 4, "backend": "reference", "validation": {"every": 2, "batches": 1}})");
}

struct ParallelTraining : RunFolder {
  std::string bytes(const std::string& name) const { return read_text(file(name)); }

  // After a complete run by this many processes; `from`: it continues from a file.
  void run(const json& c, int processes, const std::string& to, const std::string& from = "", int64_t steps = 0) const {
    json config = c;
    if (steps > 0) config["steps"] = steps;
    work_forked(processes, [&](const GroupPtr& group) {
      Trainer trainer(read_config(config.dump()), group);
      if (!from.empty()) trainer.load(file(from));
      trainer.run();
      trainer.save(file(to));
    });
  }
  void expect_same_bits(const json& c, const std::vector<int>& counts) const {
    run(c, 1, "one");
    for (const int processes : counts) {
      run(c, processes, "many");
      EXPECT_EQ(bytes("one"), bytes("many")) << processes << " processes";
    }
  }
};

TEST_F(ParallelTraining, SameBitsForEveryRule) {
  for (const Algorithm& a : algorithms()) {
    SCOPED_TRACE(a.name);
    json c      = sharded();
    c["rule"]   = rule_named(a.name);
    c["window"] = 2;
    c["update"] = 3;
    c["steps"]  = 3;
    expect_same_bits(c, {4});
  }
}

// Random numbers of a sample, statistics of the batch, states that are not reset, sums in double precision.
TEST_F(ParallelTraining, SameBitsForLayersAndSettings) {
  const auto with_layer = [](const json& layer) {
    json  c      = sharded();
    auto& layers = c["model"]["layers"];
    layers.insert(layers.begin() + 1, layer);
    return c;
  };
  json lives         = sharded();
  lives["reset"]     = false;
  lives["precision"] = "f64";
  lives["reduction"] = "sum";
  expect_same_bits(with_layer({{"name", "drop"}, {"type", "dropout"}, {"keep", 0.5}}), {2});
  expect_same_bits(with_layer({{"name", "norm"}, {"type", "batch_norm"}, {"n", 2}}), {2});
  expect_same_bits(lives, {2, 4});
}

// Six sequences of one to six steps: some shards of a batch have no target in a stretch, the last batch of an
// epoch continues with the next, and some rows of the last validation batch do not count.
TEST_F(ParallelTraining, SameBitsForSequencesOfManyLengths) {
  std::vector<float>   x(12 * 6 * 4);
  std::vector<int64_t> y, lengths;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7919) % 13) / 13;
  for (int64_t i = 0; i < 12; ++i) {
    y.push_back(i % 4);
    lengths.push_back(1 + i % 6);
  }
  const std::string data = (dir / "data.npz").string();
  write_npz(data, {{"inputs", Array::of<float>(x, {12, 6, 4})},
                   {"targets", Array::of<int64_t>(y, {12})},
                   {"lengths", Array::of<int64_t>(lengths, {12})}});
  json c          = sharded();
  c["task"]       = {{"type", "npz"}, {"file", data}, {"validation", 0.4}};
  c["update"]     = 2;
  c["validation"] = {{"every", 0}};
  c.erase("steps");
  c["epochs"] = 2;
  expect_same_bits(c, {4});
  c["task"]["buckets"] = 2;  // a batch is as long as its longest sequence, whichever shard has it
  expect_same_bits(c, {2});
}

// Row b continues from batch to batch, in training and validation.
TEST_F(ParallelTraining, SameBitsForRowsThatGoOn) {
  json c                           = sharded();
  c["task"]                        = {{"type", "char_lm"}, {"length", 3}, {"contiguous", true}};
  const int64_t n                  = tasks::make_task(c["task"], 0)->facts().outputs;
  c["model"]["layers"][0]["n_in"]  = n;
  c["model"]["layers"][1]["n_out"] = n;
  c["reset"]                       = false;
  c["validation"]["batches"]       = 2;
  expect_same_bits(c, {2});
}

// Two processes begin, one continues, four finish: the file equals that of a run that never stopped.
TEST_F(ParallelTraining, ResumesOnAnotherNumberOfProcesses) {
  json c      = sharded();
  c["rule"]   = rule_named("UORO");
  c["reset"]  = false;
  c["update"] = 3;
  run(c, 1, "whole", "", 4);
  run(c, 2, "a", "", 1);
  run(c, 1, "b", "a", 2);
  run(c, 4, "c", "b", 4);
  const auto whole = read_checkpoint(file("whole")), parts = read_checkpoint(file("c"));
  for (const auto& [name, array] : whole.arrays)
    EXPECT_TRUE(name.starts_with("run.") || identical(array, parts.arrays.at(name))) << name;
  EXPECT_EQ(whole.arrays.at("model.rnn.h").shape(), (Shape{4, 2, 2}));  // all samples are in it
}

// A rank that is killed between or inside updates is an error on the others; from the newest checkpoint, fewer
// processes continue to the same file as an undisturbed run.
TEST_F(ParallelTraining, KilledRanksCostNothing) {
  json c               = sharded();
  c["checkpoint"]      = {{"every", 1}, {"keep", 2}, {"best", false}};
  c["validation"]      = {{"every", 0}};
  c["output"]          = (dir / "calm").string();
  const auto last_file = [&](const json& config) {
    return config["output"].get<std::string>() + "/checkpoints/step-00000004.safetensors";
  };
  run(c, 2, "calm");
  for (int kill = 0; kill < 4; ++kill) {
    SCOPED_TRACE(kill);
    c["output"]         = (dir / ("killed" + std::to_string(kill))).string();
    const Config config = read_config(c.dump());
    const auto   ends   = run_forked(4, [&](const GroupPtr& group) {
      Trainer trainer(config, group);
      int64_t asked = 0;
      trainer.run([&] {  // asked after each update
        if (group->rank() == kill && ++asked == 1 + kill % 3) ::raise(SIGKILL);
        return false;
      });
    });
    for (int r = 0; r < 4; ++r) {
      EXPECT_EQ(ends[static_cast<size_t>(r)].status, r == kill ? -SIGKILL : 1);
      EXPECT_TRUE(r == kill || ends[static_cast<size_t>(r)].error.find("has ended") != std::string::npos);
    }
    work_forked(kill % 2 + 1, [&](const GroupPtr& group) {
      Trainer                  trainer(config, group);
      std::vector<std::string> refused;
      trainer.load(*CheckpointFolder(config.checkpoint.dir, 2).newest_valid(refused));
      trainer.run();
    });
    json calm      = c;
    calm["output"] = (dir / "calm").string();
    EXPECT_EQ(read_text(last_file(c)), read_text(last_file(calm)));
  }
}

TEST_F(ParallelTraining, RanksMustBeAlike) {
  const auto errors_of = [&](const std::function<json(int)>& config_of) {
    std::vector<std::string> out;
    for (const Forked& f : run_forked(
             2, [&](const GroupPtr& group) { Trainer trainer(read_config(config_of(group->rank()).dump()), group); }))
      out.push_back(f.error);
    EXPECT_EQ(out[0], out[1]);
    return out[0];
  };
  const auto says = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(errors_of([](int rank) {
         json c               = sharded();
         c["optimizer"]["lr"] = rank == 0 ? 0.01 : 0.02;
         return c;
       }),
       "config.optimizer.lr is 0.01 on rank 0 and 0.02 on rank 1");
  // Files of the same name with different numbers, as on two machines.
  std::vector<std::string> folders;
  for (int rank = 0; rank < 2; ++rank) {
    folders.push_back((dir / std::to_string(rank)).string());
    fs::create_directories(folders.back());
    std::vector<float> x(8 * 3 * 4, static_cast<float>(rank));
    write_npz(folders.back() + "/data.npz", {{"inputs", Array::of<float>(x, {8, 3, 4})},
                                             {"targets", Array::of<int64_t>({0, 1, 2, 3, 0, 1, 2, 3}, {8})}});
  }
  says(errors_of([&](int rank) {
         fs::current_path(folders[static_cast<size_t>(rank)]);
         json c    = sharded();
         c["task"] = {{"type", "npz"}, {"file", "data.npz"}};
         return c;
       }),
       "data.data.npz is ");
  says(errors_of([](int rank) {
         json c = sharded();
         if (rank == 1) c["task"]["lag"] = -1;
         return c;
       }),
       "rank 1 of 2: config.task");
  json few      = sharded();
  few["shards"] = 1;
  says(errors_of([&](int) { return few; }), "config.shards: 1 shards cannot be divided among 2 processes");
}

// The first process cannot write: all end, with its message.
TEST_F(ParallelTraining, AFolderThatCannotBeWrittenStopsAll) {
  std::ofstream(dir / "file") << "no folder";
  json c      = sharded();
  c["output"] = (dir / "file").string();
  for (const Forked& f : run_forked(2, [&](const GroupPtr& group) {
         Trainer trainer(read_config(c.dump()), group);
         trainer.run();
       })) {
    EXPECT_EQ(f.status, 1);
    EXPECT_NE(f.error.find("rank 0 of 2"), std::string::npos) << f.error;
  }
}

// Negative control: a different number of shards gives a different order of sums.
TEST_F(ParallelTraining, ShardsAreFelt) {
  json c = sharded();
  run(c, 1, "four");
  c["shards"] = 2;
  run(c, 1, "two");
  const auto weight = [&](const char* name) {
    return read_checkpoint(file(name)).arrays.at("model.rnn.Wh.weight.weight");
  };
  EXPECT_FALSE(identical(weight("four"), weight("two")));
  for (int64_t i = 0; i < weight("two").size(); ++i) EXPECT_NEAR(at(weight("four"), i), at(weight("two"), i), 1e-4);
}

}  // namespace
}  // namespace braintrace::train
