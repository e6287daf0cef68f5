// SPDX-License-Identifier: Apache-2.0
// braintrace predict: writes the predictions of a checkpoint for every sample of its task or of another file.
#include <fmt/format.h>

#include "braintrace/base/counted.h"
#include "braintrace/io/file.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/trainer.h"
#include "cli/backend_choice.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

struct PredictArguments {
  std::string   checkpoint, part = "validation", data, output;
  BackendChoice backend;
};

int run_predict(const PredictArguments& o) {
  require(o.output.ends_with(".npz") || o.output.ends_with(".csv"), "-o {}: give a name that ends in .npz or .csv.",
          o.output);
  check_writable(o.output);
  o.backend.apply();
  train::Config config = train::config_of_checkpoint(o.checkpoint);
  if (!o.backend.backend.empty()) config.backend = o.backend.backend;
  if (!o.data.empty()) config = train::with_test_file(std::move(config), o.data, train::Targets::Optional);
  train::Trainer trainer(std::move(config));
  trainer.load(o.checkpoint);
  const bool tests = o.part == "test" || !o.data.empty();
  const auto made  = trainer.predict(tests ? tasks::Part::Test : tasks::Part::Validation);
  train::write_predictions(o.output, made);
  note("{} written to {}\n", counted(made.samples.size(), "prediction"), o.output);
  return 0;
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<PredictArguments>();
  auto* command =
      app.add_subcommand("predict", "Write the predictions of a checkpoint for each sample of its data or of a file");
  command->add_option("CHECKPOINT", options->checkpoint, "A checkpoint that braintrace train wrote")->required();
  auto* part = command->add_option("--part,--set", options->part, "Part of the data: validation or test")
                   ->type_name("validation|test")
                   ->check(CLI::IsMember({"validation", "test"}));
  command
      ->add_option("--data", options->data,
                   "Predict this file instead, with the task settings of the checkpoint; a csv file needs no targets")
      ->type_name("FILE")
      ->excludes(part);
  command->add_option("-o,--output", options->output, "File to write: .npz or .csv")->type_name("FILE")->required();
  options->backend.add_options(*command);
  command->footer(
      "  braintrace predict run/checkpoints/best.safetensors --part test -o predictions.csv\n"
      "  braintrace predict run/checkpoints/best.safetensors --data new.csv -o predictions.npz\n");
  command->callback([options, &chosen] { chosen = [options] { return run_predict(*options); }; });
}

}  // namespace braintrace::cli
