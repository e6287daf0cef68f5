// SPDX-License-Identifier: Apache-2.0
// braintrace schedule: shows the kernels of a learning step, and the effect of each compiler pass.
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "braintrace/algorithms/registry.h"
#include "braintrace/base/lists.h"
#include "braintrace/bench/training.h"
#include "braintrace/codegen/c/emit.h"
#include "braintrace/codegen/cost.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/rotate.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/held_states.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/simplify.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

struct ScheduleArguments {
  ModelArgument            model;
  std::string              rule   = "D_RTRL";
  int64_t                  batch  = 1;
  int64_t                  window = 0;
  int64_t                  cores  = codegen::native_target().cores;
  std::vector<std::string> without;
  std::string              dump;
  bool                     time_passes = false, c = false, portable = false, list = false;
};

struct Learning {
  Program           program;
  Arrays            constants;
  std::vector<Feed> feeds;
};

// Gradient and update of one step, or the gradient of a window.
Learning traced_learning(const ScheduleArguments& o) {
  const Algorithm& rule = algorithm_named(o.rule);
  // A window that starts and ends without traces needs no estimate of what comes after it.
  require(rule.needs() == Need::Nothing || (rule.needs() == Need::Synthesizer && o.window > 0),
          "schedule: --rule {} needs {} in addition to a loss, which is not available here.\n  Use another rule{}.",
          rule.name, to_string(rule.needs()), rule.needs() == Need::Synthesizer ? ", or give --window" : "");
  random::seed(1);
  const BuiltModel model = build_argument(o.model);
  init_all_states(*model.module, {.batch_size = o.batch});
  Type in = model.input;
  in.shape.insert(in.shape.begin(), o.batch);
  Type out = trace_function({in}, [&](const Tensors& x) { return model.module->call(x); }).result_types().at(0);
  if (o.window > 0)
    for (Type* t : {&in, &out}) t->shape.insert(t->shape.begin(), o.window);
  const auto            mode = o.window > 0 ? bench::Mode::Sequence : bench::Mode::Stream;
  bench::Training       training(*model.module, rule.name, mode, Tensor(Array(in)), Tensor(Array(out)));
  const StatefulProgram traced = training.traced();
  Arrays                constants;
  for (const Tensor& c : traced.constants) constants.push_back(c.array());
  return {simplify(traced.program), constants, feeds_of(traced)};
}

// As the library compiles it; exported programs do not run on their own results.
codegen::Schedule scheduled(const Learning& l, const codegen::Options& o) {
  const auto rotated = o.target.has_host ? codegen::rotated(l.program, l.feeds, o) : std::nullopt;
  return codegen::scheduled({codegen::with_known_indices(rotated ? rotated->step : l.program, l.constants, o)}, o);
}

void list_passes() {
  for (const codegen::Pass& p : codegen::passes()) fmt::print("{:<10} {}\n", p.name, p.doc);
}

// Work outside the passes, such as building kernels, has a separate row, so that the rows add up.
void print_times(const std::vector<std::pair<std::string_view, double>>& runs, double total) {
  std::map<std::string_view, std::pair<int, double>> times;
  double                                             others = total;
  for (const auto& [pass, seconds] : runs) {
    ++times[pass].first;
    times[pass].second += seconds;
    others -= seconds;
  }
  fmt::print("pass       runs         ms\n");
  for (const codegen::Pass& p : codegen::passes())
    fmt::print("{:<10} {:>4} {:>10.3f}\n", p.name, times[p.name].first, 1e3 * times[p.name].second);
  fmt::print("{:<15} {:>10.3f}\n{:<15} {:>10.3f}\n", "kernels", 1e3 * others, "total", 1e3 * total);
}

void print_run(const codegen::PassRun& r) {
  const std::string before = print(*r.before), after = r.after ? print(*r.after) : before;
  if (before == after)
    fmt::print("// {} changes nothing, depth {}\n", r.pass, r.depth);
  else
    fmt::print("// before {}, depth {}\n{}\n// after {}\n{}\n", r.pass, r.depth, before, r.pass, after);
}

// What a pass that acts on the schedule made of it.
void print_effect(const std::string& pass, const Learning& learning, codegen::Options options) {
  const auto text        = [&] { return to_string(scheduled(learning, options)); };
  options.observe        = {};
  const std::string with = text();
  options.without.push_back(pass);
  const std::string without = text();
  if (with == without)
    fmt::print("// {} changes nothing\n", pass);
  else
    fmt::print("// without {}\n{}\n// with {}\n{}\n", pass, without, pass, with);
}

int run_schedule(const ScheduleArguments& o) {
  if (o.list) {
    list_passes();
    return 0;
  }
  codegen::check_pass_names(o.without);
  if (!o.dump.empty()) codegen::check_pass_names({o.dump});
  require(!contains(o.without, o.dump),
          "schedule: --dump {0} shows nothing, because --without leaves {0} out.\n  Give one of the two.", o.dump);
  require(!o.model.model.empty(), "MODEL is required; --list shows the passes instead.");
  std::vector<std::pair<std::string_view, double>> runs;
  codegen::Options                                 c;
  c.target       = o.portable ? codegen::portable_target() : codegen::native_target();
  c.target.cores = o.cores;
  c.without      = o.without;
  bool shown     = false;
  c.observe      = [&](const codegen::PassRun& r) {
    runs.emplace_back(r.pass, r.seconds);
    if (r.pass != o.dump || !r.before) return;
    print_run(r);
    shown = true;
  };
  const Learning          learning = traced_learning(o);
  const auto              begin    = std::chrono::steady_clock::now();
  const codegen::Schedule schedule = scheduled(learning, c);
  const double            taken    = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!o.dump.empty() && !shown) print_effect(o.dump, learning, c);
  if (o.time_passes) {
    print_times(runs, taken);
  } else if (o.c) {
    fmt::print("{}",
               codegen::emit(schedule, o.portable ? codegen::Dialect::Portable : codegen::Dialect::Native).source);
  } else if (o.dump.empty()) {
    const Work w = codegen::work_of(schedule);
    fmt::print("{}\n{:.3g} operations and {:.3g} bytes moved per call, {:.0f} kernels run\n", to_string(schedule),
               w.flops(), w.bytes(), w.kernels);
  }
  return 0;
}

}  // namespace

void add_schedule(CLI::App& app, Action& chosen) {
  auto  o = std::make_shared<ScheduleArguments>();
  auto* command =
      app.add_subcommand("schedule", "Show the kernels of a learning step, and what each compiler pass did");
  o->model.add_model(*command);
  command->get_option("MODEL")->required(false);
  command->add_option("--rule", o->rule, "Learning rule")->type_name("NAME")->capture_default_str();
  command->add_option("--batch", o->batch, "Sequences per batch")->check(whole_number(1))->capture_default_str();
  command->add_option("--window", o->window, "Steps per window; 0 shows one step with its update")
      ->check(whole_number(0))
      ->capture_default_str();
  command->add_option("--cores", o->cores, "Cores to divide the work among")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--without", o->without, "Passes to skip, separated by commas")
      ->type_name("PASS,...")
      ->delimiter(',');
  command
      ->add_option("--dump", o->dump,
                   "Show the program before and after this pass, or the schedule without and with it")
      ->type_name("PASS");
  command->add_flag("--time-passes", o->time_passes, "Show how long each pass takes");
  command->add_flag("--c", o->c, "Show the generated C");
  command->add_flag("--portable", o->portable, "Generate C for any C99 compiler, as export does");
  command->add_flag("--list", o->list, "List the passes");
  command->footer(
      "  braintrace schedule gru --rule D_RTRL\n"
      "  braintrace schedule gru --c | less\n"
      "  braintrace schedule gru --dump fuse\n");
  command->callback([o, &chosen] { chosen = [o] { return run_schedule(*o); }; });
}

}  // namespace braintrace::cli
