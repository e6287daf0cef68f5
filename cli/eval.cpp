// SPDX-License-Identifier: Apache-2.0
// braintrace eval: runs the network of a checkpoint on the validation part of its task.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/train/trainer.h"
#include "cli/backend_choice.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

struct EvalArguments {
  std::string            checkpoint;
  std::optional<int64_t> batches;
  BackendChoice          backend;
  bool                   json = false;
};

int run_eval(const EvalArguments& o) {
  o.backend.apply();
  train::Config config = train::config_of_checkpoint(o.checkpoint);
  if (!o.backend.backend.empty()) config.backend = o.backend.backend;
  train::Trainer trainer(std::move(config));
  trainer.load(o.checkpoint);
  const int64_t batches   = o.batches.value_or(trainer.config().validation.batches);
  const auto    v         = trainer.validate(batches);
  const Array&  confusion = trainer.record().confusion;
  const int64_t classes   = confusion.shape()[0];
  if (o.json) {
    nlohmann::ordered_json out = {{"checkpoint", o.checkpoint}, {"updates", v.step}, {"batches", batches}};
    out["loss"]                = v.loss;
    if (v.accuracy >= 0) out["accuracy"] = v.accuracy;
    for (int64_t i = 0; i < classes; ++i)
      out["confusion"].push_back(
          std::vector<int64_t>(confusion.data<int64_t>() + i * classes, confusion.data<int64_t>() + (i + 1) * classes));
    fmt::print("{}\n", json_text(out, 2));
    return 0;
  }
  fmt::print("{}: {} updates\nloss      {:.6g}\n", o.checkpoint, v.step, v.loss);
  if (v.accuracy >= 0) fmt::print("accuracy  {}\n", percent(v.accuracy));
  if (classes == 0 || classes > 20) return 0;
  fmt::print("answers (a row for each class that is right)\n");
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t k = 0; k < classes; ++k) fmt::print("{:7}", confusion.data<int64_t>()[i * classes + k]);
    fmt::print("\n");
  }
  return 0;
}

}  // namespace

void add_eval(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<EvalArguments>();
  auto* command = app.add_subcommand("eval", "Evaluate a checkpoint on the validation data of its task");
  command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint that braintrace train wrote")->required();
  command->add_option("--batches", options->batches, "Validation batches; as in training unless given")
      ->check(whole_number(1));
  options->backend.add_options(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("  braintrace eval copy_run/best.ckpt --batches 50\n");
  command->callback([options, &chosen] { chosen = [options] { return run_eval(*options); }; });
}

}  // namespace braintrace::cli
