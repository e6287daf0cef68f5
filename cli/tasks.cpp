// SPDX-License-Identifier: Apache-2.0
// braintrace tasks: lists the tasks, or describes one.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/io/file.h"
#include "braintrace/tasks/task.h"
#include "braintrace/viz/escape.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/model_argument.h"

namespace braintrace::cli {

namespace {

using nlohmann::ordered_json;

struct TasksArguments {
  std::string task, output;
  uint64_t    seed = 0;
  bool        json = false;
};

// The documents mark names with backquotes; a terminal shows them.
std::string without_backquotes(std::string text) {
  std::erase(text, '`');
  return text;
}

int list(const TasksArguments& o) {
  if (!o.json) {
    std::vector<HelpEntry> entries;
    for (const tasks::TaskType& t : tasks::task_types()) {
      entries.push_back({t.name, without_backquotes(t.doc)});
      entries.push_back({"", without_backquotes(zoo::field_list(t.fields))});
    }
    fmt::print("{}", listed(entries));
    return 0;
  }
  ordered_json all = ordered_json::array();
  for (const tasks::TaskType& t : tasks::task_types()) {
    ordered_json fields = ordered_json::array();
    for (const zoo::FieldSpec& f : zoo::field_specs(t.fields)) {
      fields.push_back({{"name", f.name}, {"required", f.required}});
      if (f.otherwise) fields.back()["default"] = read_ordered_json(*f.otherwise, f.name);
    }
    all.push_back({{"type", t.name}, {"doc", t.doc}, {"fields", fields}});
  }
  fmt::print("{}\n", all.dump(2));
  return 0;
}

// A description, a file with a description, or the name of a type.
nlohmann::json description_of(const std::string& argument) {
  if (argument.find_first_of("{[") != argument.npos) return read_json(argument, "task");
  if (const auto text = text_of_file(argument)) return read_json(*text, argument);
  return {{"type", argument}};
}

int show(const TasksArguments& o) {
  require(o.output.empty() || o.output.ends_with(".svg"), "-o {}: give a name that ends in .svg.", o.output);
  const auto              task = tasks::make_task(description_of(o.task), o.seed);
  const tasks::TaskFacts& f    = task->facts();
  const char* const       kind = f.targets == tasks::TargetKind::Classes ? "classes" : "values";
  if (o.json) {
    fmt::print("{}\n", json_text(ordered_json{{"input", std::vector<int64_t>(f.input.begin(), f.input.end())},
                                              {"targets", kind},
                                              {"outputs", f.outputs},
                                              {"length", f.length},
                                              {"class_names", f.class_names},
                                              {"train_samples", f.train_samples},
                                              {"validation_samples", f.validation_samples},
                                              {"test_samples", f.test_samples},
                                              {"warnings", f.warnings}},
                                 2));
  } else {
    const auto samples = [](int64_t n) { return n == 0 ? std::string("unlimited") : fmt::format("{} samples", n); };
    fmt::print("input       {}\ntargets     {} {}\nlength      {} steps\n", to_string(f.input), f.outputs, kind,
               f.length);
    if (!f.class_names.empty()) fmt::print("names       {}\n", utf8(fmt::format("{}", fmt::join(f.class_names, " "))));
    fmt::print("train       {}\nvalidation  {}\ntest        {}\n", samples(f.train_samples),
               samples(f.validation_samples), f.has_test ? samples(f.test_samples) : "none");
    for (const std::string& warning : f.warnings) fmt::print("warning     {}\n", warning);
  }
  if (!o.output.empty())
    write_text(o.output, tasks::picture(*task, description_of(o.task).at("type").get<std::string>()));
  return 0;
}

}  // namespace

void add_tasks(CLI::App& app, Action& chosen) {
  auto  options = std::make_shared<TasksArguments>();
  auto* command = app.add_subcommand("tasks", "List the tasks, or show one: shapes, targets, a picture of a sample");
  command->add_option("TASK", options->task, "Task type such as copy, a JSON description, or a file that contains one");
  command->add_option("-o,--output", options->output, "Draw the first sample to this file: .svg")
      ->needs("TASK")
      ->type_name("FILE");
  command->add_option("--seed", options->seed, "Seed of the samples")->check(whole_number(0));
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("  braintrace tasks\n  braintrace tasks copy -o copy.svg\n");
  command->callback(
      [options, &chosen] { chosen = [options] { return options->task.empty() ? list(*options) : show(*options); }; });
}

}  // namespace braintrace::cli
