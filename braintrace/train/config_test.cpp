// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/config.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace braintrace::train {
namespace {

const std::string least = R"({"model": "gru", "task": {"type": "copy"}, "steps": 10})";

std::string with(const std::string& field, const std::string& value) {
  auto j   = nlohmann::json::parse(least);
  j[field] = nlohmann::json::parse(value);
  return j.dump();
}
void expect_refused(const std::string& json, const std::string& part) {
  try {
    read_config(json);
    ADD_FAILURE() << "accepted: " << json;
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Config, FillsInDefaultsAndShowsThem) {
  const Config c = read_config(least);
  const auto   j = nlohmann::json::parse(c.text);
  EXPECT_EQ(j["optimizer"]["type"], "adam");
  EXPECT_EQ(j["optimizer"]["beta1"], 0.9);
  EXPECT_EQ(j["rule"]["name"], "D_RTRL");
  EXPECT_EQ(j["model"]["type"], "chain");
  EXPECT_EQ(j["checkpoint"]["keep"], 3);
  EXPECT_EQ(c.update_every, 0);
  EXPECT_TRUE(c.reset);
  EXPECT_EQ(read_config(c.text).text, c.text);
}

TEST(Config, RefusesWhatItDoesNotKnow) {
  expect_refused("[1", "not JSON");
  expect_refused("[]", "expected an object");
  expect_refused(std::string(100000, '['), "brackets");
  expect_refused(R"({"task": {}, "steps": 1})", "config.model");
  expect_refused(R"({"model": "gru", "task": {}})", "either steps or epochs");
  expect_refused(with("epochs", "2"), "either steps or epochs");
  expect_refused(with("optimiser", "{}"), "did you mean 'optimizer'");
  expect_refused(with("batch", "\"many\""), "config.batch: expected a positive whole number");
  expect_refused(with("batch", "0"), "config.batch");
  expect_refused(with("seed", "-1"), "config.seed");
  expect_refused(with("update", "\"steps\""), "did you mean 'step'");
  expect_refused(with("window", "0"), "config.window");
  expect_refused(with("backend", "\"cpuu\""), "did you mean 'cpu'");
  expect_refused(with("dt", "0"), "config.dt");
  expect_refused(with("loss", "\"crossentropy\""), "did you mean 'cross_entropy'");
  expect_refused(with("model", "\"grv\""), "did you mean 'gru'");
  expect_refused(with("model", "\"no/such.json\""), "there is no file");
  expect_refused(with("rule", "3"), "config.rule");
  expect_refused(with("optimizer", R"({"type": "adma"})"), "did you mean 'adam'");
  expect_refused(with("optimizer", R"({"learning_rate": 1})"), "config.optimizer.learning_rate");
  expect_refused(with("optimizer", R"({"schedule": {"type": "cosine"}})"), "config.optimizer.schedule.length");
  expect_refused(with("validation", R"({"evry": 1})"), "did you mean 'every'");
  expect_refused(with("early_stop", R"({"at_goal": true})"), "there is no goal");
  expect_refused(with("checkpoint", R"({"keep": 0})"), "config.checkpoint.keep");
}

TEST(Config, FieldsMayBeReplaced) {
  const auto path = std::filesystem::temp_directory_path() / ("config_" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << least;
  const auto set = [&](std::vector<std::string> replaced) { return load_config(path, replaced); };
  const auto c   = set({"optimizer.lr=0.5", "batch=7", "rule.name=SnAp", "rule.n=3", "task.lag=4", "name=x y"});
  EXPECT_EQ(c.batch, 7);
  EXPECT_NE(c.optimizer.find("\"lr\":0.5"), std::string::npos);
  EXPECT_NE(c.rule.find("\"n\":3"), std::string::npos);
  EXPECT_NE(c.task.find("\"lag\":4"), std::string::npos);
  EXPECT_EQ(c.name, "x y");
  EXPECT_EQ(c.output, "runs/" + path.stem().string());
  EXPECT_THROW(set({"batch"}), UserError);
  EXPECT_THROW(set({"=1"}), UserError);
  EXPECT_THROW(set({"model.type=chain"}), UserError);  // inside a text
  EXPECT_THROW(set({"btach=7"}), UserError);
  std::filesystem::remove(path);
}

TEST(Config, SaysWhatMakesAnotherRun) {
  const Config a = read_config(least);
  EXPECT_EQ(difference(a, read_config(with("steps", "99"))), "");
  EXPECT_EQ(difference(a, read_config(with("seed", "3"))), "seed is 0 there and 3 here");
  EXPECT_EQ(difference(a, read_config(with("task", R"({"type": "copy", "lag": 4})"))),
            "task.lag is not given there and 4 here");
}

TEST(Config, DocumentListsTheFields) {
  std::ifstream     file(BRAINTRACE_SOURCE_DIR "/docs/training.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(config_reference()), std::string::npos) << "docs/training.md should hold this:\n"
                                                                    << config_reference();
}

}  // namespace
}  // namespace braintrace::train
