// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/rng.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/registry.h"
#include "tests/support/error_of.h"
#include "tests/support/training_runs.h"

namespace braintrace::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Sequences of seven steps, the last two of which are asked for.
json small() {
  return json::parse(R"({
    "model": {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 4, "n_rec": 3},
                                          {"name": "out", "type": "linear", "n_in": 3, "n_out": 4}]},
    "task": {"type": "copy", "lag": 3, "count": 2, "symbols": 2},
    "optimizer": {"lr": 0.01, "schedule": {"type": "cosine", "length": 10, "every": 2}},
    "batch": 2, "steps": 12, "backend": "reference", "validation": {"every": 3, "batches": 1}})");
}

struct TrainerTest : RunFolder {
  Bytes bytes(const std::string& name) const {
    const Buffer b = read_file(file(name));
    return Bytes(b.span().begin(), b.span().end());
  }
};

double largest(const NamedArrays& arrays, const std::string& prefix) {
  double most = 0;
  for (const auto& [name, array] : arrays)
    if (name.starts_with(prefix))
      for (int64_t i = 0; i < array.size(); ++i) most = std::max(most, std::abs(at(array, i)));
  return most;
}

// A run that stops, inside a sequence where updates allow it, and goes on in another trainer leaves the same file.
TEST_F(TrainerTest, ResumingIsNotStopping) {
  for (const Algorithm& a : algorithms())
    for (const json& update : {json("step"), json(3), json("sequence")}) {
      SCOPED_TRACE(a.name + " " + update.dump());
      json c      = small();
      c["rule"]   = rule_named(a.name);
      c["update"] = update;
      c["window"] = 2;
      if (update == "sequence") c["reset"] = false;  // states and traces then live between updates here too
      const Config config = read_config(c.dump());
      Trainer      whole(config), rest(config);
      for (int i = 0; i < 3; ++i) whole.step();
      whole.save(file("half"));
      rest.load(file("half"));
      for (int i = 0; i < 3; ++i) {
        const double loss = whole.step().loss;
        EXPECT_EQ(rest.step().loss, loss);
      }
      whole.save(file("whole"));
      rest.save(file("rest"));
      EXPECT_EQ(bytes("whole"), bytes("rest"));
      const NamedArrays half = read_checkpoint(file("half")).arrays;
      EXPECT_GT(largest(half, "model.rnn.h"), 0);
      EXPECT_EQ(largest(half, "learner.etrace") > 0, a.name != "BPTT");
      EXPECT_EQ(largest(half, "synthesizer.weight") > 0, a.name == "DNI");
      EXPECT_EQ(largest(half, "modulation.usual") > 0, a.name == "ThreeFactor");
    }
}

// Averages are judged, saved and read as the weights; what is learned does not depend on them.
TEST_F(TrainerTest, AveragedWeightsAreJudgedAndKept) {
  json plain = small(), averaged = small();
  averaged["optimizer"]["average"] = 4;
  const Config config              = read_config(averaged.dump());
  Trainer      a(read_config(plain.dump())), b(config), rest(config);
  EXPECT_EQ(a.validate().loss, b.validate().loss);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(a.step().loss, b.step().loss);
  EXPECT_NE(a.validate().loss, b.validate().loss);
  b.save(file("half"));
  rest.load(file("half"));
  EXPECT_EQ(rest.validate().loss, b.validate().loss);
  EXPECT_EQ(rest.step().loss, b.step().loss);
  b.save(file("whole"));
  rest.save(file("rest"));
  EXPECT_EQ(bytes("whole"), bytes("rest"));

  // A model that starts from the file starts with the averages.
  json again    = small();
  again["init"] = file("half");
  rest.load(file("half"));
  EXPECT_EQ(Trainer(read_config(again.dump())).validate().loss, rest.validate().loss);
  for (const json& bad : {json(0), json(-3), json("many"), json(1.5)}) {
    averaged["optimizer"]["average"] = bad;
    EXPECT_NE(error_of([&] { Trainer t(read_config(averaged.dump())); }).find("optimizer.average"), std::string::npos)
        << bad;
  }
}

// Plain input weights, whose effect on the states of a later window only an estimate knows.
TEST_F(TrainerTest, DniLearnsWhatWindowsCutOff) {
  // A custom layer type: h ← tanh(dot(x, w_in) + matmul(h, w_rec)), whose w_in has no trace.
  for (const zoo::LayerType& type : golden::recurrent_layers())
    if (type.name == "plain_etp_rnn") zoo::register_layer_type(type);
  json c                           = small();
  c["model"]["layers"][0]          = {{"name", "rnn"}, {"type", "plain_etp_rnn"}, {"n_in", 6}, {"n_rec", 8}};
  c["model"]["layers"][1]["n_in"]  = 8;
  c["model"]["layers"][1]["n_out"] = 6;
  c["task"]                        = {{"type", "copy"}, {"lag", 6}, {"count", 1}, {"symbols", 4}};
  c["rule"]                        = {{"name", "DNI"}};
  c["backend"]                     = "cpu";
  c["optimizer"]                   = {{"lr", 0.003}};
  c["batch"]                       = 32;
  c["seed"]                        = 1;
  c["window"]                      = 1;
  const auto loss_after            = [&](int updates) {
    Trainer trainer(read_config(c.dump()));
    for (int i = 0; i < updates; ++i) trainer.step();
    trainer.save(file("after"));
    return trainer.validate(2).loss;
  };
  const double before = loss_after(0), trained = loss_after(400);
  EXPECT_GT(largest(read_checkpoint(file("after")).arrays, "synthesizer.weight"), 1e-3);
  c["rule"]["synthesizer_lr"] = 1e-12;
  const double without        = loss_after(400);
  EXPECT_LT(trained, 0.1 * before);
  EXPECT_LT(trained, 0.5 * without);
  // A window that holds the sequence cuts nothing off.
  c["window"] = "all";
  loss_after(3);
  EXPECT_EQ(largest(read_checkpoint(file("after")).arrays, "synthesizer"), 0);
}

// ∇ = m ε with m = R - R̄; the first rate is zero, so that weights change with the second update only.
TEST_F(TrainerTest, TheModulatorIsTheLossAgainstItsMean) {
  json c         = small();
  c["batch"]     = 1;
  c["update"]    = "step";
  c["optimizer"] = {
      {"type", "sgd"}, {"lr", 1}, {"schedule", {{"type", "linear"}, {"first", 0}, {"last", 1}, {"length", 2}}}};
  std::vector<double> losses;
  const auto          change_under = [&](const json& rule) {
    c["rule"] = rule;
    Trainer trainer(read_config(c.dump()));
    losses.clear();
    std::vector<double> out;
    for (const char* name : {"first", "second"}) {
      losses.push_back(trainer.step().loss);
      trainer.save(file(name));
    }
    const Array a = read_checkpoint(file("first")).arrays.at("model.rnn.Wh.weight.weight"),
                b = read_checkpoint(file("second")).arrays.at("model.rnn.Wh.weight.weight");
    for (int64_t i = 0; i < a.size(); ++i) out.push_back(at(b, i) - at(a, i));
    return out;
  };
  const auto   by_one  = change_under({{"name", "ThreeFactor"}, {"modulator", 1}});
  const auto   by_loss = change_under("ThreeFactor");
  const double m       = losses[1] - (losses[0] + losses[1]) / 2;
  double       most    = 0;
  for (size_t i = 0; i < by_one.size(); ++i) {
    most = std::max(most, std::abs(m * by_one[i]));
    EXPECT_NEAR(by_loss[i], m * by_one[i], 1e-6);
  }
  EXPECT_GT(most, 1e-4);
}

// Everything a checkpoint holds of the run matters: with any of it changed, the run goes another way.
TEST_F(TrainerTest, NothingInACheckpointIsIdle) {
  json c              = small();
  c["update"]         = "step";
  const Config config = read_config(c.dump());
  Trainer      whole(config);
  for (int i = 0; i < 3; ++i) whole.step();
  whole.save(file("half"));
  whole.step();
  whole.save(file("whole"));
  const Checkpoint half = read_checkpoint(file("half"));
  for (const char* name : {"model.rnn.Wh.weight.weight", "model.rnn.h", "learner.etrace.0",
                           "optimizer.rnn.Wh.weight.weight.m", "optimizer.step_count", "run.steps", "random.key"}) {
    SCOPED_TRACE(name);
    Checkpoint changed = half;
    ASSERT_TRUE(changed.arrays.contains(name));
    const Array before = changed.arrays.at(name);
    Array       other(before.type());
    auto*       to   = static_cast<unsigned char*>(other.mutable_raw());
    const auto* from = static_cast<const unsigned char*>(before.raw());
    std::copy(from, from + before.bytes(), to);
    to[before.bytes() - 2] ^= 0x40;
    changed.arrays[name] = other;
    write_checkpoint(file("changed"), changed);
    Trainer rest(config);
    rest.load(file("changed"));
    rest.step();
    rest.save(file("rest"));
    EXPECT_NE(bytes("whole"), bytes("rest"));
  }
}

TEST_F(TrainerTest, RunsToTheEndAndKeepsCheckpoints) {
  json c          = small();
  c["output"]     = dir.string();
  c["checkpoint"] = {{"every", 5}, {"keep", 2}};
  struct Counter : Observer {
    int  begins = 0, steps = 0, validations = 0, ends = 0;
    void begin(const RunRecord& r) override { begins += r.total_steps == 12 && r.start_step == 0; }
    void step(const StepRecord& r) override { steps += r.step == steps + 1; }
    void validation(const ValidationRecord&) override { ++validations; }
    void end(const RunRecord& r) override {
      ++ends;
      EXPECT_EQ(r.steps.size(), 12u);
      EXPECT_EQ(r.judgment.confusion.shape(), Shape({4, 4}));
      EXPECT_EQ(r.judgment.baselines.at(0).name, "most common class");
      EXPECT_TRUE(r.pace.starts_with("by sequence"));
      EXPECT_EQ(r.activity.inputs.shape(), Shape({7, 4}));
      EXPECT_EQ(r.activity.targets.shape(), Shape({7}));
      EXPECT_EQ(r.activity.outputs.shape(), Shape({7, 4}));
      ASSERT_EQ(r.activity.states.size(), 1u);
      EXPECT_EQ(r.activity.states[0].path, "rnn.h");
      EXPECT_EQ(r.activity.states[0].values.shape(), Shape({7, 3}));
      EXPECT_GT(r.activity.trace_norms.at("rnn.Wh.weight").at(6), 0);
      EXPECT_NE(r.graph_svg.find("<svg"), std::string::npos);
    }
  };
  const auto counter = std::make_shared<Counter>();
  Trainer    trainer(read_config(c.dump()));
  trainer.observe(counter);
  EXPECT_EQ(trainer.run(), Ending::Finished);
  EXPECT_EQ(std::vector<int>({counter->begins, counter->steps, counter->validations, counter->ends}),
            std::vector<int>({1, 12, 4, 1}));
  const CheckpointFolder folder((dir / "checkpoints").string(), 2);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{folder.path_of(10), folder.path_of(12)}));
  EXPECT_TRUE(fs::exists(folder.best_path()));
}

// Spikes, potentials and neurons that never fire are seen in a spiking network.
TEST_F(TrainerTest, WatchesSpikes) {
  json c                  = small();
  c["model"]["layers"][0] = {{"name", "rnn"}, {"type", "snn_delta"}, {"n_in", 4}, {"n_rec", 3}, {"ff_scale", 4}};
  struct Keeper : Observer {
    RunRecord record;
    void      end(const RunRecord& r) override { record = r; }
  };
  const auto recorded = [&] {
    const auto keeper = std::make_shared<Keeper>();
    Trainer    trainer(read_config(c.dump()));
    trainer.observe(keeper);
    trainer.run();
    return keeper->record;
  };
  const RunRecord fires = recorded();
  ASSERT_EQ(fires.activity.states.size(), 2u);
  EXPECT_EQ(fires.activity.states[0].kind, "voltage");
  EXPECT_EQ(fires.activity.states[1].kind, "spikes");
  double spikes = 0;
  for (int64_t i = 0; i < fires.activity.states[1].values.size(); ++i) spikes += at(fires.activity.states[1].values, i);
  EXPECT_GT(spikes, 0);
  EXPECT_TRUE(fires.alarms.empty());
  c["model"]["layers"][0]["V_th"] = 1000;
  const RunRecord silent          = recorded();
  ASSERT_EQ(silent.alarms.size(), 1u);  // once, not with every validation
  EXPECT_EQ(silent.alarms[0].kind, "dead");
}

TEST_F(TrainerTest, ValidationChangesNothing) {
  json c      = small();
  c["update"] = "step";
  Trainer a(read_config(c.dump())), b(read_config(c.dump()));
  for (int i = 0; i < 3; ++i) {
    a.step();
    b.step();
    b.validate(1);
  }
  a.save(file("a"));
  b.save(file("b"));
  EXPECT_EQ(bytes("a"), bytes("b"));
}

TEST_F(TrainerTest, StopsWhenAsked) {
  json c          = small();
  c["output"]     = dir.string();
  c["early_stop"] = {{"patience", 1}, {"min_delta", 100}};
  EXPECT_EQ(Trainer(read_config(c.dump())).run(), Ending::EarlyStop);
  c["early_stop"] = {{"at_goal", true}};
  c["goal"]       = {{"loss", 100}};
  Trainer goal(read_config(c.dump()));
  EXPECT_EQ(goal.run(), Ending::EarlyStop);
  EXPECT_EQ(goal.updates(), 3);
  EXPECT_TRUE(goal.goal_reached());
  c.erase("early_stop");
  const CheckpointFolder folder((dir / "checkpoints").string(), 3);
  folder.remove_all();
  Trainer asked(read_config(c.dump()));
  EXPECT_EQ(asked.run([&] { return asked.updates() == 5; }), Ending::Interrupted);
  EXPECT_EQ(folder.files().back(), folder.path_of(5));
  c["optimizer"] = {{"type", "sgd"}, {"lr", 1e38}};
  Trainer spoiled(read_config(c.dump()));
  EXPECT_EQ(spoiled.run(), Ending::NotFinite);
  ASSERT_EQ(spoiled.record().alarms.size(), 1u);
  EXPECT_EQ(spoiled.record().alarms[0].kind, "not_finite");
  EXPECT_EQ(spoiled.record().parameters, 3 * (7 * 3 + 3) + (3 * 4 + 4));  // three gates, and the readout
}

TEST_F(TrainerTest, MisfitsAreRefusedBeforeAnythingStarts) {
  const auto expect_refused = [](const json& c, const std::string& part) {
    try {
      Trainer trainer(read_config(c.dump()));
      ADD_FAILURE() << "accepted: " << c.dump();
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  const auto with = [](const std::string& pointer, const json& value) {
    json c                         = small();
    c[json::json_pointer(pointer)] = value;
    return c;
  };
  expect_refused(with("/model/layers/0/n_in", 5), "does not run on the inputs of the task");
  expect_refused(with("/model/layers/1/n_out", 5), "the task expects");
  expect_refused(with("/model/layers/0/type", "gruu"), "did you mean");
  expect_refused(with("/task/type", "copyy"), "did you mean 'copy'");
  expect_refused(with("/task/lags", 3), "did you mean 'lag'");
  expect_refused(with("/rule", "D_RTLR"), "did you mean");
  expect_refused(with("/rule", json{{"name", "D_RTRL"}, {"n", 2}}), "it has no option n");
  expect_refused(with("/loss", "mse"), "not a loss for classes");
  expect_refused(with("/rule", json{{"name", "ThreeFactor"}, {"modulator", "los"}}), "a number or one of loss, reward");
  expect_refused(with("/rule", json{{"name", "D_RTRL"}, {"modulator", "loss"}}), "it has no option modulator");
  expect_refused(with("/rule", json{{"name", "D_RTRL"}, {"synthesizer_lr", 1}}), "it is for DNI");
  expect_refused(with("/rule", json{{"name", "DNI"}, {"synthesizer_lr", -1}}), "expected a positive number, got -1");
  expect_refused(with("/optimizer/lr", -1), "config.optimizer.lr");
  json endless = small();
  endless.erase("steps");
  endless["epochs"] = 1;
  expect_refused(endless, "is unlimited");
}

TEST_F(TrainerTest, CheckpointsOfOtherRunsAreRefused) {
  Trainer(read_config(small().dump())).save(file("a"));
  json c                           = small();
  c["model"]["layers"][0]["n_rec"] = 5;
  c["model"]["layers"][1]["n_in"]  = 5;
  Trainer other(read_config(c.dump()));
  try {
    other.load(file("a"));
    ADD_FAILURE() << "accepted";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("model.layers.0.n_rec is 3 there and 5 here"), std::string::npos) << e.what();
  }
}

// Processes killed at random moments, each going on from the newest checkpoint, end at the file of one that was not.
TEST_F(TrainerTest, KilledRunsEndAtTheSameFile) {
  json c                        = small();
  c["update"]                   = "step";
  c["output"]                   = dir.string();
  c["steps"]                    = 20;
  c["checkpoint"]               = {{"every", 1}, {"keep", 2}};
  const Config           config = read_config(c.dump());
  const CheckpointFolder folder(config.checkpoint.dir, 2);
  const auto             files = [&] {
    std::map<std::string, Bytes> out;
    for (const std::string& path : {folder.path_of(19), folder.path_of(20), folder.best_path()}) {
      const Buffer b = read_file(path);
      out[path]      = Bytes(b.span().begin(), b.span().end());
    }
    return out;
  };
  Trainer(config).run();
  const auto expected = files();
  folder.remove_all();

  Trainer trainer(config);
  trainer.validate(1);  // compiles what children will need
  // A child that goes on; gives its exit status, or none when it was killed after so long.
  const auto child_ends = [&](double seconds) -> std::optional<int> {
    const pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::string> refused;
      if (const auto newest = folder.newest_valid(refused)) trainer.load(*newest);
      ::_exit(trainer.run() == Ending::Finished ? 0 : 1);
    }
    if (std::isfinite(seconds)) {
      ::usleep(static_cast<useconds_t>(1e6 * seconds));
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  };
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(child_ends(INFINITY), 0);
  const double whole = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Rng          rng(1);
  for (int kills = 0; kills < 200;) {
    const auto ended = child_ends(rng.uniform() * whole);
    if (!ended) {
      ++kills;
      continue;
    }
    ASSERT_EQ(*ended, 0);
    ASSERT_EQ(files(), expected) << "after " << kills << " kills";
    folder.remove_all();
  }
  ASSERT_EQ(child_ends(INFINITY), 0);
  EXPECT_EQ(files(), expected);
}

}  // namespace
}  // namespace braintrace::train
