// SPDX-License-Identifier: Apache-2.0
// braintrace train: trains the network of a configuration, and writes checkpoints, logs and a report.
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/counted.h"
#include "braintrace/base/json.h"
#include "braintrace/base/percent.h"
#include "braintrace/base/shell_word.h"
#include "braintrace/io/file.h"
#include "braintrace/io/folder.h"
#include "braintrace/io/stop_signals.h"
#include "braintrace/parallel/collective.h"
#include "braintrace/train/checkpoint.h"
#include "braintrace/train/log_files.h"
#include "braintrace/train/progress.h"
#include "braintrace/train/report.h"
#include "braintrace/train/trainer.h"
#include "cli/backend_choice.h"
#include "cli/command.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

using namespace train;

struct TrainArguments {
  std::string              config, resume;
  std::vector<std::string> replaced;
  BackendChoice            backend;
  bool                     json = false, overwrite = false;
};

// The checkpoint to continue from; none to start from scratch.
std::optional<std::string> checkpoint_for(const TrainArguments& o, const Config& config) {
  const CheckpointFolder folder(config.checkpoint.dir, config.checkpoint.keep);
  if (o.resume.empty()) {
    auto found = folder.files();
    if (std::filesystem::exists(folder.best_path())) found.push_back(folder.best_path());
    require(found.empty() || o.overwrite,
            "{}: an earlier run left checkpoints here, such as {}.\n  Continue from them with --resume auto, remove "
            "them with --overwrite, or choose another folder with --set output=FOLDER.",
            config.checkpoint.dir, found.back());
    if (o.overwrite) folder.remove_all();
    return std::nullopt;
  }
  if (o.resume != "auto") return o.resume;
  std::vector<std::string> refused;
  const auto               newest = folder.newest_valid(refused);
  for (const std::string& why : refused) say("note: {}\n", why);
  note("note: {}\n", newest ? "continuing from " + *newest
                            : fmt::format("no checkpoint in {}; starting from the beginning", config.checkpoint.dir));
  return newest;
}

nlohmann::ordered_json summary(const Trainer& t, Ending ending, const std::string& last) {
  static const char* const words[] = {"finished", "early_stop", "interrupted", "not_finite"};
  nlohmann::ordered_json   out     = {{"name", t.config().name},
                                      {"ending", words[static_cast<size_t>(ending)]},
                                      {"updates", t.updates()},
                                      {"checkpoint", last}};
  if (!t.record().validations.empty()) {
    const ValidationRecord& v = t.record().validations.back();
    out["loss"]               = v.loss;
    if (v.accuracy >= 0) out["accuracy"] = v.accuracy;
    if (const auto& values = t.record().judgment.values)
      out.update({{"r2", values->r2}, {"rmse", values->rmse}, {"mae", values->mae}});
  }
  out["pace"] = t.record().pace;
  if (t.config().goal.exists()) out["goal_reached"] = t.goal_reached();
  out["alarms"] = nlohmann::json::array();
  for (const Alarm& a : t.record().alarms)
    out["alarms"].push_back({{"step", a.step}, {"kind", a.kind}, {"where", a.where}});
  return out;
}

// Prints the result of a run and returns its exit status.
int told(const TrainArguments& o, const Trainer& t, Ending ending, const std::string& last) {
  if (o.json) fmt::print("{}\n", json_text(summary(t, ending, last), 2));
  if (ending == Ending::NotFinite) {
    say("error: {}\n  {}\n", t.record().alarms.back().message,
        last.empty() ? "There is no checkpoint." : "The last good checkpoint is " + last + ".");
    return 1;
  }
  if (ending == Ending::Interrupted) {
    note("stopped after {}; saved {}\n  Continue with: braintrace train {} --resume auto",
         counted(t.updates(), "update"), last, shell_word(o.config));
    for (const std::string& s : o.replaced) note(" --set {}", shell_word(s));
    note("\n");
    return 128 + StopSignals::asked();
  }
  if (o.json || quiet) return t.config().goal.exists() && !t.goal_reached() ? 1 : 0;
  const ValidationRecord& v = t.record().validations.back();
  fmt::print("{} after {}: validation loss {:.4g}{}\n", ending == Ending::EarlyStop ? "stopped early" : "finished",
             counted(t.updates(), "update"), v.loss, v.accuracy < 0 ? "" : ", accuracy " + percent(v.accuracy));
  if (const auto& values = t.record().judgment.values) fmt::print("values      {}\n", words_of(*values));
  for (const Baseline& b : t.record().judgment.baselines) fmt::print("baseline    {}\n", words_of(b));
  fmt::print("checkpoint  {}\nreport      {}/report.html\n", last, t.config().output);
  if (!t.config().goal.exists()) return 0;
  fmt::print("goal        {}\n", t.goal_reached() ? "reached" : "NOT reached");
  return t.goal_reached() ? 0 : 1;
}

// Creates missing folders of a run and locks them for this process.
std::vector<FolderLock> locked(const std::vector<std::string>& folders) {
  std::vector<FolderLock>         out;
  std::set<std::filesystem::path> seen;
  for (const std::string& folder : folders) {
    make_folder(folder);
    if (!seen.insert(std::filesystem::canonical(folder)).second) continue;
    out.emplace_back(folder);
    CheckpointFolder(folder, 1).prepare();
  }
  return out;
}

Config config_of(const TrainArguments& o) {
  o.backend.apply();
  std::vector<std::string> replaced = o.replaced;
  if (!o.backend.backend.empty()) replaced.push_back(fmt::format("backend=\"{}\"", o.backend.backend));
  return load_config(o.config, replaced);
}

// Of several processes, only the first prints and writes.
int run_train(const TrainArguments& o, const std::shared_ptr<parallel::Group>& group) {
  const bool first = group->is_first();
  Config     config;
  parallel::all_succeed(*group, [&] { config = config_of(o); });
  if (group->size() > 1 && config.shards == 0) {
    config = with_shards(config, group->size());
    if (first)
      note("note: shards is not set. Each of the {} processes gets one, so the bits depend on their number.\n",
           group->size());
  }
  Trainer                    trainer(config, group);
  std::vector<FolderLock>    locks;
  std::optional<std::string> from;
  parallel::all_succeed(*group, [&] {
    if (!first) return;
    locks = locked({config.output, config.checkpoint.dir});
    from  = checkpoint_for(o, config);
    write_text(config.output + "/config.json", config.text + "\n");
  });
  if (const std::string path = parallel::broadcast(*group, from.value_or("")); !path.empty()) trainer.load(path);
  if (first) {
    if (!quiet && !o.json) trainer.observe(std::make_shared<Progress>());
    trainer.observe(std::make_shared<JsonlLog>(config.output + "/metrics.jsonl"));
    trainer.observe(std::make_shared<CsvLog>(config.output + "/metrics.csv"));
    trainer.observe(std::make_shared<TensorboardLog>(config.output + "/tensorboard"));
    trainer.observe(std::make_shared<ReportFile>(config.output + "/report.html"));
  }
  const Ending ending = trainer.run([] { return StopSignals::asked() != 0; });
  if (!first) return 0;
  const CheckpointFolder folder(config.checkpoint.dir, config.checkpoint.keep);
  if (ending != Ending::NotFinite) return told(o, trainer, ending, folder.path_of(trainer.updates()));
  const auto files = folder.files();
  return told(o, trainer, ending, files.empty() ? "" : files.back());
}

int run_train(const TrainArguments& o) {
  const StopSignals stop;  // they end the run after the update at hand
  const auto        group = parallel::world();
  if (group->size() == 1) return run_train(o, group);
  try {
    return run_train(o, group);
  } catch (const parallel::SharedError&) {  // all end at the same place; one says why
    if (group->is_first()) throw;
    return 2;
  } catch (const std::exception& error) {
    group->abandon(error.what());
    throw;
  }
}

}  // namespace

void add_train(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<TrainArguments>();
  auto* command = app.add_subcommand("train", "Train the network that a configuration file describes");
  command->add_option("CONFIG", options->config, "JSON file with model, task, rule and optimizer")->required();
  command->add_option("--set", options->replaced, "Replace a field of the configuration; may be repeated")
      ->type_name("FIELD=VALUE")
      ->allow_extra_args(false);
  options->backend.add_options(*command);
  command->add_option("--resume", options->resume, "Continue from this checkpoint; auto selects the newest valid one")
      ->type_name("FILE|auto");
  command->add_flag("--overwrite", options->overwrite, "Remove the checkpoints of an earlier run");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(
      "  braintrace train examples/configs/copy_gru_d_rtrl.json\n"
      "  braintrace train config.json --set optimizer.lr=0.01 --set output=run2\n"
      "  braintrace train config.json --resume auto\n"
      "  mpirun -n 4 braintrace train config.json\n");
  command->callback([options, &chosen] { chosen = [options] { return run_train(*options); }; });
}

}  // namespace braintrace::cli
