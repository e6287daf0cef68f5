// SPDX-License-Identifier: Apache-2.0
// Predictions, and baselines to compare them with.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "braintrace/io/file.h"
#include "braintrace/io/npy.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/baselines.h"
#include "braintrace/train/trainer.h"

namespace braintrace::train {
namespace {

using nlohmann::json;

std::string made(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/judging_test_" + name;
  std::ofstream(path) << text;
  return path;
}

json config_of(const json& task, int64_t outputs, int64_t inputs = 1) {
  return {
      {"model",
       {{"type", "chain"},
        {"layers",
         {{{"type", "gru"}, {"n_in", inputs}, {"n_rec", 3}}, {{"type", "linear"}, {"n_in", 3}, {"n_out", outputs}}}}}},
      {"task", task},
      {"batch", 4},
      {"steps", 2},
      {"backend", "reference"}};
}

json classes_task() {
  std::string text = "@classLabel true left right\n@data\n";
  for (int i = 0; i < 21; ++i)
    text += std::to_string(i % 3) + "," + std::to_string(i % 5) + (i % 3 == 0 ? ":left\n" : ":right\n");
  return {{"type", "ts"}, {"file", made("classes.ts", text)}, {"validation", 0.3}, {"test", 0.3}};
}

TEST(Judging, PredictionsAreTheAnswersThatWereJudged) {
  Trainer trainer(read_config(config_of(classes_task(), 2).dump()));
  trainer.step();
  for (auto part : {tasks::Part::Validation, tasks::Part::Test}) {
    const double      accuracy = trainer.validate(0, part).accuracy;
    const Predictions p        = trainer.predict(part);
    ASSERT_EQ(p.samples.size(), 6);
    double right = 0;
    for (int64_t r = 0; r < 6; ++r) {
      EXPECT_EQ(at(p.samples, r), r);
      EXPECT_EQ(at(p.steps, r), 1) << "the last step is asked";
      right += at(p.classes, r) == at(p.targets, r) ? 1 : 0;
      const double a = at(p.outputs, 2 * r), b = at(p.outputs, 2 * r + 1);
      EXPECT_NEAR(at(p.probabilities, 2 * r), 1 / (1 + std::exp(b - a)), 1e-6);
      EXPECT_EQ(at(p.classes, r), b > a ? 1 : 0);
    }
    EXPECT_DOUBLE_EQ(right / 6, accuracy);
  }
}

TEST(Judging, PredictionsAreWrittenAsTableAndArrays) {
  Predictions p;
  p.samples             = Array::of<int64_t>({0, 1}, {2});
  p.steps               = Array::of<int64_t>({4, 4}, {2});
  p.outputs             = Array::of<float>({1, 2, 0.5, -1}, {2, 2});
  p.targets             = Array::of<int64_t>({1, 1}, {2});
  p.classes             = Array::of<int64_t>({1, 0}, {2});
  p.probabilities       = Array::of<float>({0.25, 0.75, 0.875, 0.125}, {2, 2});
  p.class_names         = {"a, \"b\"", "c"};
  const std::string csv = ::testing::TempDir() + "/judging_test.csv", npz = ::testing::TempDir() + "/judging_test.npz";
  write_predictions(csv, p);
  EXPECT_EQ(read_text(csv),
            "sample,step,target,class,output 0,output 1,\"p(a, \"\"b\"\")\",p(c)\n"
            "0,4,c,c,1,2,0.25,0.75\n"
            "1,4,c,\"a, \"\"b\"\"\",0.5,-1,0.875,0.125\n");
  write_predictions(npz, p);
  EXPECT_EQ(read_npz(npz).at("probabilities").shape(), (Shape{2, 2}));
  EXPECT_THROW(write_predictions("answers.txt", p), UserError);

  Predictions values;
  values.samples = values.steps = Array::of<int64_t>({0}, {1});
  values.outputs                = Array::of<float>({0.5, -1}, {1, 2});
  values.targets                = Array::of<float>({0.25, 2}, {1, 2});
  write_predictions(csv, values);
  EXPECT_EQ(read_text(csv), "sample,step,target 0,target 1,output 0,output 1\n0,0,0.25,2,0.5,-1\n");
  write_predictions(npz, values);
  EXPECT_FALSE(read_npz(npz).contains("classes"));

  p.targets = Predictions().targets;
  write_predictions(csv, p);
  EXPECT_TRUE(read_text(csv).starts_with("sample,step,class,output 0,output 1,")) << "unlabeled samples";
  EXPECT_TRUE(read_text(csv).find("\n0,4,c,1,2,") != std::string::npos);
}

TEST(Judging, ARunOfEpochsJudgesAnotherFile) {
  json config = config_of(classes_task(), 2);
  config.erase("steps");
  config["epochs"]     = 1;
  const Config trained = read_config(config.dump());
  Trainer      trainer(with_test_file(trained, classes_task()["file"]));
  EXPECT_EQ(trainer.predict(tasks::Part::Test).samples.size(), 21);
}

// y = 2 x_t - x_{t-1} + 1: a linear answer is exact, the mean explains nothing.
TEST(Judging, ALinearAnswerFindsALinearRule) {
  std::string rows   = "x,y\n";
  double      before = 0;
  for (int i = 0; i < 400; ++i) {
    const double x = std::sin(0.7 * i) + std::cos(0.31 * i * i);
    rows += std::to_string(x) + "," + std::to_string(2 * x - before + 1) + "\n";
    before = x;
  }
  const json task = {
      {"type", "csv"}, {"file", made("linear.csv", rows)}, {"inputs", "x"}, {"targets", "y"}, {"length", 20}};
  const Config config = read_config(config_of(task, 1).dump());
  const auto   found  = baselines(config, *tasks::make_task(task, 0), tasks::Part::Validation, 0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "mean");
  EXPECT_LT(std::abs(found[0].values->r2), 0.05);
  EXPECT_EQ(found[1].name, "linear, last 20 inputs");
  EXPECT_GT(found[1].values->r2, 0.93) << "only the first step of a window does not know the one before";
}

// A slow wave is nearly what it was one step ago.
TEST(Judging, ForecastsAreComparedWithTheLastTarget) {
  std::string rows = "x\n";
  for (int i = 0; i < 101; ++i) rows += std::to_string(std::sin(0.1 * i)) + "\n";
  const json   task   = {{"type", "csv"}, {"file", made("wave.csv", rows)},
                         {"inputs", "x"}, {"targets", "x"},
                         {"length", 10},  {"ahead", 1}};
  const Config config = read_config(config_of(task, 1).dump());
  const auto   found  = baselines(config, *tasks::make_task(task, 0), tasks::Part::Validation, 0);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].name, "last target");
  EXPECT_GT(found[1].values->rmse, 0.01);
  EXPECT_LT(found[1].values->rmse, 0.1);
  EXPECT_LT(found[2].values->rmse, 0.2 * found[0].values->rmse);
}

TEST(Judging, ClassesAreComparedWithTheCommonestAndALinearAnswer) {
  const Config config = read_config(config_of(classes_task(), 2).dump());
  const auto   found  = baselines(config, *tasks::make_task(classes_task(), 0), tasks::Part::Validation, 0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(words_of(found[0]), "most common class: 66.7%");
  EXPECT_EQ(found[1].accuracy, 1) << "the first input tells the class";
}

TEST(Judging, RegressionIsJudgedByItsShareOfTheSpread) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 100; ++i) rows += std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
  const json task = {
      {"type", "csv"}, {"file", made("values.csv", rows)}, {"inputs", "x"}, {"targets", "y"}, {"length", 5}};
  Trainer    trainer(read_config(config_of(task, 1).dump()));
  const auto v = trainer.validate(0);
  const auto m = trainer.record().judgment.values;
  ASSERT_TRUE(m.has_value());
  EXPECT_NEAR(m->rmse * m->rmse, v.loss, 1e-5) << "mse is the loss";
  double            squares = 0, spread = 0, mean = 0;
  const Predictions p = trainer.predict(tasks::Part::Validation);
  const int64_t     n = p.samples.size();
  for (int64_t r = 0; r < n; ++r) mean += at(p.targets, r) / double(n);
  for (int64_t r = 0; r < n; ++r) {
    squares += std::pow(at(p.targets, r) - at(p.outputs, r), 2);
    spread += std::pow(at(p.targets, r) - mean, 2);
  }
  EXPECT_NEAR(m->r2, 1 - squares / spread, 1e-5);
}

}  // namespace
}  // namespace braintrace::train
