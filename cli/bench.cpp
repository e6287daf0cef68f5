// SPDX-License-Identifier: Apache-2.0
// braintrace bench: measures the speed of learners and of first calls.
#include <cstdio>
#include <optional>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/advise/apart.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/json.h"
#include "braintrace/bench/fleet.h"
#include "braintrace/bench/measure.h"
#include "braintrace/parallel/exchange_times.h"
#include "cli/backend_choice.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

using nlohmann::ordered_json;
using namespace bench;

// The networks of the tutorials.
const std::vector<std::string> first_call_models = {"single_layer_rnn", "two_layer_rnn", "conv_rnn", "simple_rnn",
                                                    "gru"};

struct BenchArguments {
  Choice                   choice;
  MeasureOptions           measure;
  BackendChoice            backend;
  std::vector<std::string> modes, sizes;
  std::optional<int64_t>   fleet;    // members
  std::optional<int64_t>   singles;  // learners in the loop beside it
  bool                     json = false, list = false, first_call = false, exchange = false;
};

// "64,128,256"
Size size_in(const std::string& text) {
  Size size{};
  int  end = 0;
  require(std::sscanf(text.c_str(), "%9ld,%9ld,%9ld%n", &size.batch, &size.n_in, &size.n, &end) == 3 &&
              static_cast<size_t>(end) == text.size(),
          "--size {}: expected batch, inputs and neurons, such as 64,128,256.", text);
  return size;
}

// Prints rows as they arrive, and on a terminal the measurement in progress.
class Table {
 public:
  Table(bool json, size_t count) : json_(json), count_(count) {}

  void begin(const std::string& what) {
    ++at_;
    if (isatty(STDERR_FILENO) && !quiet) show(fmt::format("\r\033[K[{}/{}] {}", at_, count_, what));
  }
  void add(const ordered_json& row, const std::string& head, const std::string& line) {
    if (isatty(STDERR_FILENO) && !quiet) show("\r\033[K");
    rows_.push_back(row);
    if (json_) return;
    if (rows_.size() == 1) fmt::print("{}\n", head);
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  void end() const {
    if (json_) fmt::print("{}\n", ordered_json(rows_).dump(1));
  }

 private:
  bool                      json_;
  size_t                    count_, at_ = 0;
  std::vector<ordered_json> rows_;
};

std::string text_of(const Workload& w) {
  return fmt::format("{:<9} {:<13} {:<5} {:>5} {:>5} {:>5} {:>5}", name_of(w.mode), w.rule, w.model, w.size.batch,
                     w.size.n_in, w.size.n, w.steps);
}

int run_workloads(const BenchArguments& o) {
  const std::vector<Workload> all = workloads(o.choice);
  const std::string           names =
      fmt::format("{:<9} {:<13} {:<5} {:>5} {:>5} {:>5} {:>5}", "mode", "rule", "model", "B", "n_in", "n", "T");
  Table table(o.json, all.size());
  for (const Workload& w : all) {
    table.begin(text_of(w));
    if (o.list) {
      table.add(describe(w), names, text_of(w));
      continue;
    }
    const ordered_json r      = measured(w, o.measure);
    const auto         number = [&](const char* key) { return r[key].get<double>(); };
    table.add(r, names + "  median us     p99 us    min us  copy us  memory MB  first s  cached s",
              fmt::format("{} {:>10.4g} {:>10.4g} {:>9.4g} {:>8} {:>10.1f} {:>8.2f} {:>9.3f}", text_of(w),
                          number("ours_us"), number("ours_p99_us"), number("ours_min_us"),
                          number("traces_mb") > 0 ? fmt::format("{:.3g}", number("copy_traces_us")) : "-",
                          number("peak_growth_mb"), number("first_call_cold_s"), number("first_call_cached_s")));
  }
  table.end();
  if (!o.json && !o.list)
    fmt::print(
        "\nMicroseconds per step, wall-clock time. copy: time to copy everything the learner keeps between "
        "steps.\nfirst: the first call in a new process; cached: the same when its machine code is on disk.\n");
  return 0;
}

int run_first_calls(const BenchArguments& o) {
  const auto& models = o.choice.models.empty() ? first_call_models : o.choice.models;
  const auto  rules  = o.choice.rules.empty() ? representative_algorithms() : o.choice.rules;
  const auto  modes  = o.choice.modes.empty() ? std::vector{Mode::Sequence, Mode::Stream} : o.choice.modes;
  Table       table(o.json, models.size() * rules.size() * modes.size());
  const auto  argument_of = [](const std::string& name) {
    ModelArgument argument;
    argument.model = name;
    return argument;
  };
  for (const std::string& name : models) build_argument(argument_of(name));  // errors come before measurements
  for (const std::string& rule : rules) is_measurable(rule, Mode::Sequence);
  for (const std::string& name : models) {
    const ModelArgument argument = argument_of(name);
    const Type          input    = build_argument(argument).input;
    for (const std::string& rule : rules)
      for (const Mode mode : modes) {
        const std::string what = fmt::format("{:<17} {:<13} {:<9}", name, rule, name_of(mode));
        table.begin(what);
        if (!is_measurable(rule, mode)) continue;
        ordered_json row = {{"model", name}};
        row.update(first_call([&] { return build_argument(argument).module; }, input, rule, mode));
        std::string heads, numbers;
        for (const auto& [stage, ms] : row["stages_ms"].items()) {
          heads += fmt::format(" {:>8}", stage);
          numbers += fmt::format(" {:>8.1f}", ms.get<double>());
        }
        table.add(row,
                  fmt::format("{:<17} {:<13} {:<9} {:>7} {:>7} |{}", "model", "rule", "mode", "cold", "cached", heads),
                  fmt::format("{} {:>7.0f} {:>7.1f} |{}", what, row["cold_ms"].get<double>(),
                              row["cached_ms"].get<double>(), numbers));
      }
  }
  table.end();
  if (!o.json)
    fmt::print(
        "\nMilliseconds of the first call of a learner, including the graph; stages are those of a cached call.\n");
  return 0;
}

int run_exchange(const BenchArguments& o) {
  const auto group = parallel::world();
  require(group->size() > 1,
          "--exchange: there is one process only; start several: mpirun -n 2 braintrace bench --exchange");
  const auto times = parallel::exchange_times(group, o.measure.seconds);
  if (!group->is_first()) return 0;
  Table table(o.json, times.size());
  for (const auto& [numbers, seconds] : times) {
    const double bytes = 4 * static_cast<double>(numbers);
    table.add(
        {{"processes", group->size()}, {"numbers", numbers}, {"us", seconds * 1e6}},
        fmt::format("{:>9} {:>10} {:>10} {:>8}", "processes", "numbers", "us", "GB/s"),
        fmt::format("{:>9} {:>10} {:>10.1f} {:>8.3f}", group->size(), numbers, seconds * 1e6, bytes / seconds / 1e9));
  }
  table.end();
  if (!o.json)
    fmt::print("\nMicroseconds to sum one vector per process on all processes. See docs/many_machines.md.\n");
  return 0;
}

// A fleet and a loop over single learners, with one thread and with all threads.
int run_fleet(const BenchArguments& o) {
  const std::set<int> threads = {1, cpu::num_threads()};
  const int64_t       singles = o.singles.value_or(*o.fleet);
  Choice              choice  = o.choice;
  if (choice.models.empty()) choice.models = {"gru"};
  if (choice.rules.empty()) choice.rules = {"D_RTRL"};
  if (choice.sizes.empty()) choice.sizes = {{1, 8, 32}};
  choice.modes                              = {Mode::Stream};
  const std::vector<Workload> all_workloads = workloads(choice);
  Table                       table(o.json, all_workloads.size() * threads.size());
  for (const Workload& w : all_workloads)
    for (const int n : threads) {
      const std::string what = fmt::format("{:<6} {:<13} {:>5} {:>5} {:>7}", w.model, w.rule, w.size.n_in, w.size.n, n);
      table.begin(what);
      ordered_json      row  = {{"threads", n}};
      const std::string text = run_apart(
          [&] {
            cpu::set_num_threads(n);
            return measured_fleet(w, {.members = *o.fleet, .singles = singles, .seconds = o.measure.seconds}).dump();
          },
          {});
      row.update(read_ordered_json(text, "bench"));
      const auto number = [&](const char* key) { return row[key].get<double>(); };
      table.add(
          row,
          fmt::format("{:<6} {:<13} {:>5} {:>5} {:>7} {:>8} {:>5} {:>7} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6} {:>5}",
                      "model", "rule", "n_in", "n", "threads", "members", "KiB", "singles", "fleet", "loop", "ratio",
                      "fleet 16", "loop 16", "ratio", "GB/s"),
          fmt::format("{} {:>8} {:>5.0f} {:>7} {:>9.0f} {:>9.0f} {:>6.1f} {:>9.0f} {:>9.0f} {:>6.1f} {:>5.0f}", what,
                      *o.fleet, number("member_kb"), number("singles"), number("fleet"), number("single"),
                      number("ratio"), number("fleet_window"), number("single_window"), number("ratio_window"),
                      number("memory_gb_per_s")));
    }
  table.end();
  if (!o.json)
    fmt::print(
        "\nMember steps per second, for a fleet and for a loop over single learners, with 1 and with 16 records per "
        "member and call.\nGB/s: memory traffic of all threads. See docs/fleet.md.\n");
  return 0;
}

int run_bench(BenchArguments& o) {
  for (const std::string& m : o.modes) o.choice.modes.push_back(mode_named(m));
  for (const std::string& s : o.sizes) o.choice.sizes.push_back(size_in(s));
  require(o.measure.seconds > 0, "--seconds {}: must be positive.", o.measure.seconds);
  if (o.exchange) return run_exchange(o);
  o.backend.apply();
  if (!o.backend.backend.empty()) o.measure.backend = o.backend.backend;
  require(!o.first_call || o.backend.backend.empty(),
          "--first-call: only the cpu backend has these stages; leave out --backend.");
  if (o.fleet) return run_fleet(o);
  return o.first_call ? run_first_calls(o) : run_workloads(o);
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto  o       = std::make_shared<BenchArguments>();
  auto* command = app.add_subcommand("bench", "Measure the speed of learning: sequences, streams, first calls");
  command
      ->add_option("--model", o->choice.models,
                   "Networks to time: rnn, gru, lif or conv; with --first-call, descriptions or built-in models")
      ->type_name("NAME,...")
      ->delimiter(',');
  command
      ->add_option("--rule", o->choice.rules,
                   "Rules to time, separated by commas (default: D_RTRL, ES_D_RTRL and BPTT)")
      ->type_name("NAME,...")
      ->delimiter(',');
  o->backend.add_options(*command);
  command
      ->add_option("--mode", o->modes,
                   "What to time: sequence (a gradient over T steps) or stream (one step with an update)")
      ->type_name("sequence|stream")
      ->delimiter(',');
  command
      ->add_option("--size", o->sizes, "Batch, inputs and neurons, such as 64,128,256, instead of the standard sizes")
      ->type_name("B,IN,N");
  command->add_option("--steps", o->choice.steps, "Length of a sequence, T (default: 100; 20 for conv)");
  command->add_option("--spikes", o->choice.spikes,
                      "Fraction of inputs that are one, the others are zero (default: 0.05 for lif, 0.2 for conv)");
  command->add_option("--seconds", o->measure.seconds, "Time to spend on each measurement")->capture_default_str();
  command->add_option("--data", o->measure.data, "Parameters, inputs and gradients to compare with (.npz)")
      ->type_name("FILE");
  command->add_flag("--quick", o->choice.quick, "Run a subset that takes about a minute");
  command->add_flag("--first-call", o->first_call, "Time the first call of a learner, stage by stage");
  command->add_flag("--exchange", o->exchange, "Time the sum of a vector over the processes that mpirun started");
  auto* fleet =
      command
          ->add_option("--fleet", o->fleet, "Compare a fleet of this many small learners with a loop over single ones")
          ->check(whole_number(1));
  command->add_option("--singles", o->singles, "Single learners in that loop (default: the size of the fleet)")
      ->check(whole_number(1))
      ->needs(fleet);
  command->add_flag("--list", o->list, "List the workloads without measuring");
  command->add_flag("--json", o->json, "Print JSON");
  command->footer(
      "  braintrace bench --quick\n"
      "  braintrace bench --model gru --rule D_RTRL --mode stream --size 1,128,256\n"
      "  braintrace bench --first-call --model gru\n"
      "  mpirun -n 2 braintrace bench --exchange\n"
      "  braintrace bench --fleet 10000\n");
  command->callback([o, &chosen] { chosen = [o] { return run_bench(*o); }; });
}

}  // namespace braintrace::cli
