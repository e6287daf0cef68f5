// SPDX-License-Identifier: Apache-2.0
// braintrace eval: runs the network of a checkpoint on the validation or test part of its task, or on another file.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/evaluation_json.h"
#include "braintrace/train/metrics.h"
#include "braintrace/train/trainer.h"
#include "braintrace/viz/escape.h"
#include "cli/backend_choice.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

struct EvalArguments {
  std::string            checkpoint, part = "validation", data;
  std::optional<int64_t> batches;
  BackendChoice          backend;
  bool                   json = false;
};

std::vector<int64_t> row_of(const Array& confusion, int64_t i) {
  const int64_t  classes = confusion.shape()[0];
  const int64_t* first   = confusion.data<int64_t>() + i * classes;
  return {first, first + classes};
}

void print_classes(const train::ValidationRecord& v, const train::Judgment& judgment,
                   const std::vector<std::string>& names, bool surprise) {
  const Array&              confusion = judgment.confusion;
  const train::ClassMetrics m         = train::class_metrics(confusion);
  fmt::print("accuracy           {}\nbalanced accuracy  {}\nmacro F1           {:.4f}\n", percent(v.accuracy),
             percent(m.balanced_accuracy), m.macro_f1);
  fmt::print("calibration error  {} (difference between confidence and accuracy)\n",
             percent(judgment.calibration_error));
  if (surprise)
    fmt::print("perplexity         {:.4g} ({:.4g} bits per prediction)\n", std::exp(v.loss),
               v.loss / std::numbers::ln2);
  const int64_t classes = confusion.shape()[0];
  if (classes > 20) return;
  const auto name = [&](int64_t i) { return names.empty() ? std::to_string(i) : utf8(names[static_cast<size_t>(i)]); };
  fmt::print("confusion matrix (rows: target, columns: prediction)\n{:>10}", "");
  for (int64_t i = 0; i < classes; ++i) fmt::print("{:>11}", name(i));
  fmt::print("{:>11}\n", "recall");
  for (int64_t i = 0; i < classes; ++i) {
    fmt::print("{:>10}", name(i));
    for (int64_t n : row_of(confusion, i)) fmt::print("{:11}", n);
    fmt::print("{:>11}\n", m.asked[static_cast<size_t>(i)] == 0 ? "–" : percent(m.recall[static_cast<size_t>(i)]));
  }
}

int run_eval(const EvalArguments& o) {
  o.backend.apply();
  train::Config config = train::config_of_checkpoint(o.checkpoint);
  if (!o.backend.backend.empty()) config.backend = o.backend.backend;
  if (!o.data.empty()) config = train::with_test_file(std::move(config), o.data);
  train::Trainer trainer(std::move(config));
  trainer.load(o.checkpoint);
  const bool    tests   = o.part == "test" || !o.data.empty();
  const int64_t batches = o.batches.value_or(tests ? 0 : trainer.config().validation.batches);
  const auto    v       = trainer.validate(batches, tests ? tasks::Part::Test : tasks::Part::Validation);
  trainer.compare();
  const train::Judgment& judgment = trainer.record().judgment;
  const auto&            names    = trainer.record().class_names;
  if (o.json) {
    nlohmann::ordered_json out = {
        {"checkpoint", o.checkpoint}, {"updates", v.step}, {"set", o.data.empty() ? o.part : o.data}};
    out["batches"] = batches == 0 ? nlohmann::json("all") : nlohmann::json(batches);
    out.update(train::evaluation_json(trainer, v));
    fmt::print("{}\n", json_text(out, 2));
    return 0;
  }
  fmt::print("{}: {}\nloss               {:.6g}\n", o.checkpoint, counted(v.step, "update"), v.loss);
  if (const auto& m = judgment.values)
    fmt::print("R²                 {}\nRMSE               {:.4g}\nMAE                {:.4g}\n", train::r2_text(*m),
               m->rmse, m->mae);
  if (v.accuracy >= 0) print_classes(v, judgment, names, train::measures_surprise(trainer.config()));
  for (const train::Baseline& b : judgment.baselines) fmt::print("baseline           {}\n", train::words_of(b));
  if (v.accuracy >= 0 && judgment.baselines.empty())
    fmt::print("baseline           most common class of these samples: {}\n",
               percent(train::class_metrics(judgment.confusion).majority));
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<EvalArguments>();
  auto* command = app.add_subcommand("eval", "Evaluate a checkpoint on validation data, test data or another file");
  command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint that braintrace train wrote")->required();
  auto* part = command->add_option("--part,--set", options->part, "Part of the data: validation or test")
                   ->type_name("validation|test")
                   ->check(CLI::IsMember({"validation", "test"}));
  command
      ->add_option("--data", options->data,
                   "Evaluate this .npz or .csv file instead, with the task settings of the checkpoint")
      ->type_name("FILE")
      ->excludes(part);
  command->add_option("--batches", options->batches, "Number of batches (default: as in training; the whole test part)")
      ->check(whole_number(1));
  options->backend.add_options(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "  braintrace eval copy_run/checkpoints/best.safetensors --batches 50\n"
      "  braintrace eval run/checkpoints/best.safetensors --part test\n"
      "  braintrace eval run/checkpoints/best.safetensors --data new.csv\n");
  command->callback([options, &chosen] { chosen = [options] { return run_eval(*options); }; });
}

}  // namespace braintrace::cli
