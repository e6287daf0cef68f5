// SPDX-License-Identifier: Apache-2.0
// braintrace export: writes a network that keeps learning as C, as a web page or as a NIR graph.
#include "braintrace/export/export.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/algorithms/config_json.h"
#include "braintrace/base/json.h"
#include "braintrace/base/shell_word.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/export/demo_page.h"
#include "braintrace/io/file.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nir/export.h"
#include "braintrace/runtime/command.h"
#include "braintrace/viz/png.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* arm_flags = "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os";

struct ExportArguments {
  ModelArgument          model;
  ExportOptions          c;
  std::optional<double>  decay, kappa;
  std::optional<int64_t> n, ram, flash;
  std::string            rule_options = "{}", dtype = "f32", output;
  uint64_t               seed = 1;
  std::string            nir;
  bool                   json = false, html = false;
};

// A temporary folder with the files, in which shell commands run.
class Workshop {
 public:
  explicit Workshop(const std::vector<ExportedFile>& files) {
    require(!folder().empty() && folder().find('\'') == std::string::npos,
            "export: there is no folder for temporary files.");
    for (const ExportedFile& f : files) write_text(folder() + "/" + f.name, f.text);
  }
  std::string folder() const { return temporary_.path.string(); }
  bool        run(const std::string& command) {
           constexpr double seconds = 120;
           const auto       result  = run_command({"/bin/sh", "-c", fmt::format("cd '{}' && {}", folder(), command)},
                                                  folder() + "/said.txt", folder(), seconds);
           return result.end == CommandEnd::Done;
  }
  std::string said() const { return read_text(folder() + "/said.txt"); }

 private:
  TemporaryFolder temporary_;
};

// demo.wasm in base64.
std::string demo_wasm(const Exported& e) {
  Workshop          workshop(demo_sources(e));
  const std::string find =
      "for c in clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21; do "
      "if command -v $c >/dev/null; then exec $c ";
  const bool is_made = workshop.run(fmt::format("{} {}; fi; done; echo 'there is no clang'; exit 1", find,
                                                fmt::join(demo_compiler_arguments(), " ")));
  require(
      is_made,
      "export --html: the network could not be compiled as WebAssembly:\n  {}\n  It needs clang and lld (Debian: apt "
      "install clang lld).",
      workshop.said());
  return base64(read_text(workshop.folder() + "/demo.wasm"));
}

void write_demo(const ExportArguments& o, const Exported& e, const std::string& name) {
  require(o.output.ends_with(".html"), "-o {}: with --html, give a file that ends in .html.", o.output);
  require(o.dtype == "f32", "--html: the page runs in f32.");
  check_demo(e);
  const DemoWords words{fmt::format("{} learns in your browser with {}", name, o.c.rule),
                        "This page runs a network and trains it at every step. The network reads the position of your "
                        "pointer and learns to "
                        "predict where it was some steps ago. The eligibility traces below carry the gradient forward "
                        "in time; nothing else of the past is stored. Written by braintrace export --html."};
  write_text(o.output, demo_page(e, words, demo_wasm(e)));
}

// Bytes of code and constant data for a Cortex-M4, without the C library; nothing when its compiler is not installed.
std::optional<int64_t> arm_flash(const Exported& c) {
  Workshop workshop(c.files);
  if (!workshop.run(fmt::format(
          "arm-none-eabi-gcc -std=c99 {} -c model.c -o model.o 2>/dev/null && arm-none-eabi-size model.o 2>/dev/null",
          arm_flags)))
    return {};
  long long text = 0, data = 0;
  if (std::sscanf(workshop.said().c_str(), "%*[^\n] %lld %lld", &text, &data) != 2) return {};
  return text + data;
}

void check_limit(const char* what, const std::optional<int64_t>& limit, int64_t bytes, const std::string& advice) {
  require(!limit || bytes <= *limit, "export: the network needs {} bytes of {}, more than the {} given.\n  {}", bytes,
          what, limit.value_or(0), advice);
}

// An empty or new folder.
void prepare_folder(const std::string& path) {
  std::error_code error;
  if (fs::exists(path)) {
    require(fs::is_directory(path), "-o {}: this is a file; give a folder.", path);
    require(fs::is_empty(path, error), "-o {}: the folder is not empty; give a new one.", path);
  }
  fs::create_directories(path, error);
  require(!error, "-o {}: cannot create the folder: {}.", path, error.message());
}

int run_export_nir(const ExportArguments& o) {
  require(o.output.empty() && !o.html, "--nir: this option already names the output file; leave out -o and --html.");
  random::seed(o.seed);
  const BuiltModel model = build_argument(o.model);
  init_all_states(*model.module);
  const nir::Graph graph = nir::export_graph(model.description, *model.module, model.input.shape);
  nir::write(o.nir, graph);
  if (o.json)
    fmt::print(
        "{}\n",
        json_text(nlohmann::ordered_json{{"file", o.nir}, {"nodes", graph.nodes.size()}, {"edges", graph.edges.size()}},
                  2));
  else
    fmt::print("{}: {} as a NIR graph of {} nodes and {} edges\n", o.nir, model.name, graph.nodes.size(),
               graph.edges.size());
  return 0;
}

int run_export(const ExportArguments& o) {
  if (!o.nir.empty()) return run_export_nir(o);
  require(!o.output.empty(), "-o FOLDER is missing; the C files go there. (--nir FILE writes a NIR graph instead.)");
  const auto dtype = dtype_named(o.dtype);
  require(dtype == DType::F32 || dtype == DType::F64, "--dtype {}: expected f32 or f64.", o.dtype);
  const Environment::Scope scope({.precision = *dtype});
  random::seed(o.seed);
  const CompiledModel model = compile_argument(o.model);
  const Program&      step  = model.graph.module_info.program();
  Type                input = step.type(step.args[0]);
  ExportOptions       c     = o.c;
  c.name                    = model.name;
  c.rule_options            = rule_options_from_json(read_json(o.rule_options, "--rule-options"));
  if (o.decay) c.rule_options.decay_or_rank = TraceDecay::decay(*o.decay);
  if (o.kappa) c.rule_options.kappa_filter_decay = o.kappa;
  if (o.n) c.rule_options.n = o.n;
  c.rule_options.compile = o.model.reference ? CompileOptions::reference() : CompileOptions{};
  const Exported e       = export_model(*model.module, input, c);
  if (o.html) {
    write_demo(o, e, model.name);
    fmt::print("{}: a page in which {} learns with {} and {}; open it in a browser\n", o.output, model.name, c.rule,
               c.optimizer);
    return 0;
  }

  check_limit("RAM", o.ram, e.sizes.ram, "Use fewer units, or a rule with smaller traces, such as ES_D_RTRL.");
  const std::optional<int64_t> flash = arm_flash(e);
  check_limit("flash", o.flash, flash.value_or(e.sizes.constants), "Use fewer units or layers.");
  prepare_folder(o.output);
  for (const ExportedFile& f : e.files) write_text((fs::path(o.output) / f.name).string(), f.text);

  if (o.json) {
    nlohmann::ordered_json j = {{"folder", o.output},
                                {"rule", c.rule},
                                {"ram", {{"states", e.sizes.states}, {"arena", e.sizes.arena}, {"all", e.sizes.ram}}},
                                {"flash", {{"constants", e.sizes.constants}}}};
    if (flash) j["flash"]["cortex_m4"] = *flash;
    for (const ExportedFile& f : e.files) j["files"].push_back(f.name);
    fmt::print("{}\n", json_text(j, 2));
    return 0;
  }
  fmt::print("{}: {} with {} and {}, in {}\n", o.output, model.name, c.rule, c.optimizer, o.dtype);
  fmt::print("RAM    {:>9} bytes: {} of weights, states and traces, {} of working memory; the stack is extra\n",
             e.sizes.ram, e.sizes.states, e.sizes.arena);
  if (flash)
    fmt::print("flash  {:>9} bytes: {} of code (Cortex-M4, -Os, without the C library), {} of constants\n", *flash,
               *flash - e.sizes.constants, e.sizes.constants);
  else
    fmt::print("flash  {:>9} bytes of constants; install gcc-arm-none-eabi to see the size of the code\n",
               e.sizes.constants);
  fmt::print("try it: cmake -G Ninja -S {0} -B {0}/build && cmake --build {0}/build && ctest --test-dir {0}/build\n",
             shell_word(o.output));
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Action& chosen) {
  auto  o = std::make_shared<ExportArguments>();
  auto* command =
      app.add_subcommand("export", "Export a network that keeps learning as self-contained C99, or as a NIR graph");
  o->model.add_model(*command);
  o->model.add_reference(*command);
  add_rule(*command, o->c.rule, o->rule_options);
  command->add_option("--decay", o->decay, "Short for decay_or_rank in --rule-options");
  command->add_option("--kappa", o->kappa, "Short for kappa_filter_decay in --rule-options");
  command->add_option("--n", o->n, "Short for n in --rule-options");
  command->add_option("--optimizer", o->c.optimizer, "Optimizer")->type_name("sgd|adam")->capture_default_str();
  command->add_option("--lr", o->c.lr, "Learning rate")->capture_default_str();
  command->add_option("--loss", o->c.loss, "Loss; cross_entropy takes an integer label")
      ->type_name("mse|cross_entropy")
      ->capture_default_str();
  command->add_option("--dtype", o->dtype, "Element type")->type_name("f32|f64")->capture_default_str();
  command->add_option("--seed", o->seed, "Seed of the initial weights")->check(whole_number(0))->capture_default_str();
  command->add_option("--test-steps", o->c.test_steps, "Steps of the recorded test sequence")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--ram", o->ram, "Available RAM in bytes; exporting a larger network fails")
      ->check(whole_number(0));
  command->add_option("--flash", o->flash, "Available flash in bytes; exporting a larger network fails")
      ->check(whole_number(0));
  command->add_option("-o,--output", o->output, "Folder to create; with --html, the page to write")
      ->type_name("FOLDER");
  command->add_option("--nir", o->nir, "Write the network as a NIR graph to this file, in place of C")
      ->type_name("FILE");
  command->add_flag("--html", o->html, "Write a page in which the network learns in the browser; needs clang and lld");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "  braintrace export gru --rule D_RTRL --lr 0.01 -o gru_c\n"
      "  braintrace export gru --optimizer adam --lr 0.001 --html -o gru.html\n"
      "  braintrace export net.json --weights best.safetensors --nir net.nir\n"
      "  braintrace export lif --rule ES_D_RTRL --decay 0.9 --ram 65536 -o lif_c\n");
  command->callback([o, &chosen] { chosen = [o] { return run_export(*o); }; });
}

}  // namespace braintrace::cli
