// SPDX-License-Identifier: Apache-2.0
// braintrace fidelity: compares every learning rule with the exact gradient, or the exact gradient with
// finite differences.
#include "braintrace/fidelity/fidelity.h"

#include <filesystem>

#include <fmt/format.h>

#include "braintrace/fidelity/check_grad.h"
#include "braintrace/io/file.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/runtime/backend.h"
#include "cli/backend_choice.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

struct FidelityArguments {
  ModelArgument   model;
  FidelityOptions fidelity;
  BackendChoice   backend;
  std::string     output;
  bool            json = false, finite_differences = false;
  int             digits = CheckGradOptions{}.digits;
};

int run_check(const FidelityArguments& o, const CompiledModel& model, const Type& input) {
  require(o.fidelity.windows.empty(), "--windows: --finite-differences works step by step; leave out one of them.");
  require(!o.output.ends_with(".svg"), "-o {}: --finite-differences has no picture; use .json or .txt.", o.output);
  CheckGradOptions options{.digits = o.digits, .seed = o.fidelity.seed};
  if (!o.fidelity.rules.empty()) options.rules = o.fidelity.rules;
  GradCheck check = check_grad(*model.module, input, o.fidelity.steps, options);
  check.model     = model.name;
  if (!o.output.empty()) write_text(o.output, o.output.ends_with(".json") ? check.json() : check.text());
  if (o.json || o.output.empty()) fmt::print("{}", o.json ? check.json() : check.text());
  return check.passed() ? 0 : 1;
}

int run_fidelity(const FidelityArguments& o) {
  o.backend.apply();
  prefer_backend("reference");  // most programs run a few times only
  const std::string suffix = std::filesystem::path(o.output).extension().string();
  require(o.output.empty() || suffix == ".svg" || suffix == ".json" || suffix == ".txt",
          "-o {}: give a name that ends in .svg, .json or .txt.", o.output);
  random::seed(o.fidelity.seed);
  const CompiledModel model = compile_argument(o.model);
  const Program&      step  = model.graph.module_info.program();
  const Type          input = step.type(step.args[0]);
  if (o.finite_differences) return run_check(o, model, input);
  const FidelityReport report = measure_fidelity(*model.module, model.name, input, o.model.batch, o.fidelity);
  if (!o.output.empty())
    write_text(o.output, suffix == ".svg"    ? fidelity_svg(report)
                         : suffix == ".json" ? fidelity_json(report)
                                             : fidelity_table(report));
  if (o.json)
    fmt::print("{}", fidelity_json(report));
  else if (o.output.empty() || suffix == ".svg")
    fmt::print("{}", fidelity_table(report));
  return 0;
}

}  // namespace

void add_fidelity(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<FidelityArguments>();
  auto* command = app.add_subcommand("fidelity", "Compare the gradient of each learning rule with the exact gradient");
  options->model.add_options(*command);
  FidelityOptions& f = options->fidelity;
  command->add_option("--steps", f.steps, "Length of the random sequence")->capture_default_str();
  command
      ->add_option("--windows", f.windows, "Window lengths, separated by commas (default: 1, 5 and the whole sequence)")
      ->delimiter(',');
  command
      ->add_option("--rules", f.rules,
                   "Rules to compare, separated by commas (default: all that learn from a loss alone; D_RTRL with "
                   "--finite-differences)")
      ->type_name("NAME,...")
      ->delimiter(',');
  command->add_flag("--last", f.last_only, "Only the last step has a target");
  command->add_option("--seed", f.seed, "Seed of parameters, inputs and targets")
      ->check(whole_number(0))
      ->capture_default_str();
  options->backend.add_options(*command);
  command->add_option("-o,--output", options->output, "File to write: .svg, .json or .txt")->type_name("FILE");
  command->add_flag("--finite-differences", options->finite_differences,
                    "Check the exact gradient against finite differences and RTRL; exit status 1 if they differ");
  command->add_option("--digits", options->digits, "Digits that --finite-differences must agree to")
      ->capture_default_str()
      ->needs("--finite-differences");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "  braintrace fidelity gru\n"
      "  braintrace fidelity gru --rules D_RTRL,UORO --windows 1,10 -o gru.svg\n"
      "  braintrace fidelity gru --finite-differences\n");
  command->callback([options, &chosen] { chosen = [options] { return run_fidelity(*options); }; });
}

}  // namespace braintrace::cli
