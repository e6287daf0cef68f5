// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/fleet.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/io/file.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/zoo/model.h"

namespace braintrace::stream {
namespace {

constexpr const char* description = R"({"type": "chain", "layers": [
  {"name": "rnn", "type": "gru", "n_in": 3, "n_rec": 4}, {"name": "out", "type": "linear", "n_in": 4, "n_out": 2}]})";

const Type input{DType::F32, {3}};

std::shared_ptr<Module> network(uint64_t seed = 1) {
  random::seed(seed);
  auto model = zoo::build_model(description);
  init_all_states(*model);
  return model;
}

Array drawn(Rng& rng, Shape shape) {
  Array a({DType::F32, std::move(shape)});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = static_cast<float>(rng.normal());
  return a;
}

Array row_of(const Array& a, int64_t k) {
  Shape shape(a.shape().begin() + 1, a.shape().end());
  Array out({a.dtype(), shape});
  for (int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] = a.data<float>()[k * out.size() + i];
  return out;
}

// Members in changing company against single streams of their own: every answer, loss and state, bit by bit.
void expect_same_bits(const StreamOptions& options, const std::string& backend, int steps) {
  SCOPED_TRACE(options.rule + " " + options.optimizer + " " + backend);
  const BackendScope                         scope(backend);
  const auto                                 model = network();
  Fleet                                      fleet(*model, input, options);
  const std::vector<std::string>             names = {"a", "b", "c"};
  std::vector<std::shared_ptr<Module>>       models;
  std::vector<std::unique_ptr<OnlineStream>> singles;
  for (size_t i = 0; i < names.size(); ++i) {
    models.push_back(network());
    singles.push_back(std::make_unique<OnlineStream>(*models[i], input, options));
  }
  Rng rng(5);
  for (int t = 0; t < steps; ++t) {
    std::vector<std::string> ids;
    std::vector<size_t>      who;
    for (size_t i = 0; i < names.size(); ++i)
      if ((t + static_cast<int>(i)) % 3 != 0) ids.push_back(names[i]), who.push_back(i);
    const auto  n = static_cast<int64_t>(ids.size());
    const Array x = drawn(rng, {n, 3}), y = drawn(rng, {n, 2});
    const auto  answers = t % 4 == 3 ? fleet.predict(ids, x) : fleet.learn(ids, x, y);
    for (int64_t k = 0; k < n; ++k) {
      OnlineStream& single = *singles[who[static_cast<size_t>(k)]];
      if (t % 4 == 3) {
        EXPECT_TRUE(identical(row_of(answers.predictions, k), single.predict(row_of(x, k)))) << t;
      } else {
        const auto want = single.learn(row_of(x, k), row_of(y, k));
        EXPECT_TRUE(identical(row_of(answers.predictions, k), want.prediction)) << t;
        EXPECT_EQ(answers.losses.data<float>()[k], static_cast<float>(want.loss)) << t;
      }
    }
    if (t == 4) fleet.reset("b"), singles[1]->reset();
  }
  const TemporaryFolder folder;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string a = (folder.path / "a").string(), b = (folder.path / "b").string();
    fleet.save_member(names[i], a);
    save(*singles[i], b, fleet.records(names[i]));
    EXPECT_EQ(read_text(a), read_text(b)) << names[i];
  }
}

TEST(Fleet, AMemberComputesTheBitsOfASingleStream) {
  for (const char* rule : {"D_RTRL", "ES_D_RTRL", "EProp"})
    for (const char* optimizer : {"sgd", R"({"type": "sgd", "momentum": 0.9})", "adam"}) {
      StreamOptions o{.rule = rule, .optimizer = optimizer, .lr = 0.05};
      if (o.rule == "ES_D_RTRL") o.rule_options.decay_or_rank = TraceDecay::decay(0.9);
      expect_same_bits(o, "reference", 6);
    }
}

TEST(Fleet, CompiledMembersTooComputeTheBitsOfASingleStream) {
  expect_same_bits({.rule = "D_RTRL", .lr = 0.05}, "cpu", 9);
  expect_same_bits({.rule = "D_RTRL", .optimizer = R"({"type": "adam", "average": 3})", .lr = 0.05}, "cpu", 9);
  StreamOptions o{.rule = "ES_D_RTRL", .optimizer = "sgd", .lr = 0.05};
  o.rule_options.decay_or_rank = TraceDecay::decay(0.9);
  expect_same_bits(o, "cpu", 9);
}

// Rows [:, step] of x [n, steps, …].
Array step_of(const Array& x, int64_t step) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + 1);
  Array         out({x.dtype(), shape});
  const int64_t n = x.shape()[0], steps = x.shape()[1], width = n == 0 ? 0 : out.size() / n;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < width; ++i)
      out.mutable_data<float>()[k * width + i] = x.data<float>()[(k * steps + step) * width + i];
  return out;
}

// Also where a step of one member is undone in the middle.
TEST(Fleet, SeveralRecordsAtOnceMakeTheBitsOfCallsInTurn) {
  constexpr int64_t steps = 4;
  for (const std::string backend : {"reference", "cpu"})
    for (const bool guard : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", backend, guard));
      const int64_t       n    = backend == "cpu" ? 66 : 3;  // a guarded fleet takes 64 at a time
      const std::string   last = fmt::format("{}", n - 1);
      const BackendScope  scope(backend);
      const auto          model = network(), other = network();
      const StreamOptions options{.optimizer = "sgd", .lr = 0.05};
      Fleet at_once(*model, input, options, {.guard = guard}), in_turn(*other, input, options, {.guard = guard});
      for (int64_t k = 0; k < n; ++k) at_once.add(fmt::format("{}", k)), in_turn.add(fmt::format("{}", k));
      Rng         rng(7);
      const Array x = drawn(rng, {n, steps, 3});
      Array       y = drawn(rng, {n, steps, 2});
      if (guard) y.mutable_data<float>()[((n - 1) * steps + 2) * 2] = 3e38F;
      const auto got = at_once.learn(x, y);
      ASSERT_EQ(got.predictions.shape(), (Shape{n, steps, 2}));
      ASSERT_EQ(got.losses.shape(), (Shape{n, steps}));
      for (int64_t t = 0; t < steps; ++t) {
        const auto want = in_turn.learn(step_of(x, t), step_of(y, t));
        EXPECT_TRUE(identical(step_of(got.predictions, t), want.predictions)) << t;
        EXPECT_TRUE(identical(step_of(got.losses, t), want.losses)) << t;
        EXPECT_EQ(want.undone.size(), guard && t == 2 ? 1u : 0u);
      }
      ASSERT_EQ(got.undone.size(), guard ? 1u : 0u);
      if (guard) {
        EXPECT_EQ(got.undone[0].index, static_cast<size_t>(n - 1));
        EXPECT_EQ(got.undone[0].step, 2u);
      }
      EXPECT_EQ(at_once.records(last), guard ? 3 : 4);
      EXPECT_EQ(at_once.records("0"), 4);
      const Array next = drawn(rng, {1, 3});
      EXPECT_TRUE(identical(at_once.predict({last}, next).predictions, in_turn.predict({last}, next).predictions));
      EXPECT_EQ(at_once.predict({"0", "1"}, drawn(rng, {2, 0, 3})).predictions.shape(), (Shape{2, 0, 2}));
      EXPECT_THROW(at_once.learn({"0", "1"}, drawn(rng, {2, 3, 3}), drawn(rng, {2, 2, 2})), UserError);
      EXPECT_THROW(at_once.learn({"0", "1"}, drawn(rng, {2, 3, 3}), drawn(rng, {2, 2})), UserError);
    }
}

TEST(Fleet, MembersJoinLeaveAndMoveBetweenFleets) {
  const auto            model = network(), other_model = network();
  Fleet                 fleet(*model, input, {}, {.most = 3}), other(*other_model, input, {});
  const TemporaryFolder folder;
  const std::string     path = (folder.path / "member").string(), all = (folder.path / "all").string();
  Rng                   rng(1);
  fleet.add("a");
  EXPECT_THROW(fleet.add("a"), UserError);
  const Array x = drawn(rng, {3, 3}), y = drawn(rng, {3, 2});
  fleet.learn({"a", "b", "c"}, x, y);
  EXPECT_EQ(fleet.records("c"), 1);
  fleet.save(all);
  fleet.save_member("c", path);
  other.load_member("z", path);
  EXPECT_EQ(other.records("z"), 1);
  const Array x1 = drawn(rng, {1, 3}), y1 = drawn(rng, {1, 2});
  const auto  there = other.learn({"z"}, x1, y1);
  EXPECT_TRUE(identical(fleet.learn({"c"}, x1, y1).predictions, there.predictions));

  fleet.remove("a");
  EXPECT_EQ(fleet.ids(), (Fleet::Ids{"c", "b"}));
  EXPECT_TRUE(identical(fleet.predict({"c"}, x1).predictions, other.predict({"z"}, x1).predictions));
  EXPECT_THROW(fleet.remove("a"), UserError);

  fleet.load(all);
  EXPECT_EQ(fleet.ids(), (Fleet::Ids{"a", "b", "c"}));
  EXPECT_TRUE(identical(fleet.learn({"c"}, x1, y1).predictions, there.predictions));
  EXPECT_THROW(fleet.load(path), UserError);
  EXPECT_THROW(other.load_member("y", all), UserError);
  EXPECT_EQ(other.size(), 1u);
}

TEST(Fleet, WrongArgumentsChangeNothing) {
  const auto model = network();
  Fleet      fleet(*model, input, {}, {.most = 2});
  Rng        rng(1);
  const auto told = [&](const Fleet::Ids& ids, int64_t rows, const char* why) {
    try {
      fleet.learn(ids, drawn(rng, {rows, 3}), drawn(rng, {rows, 2}));
      ADD_FAILURE() << why;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
    EXPECT_EQ(fleet.size(), 0u);
  };
  told({"a", "a"}, 2, "named twice");
  told({"a", "b", "c"}, 3, "at most 2 are allowed");
  told({"a", "b"}, 1, "one row for each");
  EXPECT_EQ(fleet.learn({}, drawn(rng, {0, 3}), drawn(rng, {0, 2})).predictions.size(), 0);
}

TEST(Fleet, AMemberThatDivergesHarmsNobody) {
  const auto  model = network(), guarded_model = network(), calm_model = network();
  Fleet       fleet(*model, input, {.optimizer = "sgd"}), calm(*calm_model, input, {.optimizer = "sgd"});
  Fleet       guarded(*guarded_model, input, {.optimizer = "sgd"}, {.guard = true});
  Rng         rng(1);
  const Array x  = drawn(rng, {2, 3});
  Array       y  = drawn(rng, {2, 2});
  Array       x1 = row_of(x, 0).reshaped({1, 3}), y1 = row_of(y, 0).reshaped({1, 2});
  y.mutable_data<float>()[2] = 3e38F;
  for (int i = 0; i < 3; ++i) {
    const Array want = calm.learn({"a"}, x1, y1).predictions;
    const auto  got  = fleet.learn({"a", "b"}, x, y);
    EXPECT_TRUE(identical(row_of(want, 0), row_of(got.predictions, 0)));
    EXPECT_FALSE(std::isfinite(got.losses.data<float>()[1]));
    const auto safe = guarded.learn({"a", "b"}, x, y);
    EXPECT_TRUE(identical(row_of(want, 0), row_of(safe.predictions, 0)));
    ASSERT_EQ(safe.undone.size(), 1u);
    EXPECT_EQ(safe.undone[0].index, 1u);
  }
  EXPECT_EQ(guarded.records("a"), 3);
  EXPECT_EQ(guarded.records("b"), 0);
  const TemporaryFolder folder;
  EXPECT_THROW(fleet.save((folder.path / "f").string()), UserError);
  guarded.save((folder.path / "g").string());
}

}  // namespace
}  // namespace braintrace::stream
