// SPDX-License-Identifier: Apache-2.0
// braintrace graph: compiles a model and shows what the compiler found, as text, data or a picture.
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/nearest.h"
#include "braintrace/compiler/report.h"
#include "braintrace/io/file.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/graph_view.h"
#include "braintrace/viz/program_picture.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

const std::vector<std::string> formats = {"text", "json",    "dot",         "svg",
                                          "html", "program", "program-dot", "program-svg"};

std::string extension(const std::string& format) {
  return format == "text" || format == "program" ? "txt"
         : format == "program-dot"               ? "program.dot"
         : format == "program-svg"               ? "program.svg"
                                                 : format;
}

// A stored graph (schema braintrace-graph/1) is shown without its model.
std::optional<GraphView> stored_graph(const std::string& path) {
  const auto text = text_of_file(path);
  if (!text || text->find("\"braintrace-graph/") == std::string::npos) return std::nullopt;
  return read_graph_json(*text);
}

class Rendering {
 public:
  explicit Rendering(const ModelArgument& argument) {
    view_ = stored_graph(argument.model);
    if (view_) return;
    model_ = compile_argument(argument);
    view_  = view_of(model_->graph, model_->name);
  }

  std::string as(const std::string& format) const {
    if (format == "json") return graph_json(*view_);
    if (format == "dot") return graph_dot(*view_);
    if (format == "svg") return graph_svg(*view_);
    if (format == "html") return graph_html(*view_);
    if (format == "program") return view_->program;
    require(model_.has_value(), "format {}: a stored graph has no model; use json, dot, svg, html or program.", format);
    const ModuleInfo& info = model_->graph.module_info;
    if (format == "program-dot") return program_dot(info.program(), names_of(info));
    if (format == "program-svg") return program_svg(info.program(), names_of(info));
    return CompilationReport(model_->graph).to_str(1);
  }

 private:
  std::optional<CompiledModel> model_;
  std::optional<GraphView>     view_;
};

struct GraphArguments {
  ModelArgument            model;
  std::vector<std::string> formats;
  std::string              output;
  bool                     json = false;
};

int run_graph(const GraphArguments& o) {
  std::vector<std::string> wanted = o.formats;
  if (o.json) wanted = {"json"};
  if (wanted.empty() && !o.output.empty()) {
    const std::string suffix = std::filesystem::path(o.output).extension().string();
    for (const char* f : {"json", "dot", "svg", "html"})
      if (suffix == fmt::format(".{}", f)) wanted = {f};
    require(
        !wanted.empty() || suffix.empty() || suffix == ".txt",
        "-o {}: there is no format for the extension {}.\n  Use .txt, .json, .dot, .svg or .html, or choose a format "
        "with --format.",
        o.output, suffix);
  }
  if (wanted.empty()) wanted = {"text"};
  for (const std::string& f : wanted) known_index(f, formats, "--format: there is no format", "Formats");
  require(wanted.size() == 1 || !o.output.empty(),
          "--format {}: several formats need -o NAME; the files get its name "
          "and an extension each.",
          fmt::join(wanted, ","));
  const Rendering rendering(o.model);
  for (const std::string& f : wanted) {
    const std::string text = rendering.as(f);
    if (o.output.empty())
      fmt::print("{}", utf8(text));  // a stored graph may hold anything
    else
      write_text(wanted.size() == 1 ? o.output : o.output + "." + extension(f), text);
  }
  return 0;
}

}  // namespace

void add_graph(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<GraphArguments>();
  auto* command = app.add_subcommand("graph", "Compile a model and show its hidden groups, weights and traces");
  options->model.add_options(*command);
  command
      ->add_option("--format", options->formats,
                   fmt::format("Output formats, separated by commas: {}", fmt::join(formats, ", ")))
      ->type_name("NAME,...")
      ->delimiter(',');
  command
      ->add_option("-o,--output", options->output,
                   "File to write; its extension (.txt, .json, .dot, .svg, .html) chooses the format")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "Same as --format json");
  command->footer(
      "  braintrace graph gru\n"
      "  braintrace graph gru -o gru.html\n"
      "  braintrace graph model.json --input f32[28,28,1] --format svg,json -o model\n");
  command->callback([options, &chosen] { chosen = [options] { return run_graph(*options); }; });
}

}  // namespace braintrace::cli
