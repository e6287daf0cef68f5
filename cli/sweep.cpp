// SPDX-License-Identifier: Apache-2.0
// braintrace sweep: trains at every point of a grid with several seeds, side by side. A run is `braintrace train` in a
// process and a folder of its own. The processes that mpirun started deal the runs out among themselves; the first of
// them makes the folder and the table.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/advise/apart.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/io/file.h"
#include "braintrace/io/folder.h"
#include "braintrace/io/stop_signals.h"
#include "braintrace/parallel/collective.h"
#include "braintrace/parallel/standing.h"
#include "braintrace/sweep/children.h"
#include "braintrace/sweep/page.h"
#include "braintrace/train/config.h"
#include "braintrace/train/parts.h"
#include "braintrace/train/progress.h"
#include "cli/backend_choice.h"
#include "cli/command.h"

namespace braintrace::cli {

namespace {

using namespace sweep;
using Status = Outcome::Status;
namespace fs = std::filesystem;

struct SweepArguments {
  Request       request;
  std::string   output;
  int64_t       jobs = 1;
  BackendChoice backend;
  bool          dry_run = false, json = false;
};

// Check the whole grid before the first run. A process that has opened a GPU cannot share it with its children, and
// configurations can select one: so check them in a separate process.
void check_points(const Plan& plan, const std::string& folder) {
  const auto made = [&] {
    const TemporaryFolder temporary;
    const std::string     config = (temporary.path / "config.json").string();
    write_text(config, plan.config());
    for (const Run& run : plan.runs()) {
      const bool is_first = &run == plan.runs().data() || (&run)[-1].point != run.point;
      if (!is_first) continue;  // seeds make no difference
      try {
        train::make_parts(train::load_config(config, plan.assignments(run, folder)));
      } catch (const UserError& error) {
        fail("{}: {}", plan.points()[run.point].name, error.what());
      }
    }
    return std::string();
  };
  run_apart(made, {});
}

class Sweep {
 public:
  Sweep(const SweepArguments& o, const Plan& plan, const parallel::Standing& here)
      : o_(o), plan_(plan), outcomes_(plan.runs().size()), display_(train::Screen::standard_error()) {
    for (size_t r = 0; r < outcomes_.size(); ++r) {
      outcomes_[r]       = finished_outcome(path_of(r));
      const bool is_ours = static_cast<int>(r % static_cast<size_t>(here.size)) == here.rank;
      if (outcomes_[r].status == Status::Open && is_ours) waiting_.push_back(r);
      kept_ += outcomes_[r].status == Status::Open ? 0 : 1;
    }
    std::reverse(waiting_.begin(), waiting_.end());
  }

  // Runs until all runs have ended or a signal arrives.
  void run() {
    if (kept_ > 0) note("note: {} of {} runs are finished already\n", kept_, outcomes_.size());
    while (!waiting_.empty() || children_.running() > 0) {
      while (!waiting_.empty() && children_.running() < static_cast<size_t>(o_.jobs) && !StopSignals::asked()) begin();
      if (StopSignals::asked()) {
        children_.stop(StopSignals::asked());
        waiting_.clear();
      }
      for (const Ended& e : children_.wait(0.2)) end(e);
      draw();
    }
    clear();
  }

  // After run(), with all processes of mpirun: what became of the runs of the others. Files tell of those that are
  // finished.
  void hear_of_others() {
    const auto     group = parallel::world();
    nlohmann::json mine  = nlohmann::json::array();
    for (size_t r = 0; r < outcomes_.size(); ++r)
      if (outcomes_[r].status == Status::Failed) mine.push_back({r, outcomes_[r].reason});
    for (const std::string& text : parallel::all_gather(*group, mine.dump(-1, ' ', true)))
      for (const auto& failed : read_json(text, "sweep"))
        outcomes_.at(failed[0].get<size_t>()) = {.status = Status::Failed, .reason = failed[1].get<std::string>()};
    for (size_t r = 0; r < outcomes_.size(); ++r)
      if (outcomes_[r].status == Status::Open) outcomes_[r] = finished_outcome(path_of(r));
  }

  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  std::vector<Course>         courses() const {
            std::vector<Course> out;
            for (size_t r = 0; r < outcomes_.size(); ++r) out.push_back(read_course(path_of(r) + "/metrics.csv"));
    return out;
  }

 private:
  std::string path_of(size_t run) const { return (fs::path(o_.output) / plan_.runs()[run].folder).string(); }

  void begin() {
    const size_t r = waiting_.back();
    waiting_.pop_back();
    make_folder(path_of(r));
    std::vector<std::string> words = {"braintrace", "train", o_.output + "/config.json", "--resume", "auto", "--json"};
    for (const std::string& a : plan_.assignments(plan_.runs()[r], o_.output)) words.insert(words.end(), {"--set", a});
    if (!o_.backend.backend.empty()) words.insert(words.end(), {"--backend", o_.backend.backend});
    const auto share = std::max<int64_t>(1, cpu::num_threads() / o_.jobs);
    const auto work  = [words, share, jobs = o_.jobs]() mutable {
      parallel::stand_alone();
      cpu::set_num_threads(static_cast<int>(share));
      if (jobs > 1) setenv("BRAINTRACE_PIN", "0", 0);  // all would choose the same processors
      std::vector<char*> argv;
      for (std::string& w : words) argv.push_back(w.data());
      argv.push_back(nullptr);
      const int status = answer(static_cast<int>(words.size()), argv.data());
      std::fflush(stdout);
      return status;
    };
    children_.start({r, work, path_of(r) + "/.result", path_of(r) + "/log.txt"});
  }

  void end(const Ended& e) {
    const std::string printed = path_of(e.piece) + "/.result", log = path_of(e.piece) + "/log.txt";
    const Run&        run     = plan_.runs()[e.piece];
    Outcome&          outcome = outcomes_[e.piece];
    std::error_code   ignored;
    if (const auto told = outcome_in(fs::exists(printed) ? read_text(printed) : "")) outcome = *told;
    if (outcome.status == Status::Finished) {
      fs::rename(printed, path_of(e.piece) + "/result.json");
      say_line(fmt::format("{}: validation loss {:.4g}{}", run.name, outcome.loss.value_or(NAN),
                           outcome.accuracy ? ", accuracy " + percent(*outcome.accuracy) : ""));
      return;
    }
    fs::remove(printed, ignored);
    const bool was_asked = StopSignals::asked() != 0 && outcome.status != Status::Failed &&
                           (e.status == 128 + StopSignals::asked() || e.signal == StopSignals::asked());
    if (was_asked) return;  // it goes on another time
    outcome.status = Status::Failed;
    outcome.reason = e.signal ? fmt::format("killed by signal {} ({})", e.signal, strsignal(e.signal)) : reason_in(log);
    if (outcome.reason.empty()) outcome.reason = fmt::format("exit status {}; see {}", e.status, log);
    say_line(fmt::format("{}: FAILED: {}", run.name, outcome.reason));
  }

  // The first line of the error.
  static std::string reason_in(const std::string& log) {
    if (!fs::exists(log)) return "";
    const std::string text = read_text(log), mark = "error: ";
    const size_t      at = text.rfind(mark);
    if (at == text.npos) return "";
    const size_t from = at + mark.size();
    return text.substr(from, text.find('\n', from) - from);
  }

  int64_t done() const {
    return std::count_if(outcomes_.begin(), outcomes_.end(), [](const Outcome& o) { return o.status != Status::Open; });
  }

  // A permanent line.
  void say_line(const std::string& text) {
    clear();
    note("[{}/{}] {}\n", done(), outcomes_.size(), text);
  }

  // On a terminal, one line per active run, redrawn in place; elsewhere permanent lines are enough.
  void draw() {
    if (quiet || !display_.is_terminal) return;
    clear();
    const auto columns = static_cast<size_t>(std::max(display_.columns() - 1, 20));
    for (size_t r : children_.pieces()) {
      const train::StepRecord last = last_step(path_of(r) + "/metrics.csv");
      std::string             line = plan_.runs()[r].name;
      line += last.step ? fmt::format("  update {}  loss {:.4g}", last.step, last.loss) : "  starting";
      say("{}\n", line.substr(0, columns));
      ++drawn_;
    }
  }
  void clear() {
    for (; drawn_ > 0; --drawn_) show("\x1b[1A\r\x1b[K");
  }

  const SweepArguments& o_;
  const Plan&           plan_;
  std::vector<Outcome>  outcomes_;
  std::vector<size_t>   waiting_;   // ours, the next one last
  size_t                kept_ = 0;  // finished before
  Children              children_;
  train::Screen         display_;
  int                   drawn_ = 0;  // lines
};

int run_sweep(SweepArguments& o) {
  const StopSignals stop;
  o.backend.apply();
  const Plan plan(o.request);
  if (o.output.empty()) o.output = "sweeps/" + fs::path(o.request.config).stem().string();
  const parallel::Standing here     = parallel::standing();
  const bool               is_first = here.rank == 0;
  if (is_first) check_points(plan, o.output);
  if (o.dry_run) {
    for (const Run& run : plan.runs())
      if (is_first) fmt::print("{}/{}\n", o.output, run.folder);
    return 0;
  }
  std::optional<FolderLock> lock;
  if (is_first) {
    make_folder(o.output);
    lock.emplace(o.output);
  }
  while (!is_first && !fs::exists(o.output + "/sweep.json") && !StopSignals::asked())
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  plan.enter(o.output);
  Sweep sweep(o, plan, here);
  sweep.run();
  if (here.size > 1 && !StopSignals::asked()) sweep.hear_of_others();
  if (!is_first) return 0;  // mpirun would end all for any other status
  const std::vector<Row> rows = table_of(plan, sweep.outcomes());
  write_text(o.output + "/results.csv", table_csv(plan, rows));
  write_text(o.output + "/results.json", table_json(plan, rows, sweep.outcomes()));
  write_text(o.output + "/report.html", sweep_page(plan, rows, sweep.outcomes(), sweep.courses()));
  if (o.json) fmt::print("{}", table_json(plan, rows, sweep.outcomes()));
  if (StopSignals::asked()) {
    note("stopped; run the same command to continue\n");
    return 128 + StopSignals::asked();
  }
  if (!o.json)
    fmt::print("{}table   {}/results.csv\nreport  {}/report.html\n", table_text(plan, rows), o.output, o.output);
  const bool failed = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.failed > 0; });
  return failed ? 1 : 0;
}

}  // namespace

void add_sweep(CLI::App& app, Action& chosen) {
  auto  o       = std::make_shared<SweepArguments>();
  auto* command = app.add_subcommand("sweep", "Train over a grid of settings, with several seeds each");
  command->add_option("CONFIG", o->request.config, "JSON file with model, task, rule and optimizer")->required();
  command->add_option("--grid", o->request.grid, "Values of a field; may be repeated, all combinations are run")
      ->type_name("FIELD=VALUE,...")
      ->allow_extra_args(false);
  command->add_option("--seeds", o->request.seeds, "Number of runs per point of the grid, each with its own seed")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--jobs", o->jobs, "Number of parallel runs; they share the threads")
      ->check(whole_number(1))
      ->capture_default_str();
  command->add_option("--set", o->request.replaced, "Replace a field for all runs; may be repeated")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false);
  command->add_option("-o,--output", o->output, "Folder of the sweep (default: sweeps/NAME)")->type_name("FOLDER");
  command->add_flag("--dry-run", o->dry_run, "Check everything and list the runs, without running them");
  o->backend.add_options(*command);
  command->add_flag("--json", o->json, "Print the table as JSON");
  command->footer(
      "  braintrace sweep config.json --grid optimizer.lr=1e-3,3e-3 --seeds 5 --jobs 2\n"
      "  braintrace sweep config.json --grid rule=D_RTRL,EProp --seeds 3 -o rules\n"
      "  mpirun -n 4 braintrace sweep config.json --grid batch=8,16 --seeds 5\n");
  command->callback([o, &chosen] { chosen = [o] { return run_sweep(*o); }; });
}

}  // namespace braintrace::cli
