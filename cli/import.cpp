// SPDX-License-Identifier: Apache-2.0
// braintrace import: converts a network of another package to a model description and a file of weights.
#include "braintrace/nir/import.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/io/safetensors.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

struct ImportArguments {
  std::string           file, output, reset = "hard", surrogate = "relu_grad";
  std::string           method;
  std::optional<double> dt;
  bool                  json = false;
};

int run_import(const ImportArguments& o) {
  require(o.output.ends_with(".json"), "-o {}: give a file that ends in .json; the weights are saved next to it.",
          o.output);
  nir::ImportOptions options{.dt_ms = o.dt, .method = {}, .reset = nn::reset_named(o.reset), .surrogate = o.surrogate};
  if (!o.method.empty()) options.method = nn::integrator_named(o.method);
  const nir::Imported net = [&] {
    const nir::Graph graph = nir::read(o.file);
    try {
      return nir::import_graph(graph, options);
    } catch (const UserError& error) {
      fail("{}: {}", o.file, error.what());
    }
  }();
  const auto model = zoo::build_model(net.description);
  zoo::load_weights(*model, net.weights);

  const std::string weights = o.output.substr(0, o.output.size() - 5) + ".safetensors";
  auto              text    = read_ordered_json(net.description, o.output);
  if (!net.weights.empty()) text["weights"] = std::filesystem::path(weights).filename().string();
  if (!net.weights.empty()) write_safetensors(weights, {net.weights, {{"source", "NIR"}}, false});
  write_text(o.output, json_text(text, 2) + "\n");

  int64_t numbers = 0;
  for (const auto& [name, array] : net.weights) numbers += array.size();
  const auto layers = text.contains("layers") ? text["layers"].size() : text["nodes"].size();
  if (o.json) {
    fmt::print("{}\n", json_text(nlohmann::ordered_json{{"model", o.output},
                                                        {"weights", net.weights.empty() ? "" : weights},
                                                        {"type", text["type"]},
                                                        {"layers", layers},
                                                        {"parameters", numbers},
                                                        {"notes", net.notes}},
                                 2));
    return 0;
  }
  fmt::print("{}: a {} of {} layers\n", o.output, text["type"].get<std::string>(), layers);
  if (!net.weights.empty()) fmt::print("{}: {} weights\n", weights, numbers);
  for (const std::string& n : net.notes) note("note: {}\n", n);
  return 0;
}

}  // namespace

void add_import(CLI::App& app, Action& chosen) {
  auto  o       = std::make_shared<ImportArguments>();
  auto* command = app.add_subcommand("import", "Import a network from a NIR file, with its weights");
  command->add_option("FILE", o->file, "NIR graph, for example from snnTorch or Norse")->required();
  command
      ->add_option("-o,--output", o->output,
                   "Model description to write; the weights are saved next to it as .safetensors")
      ->required()
      ->type_name("MODEL.json");
  command->add_option("--dt", o->dt, "Time step in ms (default: from the file, or 1); use 0.1 for files from snnTorch");
  command->add_option("--method", o->method, "Integrator (default: from the file, or euler, as in most packages)")
      ->type_name("euler|exp_euler")
      ->check(CLI::IsMember({"euler", "exp_euler"}));
  command
      ->add_option("--reset", o->reset,
                   "Reset after a spike: hard, to v_reset, as NIR defines it; or soft, by subtraction")
      ->type_name("hard|soft")
      ->check(CLI::IsMember({"hard", "soft"}))
      ->capture_default_str();
  command->add_option("--surrogate", o->surrogate, "Surrogate gradient of spikes; docs/models.md lists them")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "  braintrace import net.nir -o net.json\n"
      "  braintrace import snntorch.nir --dt 0.1 -o net.json\n");
  command->callback([o, &chosen] { chosen = [o] { return run_import(*o); }; });
}

}  // namespace braintrace::cli
