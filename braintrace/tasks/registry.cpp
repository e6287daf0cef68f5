// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"
#include "braintrace/tasks/families.h"

namespace braintrace::tasks {

using nlohmann::json;

const std::vector<TaskType>& task_types() {
  static const std::vector<TaskType> types = [] {
    std::vector<TaskType> all;
    for (auto family : {memory_tasks, signal_tasks, matching_tasks, evidence_tasks, spike_tasks, text_tasks,
                        digit_tasks, event_tasks, mnist_tasks, npz_tasks, csv_tasks, ts_tasks, wav_tasks})
      for (TaskType& t : family()) all.push_back(std::move(t));
    std::sort(all.begin(), all.end(), [](const TaskType& a, const TaskType& b) { return a.name < b.name; });
    return all;
  }();
  return types;
}

bool is_of_files(const std::string& type) {
  return std::any_of(task_types().begin(), task_types().end(), [&](const TaskType& t) {
    return t.name == type && t.fields.find(" test_file?") != t.fields.npos;
  });
}

namespace {

// `asked` is the older name of `target_at`.
json with_new_names(json description) {
  if (description.contains("asked") && !description.contains("target_at")) {
    description["target_at"] = description["asked"];
    description.erase("asked");
  }
  return description;
}

}  // namespace

std::shared_ptr<Task> make_task(const json& description, uint64_t seed) {
  require(description.is_object(), "task: expected an object such as {{\"type\": \"copy\", \"lag\": 10}}, got {}.",
          shown_json(description));
  std::vector<std::string> names;
  for (const TaskType& t : task_types()) names.push_back(t.name);
  const auto type = description.find("type");
  require(type != description.end() && type->is_string(), "task.type: a task needs this string field.\n  Types: {}.",
          fmt::join(names, ", "));
  const auto      name  = type->get<std::string>();
  const TaskType& found = task_types()[known_index(name, names, "task.type: there is no task", "Types")];
  const json      given = with_new_names(description);
  return found.make(zoo::Fields(given, "task", name, zoo::field_specs(found.fields)), seed);
}

std::shared_ptr<Task> make_task(const std::string& description, uint64_t seed) {
  return make_task(read_json(description, "task"), seed);
}
std::shared_ptr<Task> make_task(const char* description, uint64_t seed) {
  return make_task(std::string(description), seed);
}

}  // namespace braintrace::tasks
