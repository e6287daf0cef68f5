// SPDX-License-Identifier: Apache-2.0
// braintrace advise: estimates the cost of each learning rule on a model and recommends one.
#include "braintrace/advise/advise.h"

#include <fmt/format.h>

#include "braintrace/model/random_stream.h"
#include "braintrace/nn/without_values.h"
#include "cli/backend_choice.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

struct AdviseArguments {
  ModelArgument model;
  AdviseOptions advise;
  BackendChoice backend;
  std::string   memory;
  bool          json = false;
};

std::string problem_with(const std::string& memory) {
  try {
    bytes_in(memory);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

int run_advise(AdviseArguments& o) {
  o.backend.apply();
  if (!o.backend.backend.empty()) o.advise.backend = o.backend.backend;
  if (!o.memory.empty()) o.advise.memory = bytes_in(o.memory);
  random::seed(1);
  // Draw weights only if the model runs, so that models that do not fit in memory can be estimated too.
  std::optional<nn::WithoutValues> without;
  if (!o.advise.measure) without.emplace();
  const BuiltModel model  = build_argument(o.model);
  const Advice     advice = advise(*model.module, model.name, model.input, o.advise);
  fmt::print("{}", o.json ? advice_json(advice) : advice_table(advice));
  return 0;
}

}  // namespace

void add_advise(CLI::App& app, Action& chosen) {
  auto  o = std::make_shared<AdviseArguments>();
  auto* command =
      app.add_subcommand("advise", "Estimate memory and time of each learning rule on a model, and recommend one");
  o->model.add_model(*command);
  AdviseOptions& a = o->advise;
  command->add_option("--batch", a.batch, "Sequences per batch")->check(whole_number(1))->capture_default_str();
  command->add_option("--length", a.length, "Steps per sequence")->check(whole_number(1))->capture_default_str();
  command->add_option("--memory", o->memory, "Available memory, such as 4GiB")
      ->type_name("SIZE")
      ->check(CLI::Validator([](const std::string& text) { return problem_with(text); }, ""));
  command
      ->add_option("--rules", a.rules,
                   "Rules to compare, separated by commas (default: all that learn from a loss alone)")
      ->type_name("NAME,...")
      ->delimiter(',');
  o->backend.add_options(*command);
  command->add_flag("--measure", a.measure,
                    "Run each rule briefly in its own process and show the measured memory and time");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "  braintrace advise gru --batch 64 --length 1000\n"
      "  braintrace advise gru --memory 512MiB --rules D_RTRL,BPTT --measure\n");
  command->callback([o, &chosen] { chosen = [o] { return run_advise(*o); }; });
}

}  // namespace braintrace::cli
