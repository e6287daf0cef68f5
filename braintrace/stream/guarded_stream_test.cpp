// SPDX-License-Identifier: Apache-2.0
#include "braintrace/stream/guarded_stream.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/zoo/model.h"
#include "tests/support/error_of.h"

namespace braintrace::stream {
namespace {

// Interpreted, and as machine code that keeps the states for itself.
struct GuardedStreamTest : ::testing::TestWithParam<const char*> {
  std::string                   usual{default_backend().name()};
  std::shared_ptr<Module>       model;
  std::unique_ptr<OnlineStream> net;

  GuardedStreamTest() {
    set_default_backend(GetParam());
    begin();
  }
  ~GuardedStreamTest() override { set_default_backend(usual); }

  void begin(double lr = 0.5, const std::string& optimizer = "sgd") {
    random::seed(1);
    model = zoo::build_model(R"({"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 4},
                                                             {"name": "out", "type": "linear", "n_in": 4, "n_out": 1}]})");
    net =
        std::make_unique<OnlineStream>(*model, Type{DType::F32, {2}}, StreamOptions{.optimizer = optimizer, .lr = lr});
  }
  NamedArrays states() const {
    NamedArrays out;
    for (const auto& [part, all] : net->states()) train::gather(out, part, all);
    return out;
  }
};

Record              record(float x, float y) { return {Array::of<float>({x, -x}, {2}), Array::of<float>({y}, {1})}; }
std::vector<Record> good_records(int64_t count) {
  Rng                 rng(7);
  std::vector<Record> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(record(0.1f * static_cast<float>(rng.normal()), 0.1f));
  out[5].y.reset();
  out[9].reset = true;
  return out;
}

std::vector<int64_t> numbers(const std::vector<GuardedStream::Undone>& all) {
  std::vector<int64_t> out;
  for (const auto& u : all) out.push_back(u.number);
  return out;
}

// Answers come from averages, which are saved; states and weights are those of a stream without them.
TEST_P(GuardedStreamTest, AveragedWeightsAnswer) {
  const auto   records = good_records(20);
  const double lr      = 0.05;
  const auto   run     = [&](const std::string& optimizer) {
    begin(lr, optimizer);
    std::vector<double> losses;
    for (const Record& r : records) {
      if (r.reset) net->reset();
      if (r.y)
        losses.push_back(net->learn(*r.x, *r.y).loss);
      else
        losses.push_back(at(net->predict(*r.x), 0));
    }
    return losses;
  };
  const auto        plain   = run("sgd");
  const NamedArrays weights = states();
  EXPECT_EQ(run(R"({"type": "sgd", "average": 1})"), plain);
  const auto averaged = run(R"({"type": "sgd", "average": 5})");
  EXPECT_EQ(averaged[0], plain[0]);  // nothing was learned yet
  EXPECT_EQ(averaged[1], plain[1]);  // the average of one update
  for (size_t i = 3; i < plain.size(); ++i) EXPECT_NE(averaged[i], plain[i]) << i;
  for (const auto& [name, array] : weights) EXPECT_TRUE(identical(states().at(name), array)) << name;

  const TemporaryFolder folder;
  const std::string     path = (folder.path / "net").string();
  save(*net, path, 20);
  const auto next = net->learn(*records[0].x, *records[0].y);
  begin(lr, R"({"type": "sgd", "average": 5})");
  EXPECT_EQ(load(*net, path), 20);
  EXPECT_EQ(net->learn(*records[0].x, *records[0].y).loss, next.loss);
  begin(lr, R"({"type": "sgd", "average": 6})");
  EXPECT_NE(error_of([&] { load(*net, path); }).find("optimizer.average is 5 there and 6 here"), std::string::npos);
}

// Schedules and scales are restored too: after a bad record, a stream learns as one that never met it.
TEST_P(GuardedStreamTest, RatesAndScalesAreUndoneToo) {
  NamedArrays  outcomes[2];
  const double bad[] = {1e38, 0};
  for (int64_t run = 0; run < 2; ++run) {
    random::seed(1);
    model = zoo::build_model(R"({"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 4},
                                                             {"name": "out", "type": "linear", "n_in": 4, "n_out": 1}]})");
    const StreamOptions options{
        .optimizer =
            R"({"type": "adam", "clip_norm": 1, "schedule": {"type": "exponential", "gamma": 0.5, "every": 4}})",
        .lr      = 0.1,
        .scaling = {.horizon = 20}};
    net = std::make_unique<OnlineStream>(*model, Type{DType::F32, {2}}, options);
    GuardedStream guarded(*net);
    int64_t       number = 0;
    for (const Record& r : good_records(30)) {
      if (bad[run] != 0 && number == 10) {
        EXPECT_EQ(guarded.take(1000, record(0.1f, static_cast<float>(bad[run]))).undone.size(), 1u);
      }
      guarded.take(++number, r);
    }
    guarded.check();
    outcomes[run] = states();
  }
  EXPECT_TRUE(outcomes[0].contains("scale.mean"));
  for (const auto& [name, array] : outcomes[1]) EXPECT_TRUE(identical(outcomes[0].at(name), array)) << name;
}

TEST_P(GuardedStreamTest, IsAsIfBadRecordsHadNeverCome) {
  const int64_t             count = std::string(GetParam()) == "cpu" ? 300 : 40;  // states are kept every 256
  const std::vector<Record> good  = good_records(count);
  NamedArrays               want;
  std::vector<double>       losses;
  {
    GuardedStream quiet(*net);
    for (const Record& r : good) losses.push_back(quiet.take(0, r).answer->loss.value_or(-1));
    EXPECT_TRUE(quiet.check().empty());
    want = states();
  }
  begin();
  GuardedStream guarded(*net);
  // Losses that overflow, and one that does not but leaves weights beyond use.
  const std::map<int64_t, Record> bad = {
      {3, record(0, 1e38f)}, {20, record(0, -1.5e19f)}, {21, record(0, 3e38f)}, {count - 9, record(0, 1.5e19f)}};
  std::vector<int64_t> undone;
  for (int64_t i = 0; i < count; ++i) {
    if (bad.contains(i))
      for (int64_t n : numbers(guarded.take(1000 + i, bad.at(i)).undone)) undone.push_back(n);
    const auto outcome = guarded.take(i, good[static_cast<size_t>(i)]);
    for (int64_t n : numbers(outcome.undone)) undone.push_back(n);
    ASSERT_TRUE(outcome.answer.has_value()) << i;
    EXPECT_EQ(outcome.answer->loss.value_or(-1), losses[static_cast<size_t>(i)]) << i;
  }
  EXPECT_TRUE(guarded.check().empty());
  EXPECT_EQ(undone, (std::vector<int64_t>{1003, 1020, 1021, 991 + count}));
  EXPECT_EQ(guarded.learned(), count - 1);
  EXPECT_EQ(guarded.predicted(), 1);
  const NamedArrays have = states();
  for (const auto& [name, array] : want) EXPECT_TRUE(identical(array, have.at(name))) << name;
}

// The control: without a guard the same record leaves nothing to go on with.
TEST_P(GuardedStreamTest, WithoutItOneRecordSpoilsAll) {
  const Record bad = record(0, 1e38f), good = record(0.1f, 0.1f);
  net->learn(*bad.x, *bad.y);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(std::isfinite(net->learn(*good.x, *good.y).loss));
  const TemporaryFolder folder;
  const auto            path = folder.path / "spoiled";
  EXPECT_NE(error_of([&] { save(*net, path.string(), 0); }).find("is not finite"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path));
}

// With this rate the first update moves weights beyond use, though its answer and loss are like any others.
TEST_P(GuardedStreamTest, HarmThatDoesNotShowIsFoundBeforeASave) {
  begin(1e12);
  GuardedStream     guarded(*net);
  const NamedArrays before = states();
  EXPECT_LT(guarded.take(1, record(0.1f, 0.1f)).answer->loss.value(), 1);
  EXPECT_EQ(numbers(guarded.check()), std::vector<int64_t>{1});
  EXPECT_EQ(guarded.learned(), 0);
  const NamedArrays after = states();
  for (const auto& [name, array] : before) EXPECT_TRUE(identical(array, after.at(name))) << name;
}

// The same, found by a loss that is finite and absurd. What was answered in between stays a record like others.
TEST_P(GuardedStreamTest, HarmIsFoundByALaterRecord) {
  begin(1e12);
  GuardedStream guarded(*net);
  EXPECT_TRUE(guarded.take(1, record(0.1f, 0.1f)).undone.empty());
  Record only_asked = record(0.1f, 0.1f);
  only_asked.y.reset();
  EXPECT_TRUE(guarded.take(2, only_asked).undone.empty());
  EXPECT_EQ(numbers(guarded.take(3, record(0.1f, 0.1f)).undone), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(guarded.learned(), 0);
  EXPECT_EQ(guarded.predicted(), 1);
}

INSTANTIATE_TEST_SUITE_P(, GuardedStreamTest, ::testing::Values("reference", "cpu", "cuda-emulation"));

}  // namespace
}  // namespace braintrace::stream
