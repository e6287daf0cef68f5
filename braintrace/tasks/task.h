// SPDX-License-Identifier: Apache-2.0
// A task generates batches of sequences with their targets. A batch is a pure function of seed, part and index, so
// training can resume at any batch, and results do not depend on the order of calls.
//
//   auto  task  = bt::tasks::make_task(R"({"type": "copy", "lag": 10})", 42);
//   Batch batch = task->batch(Part::Train, 0, 32);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "braintrace/base/array.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::tasks {

enum class Part : uint8_t { Train, Validation, Test };
enum class TargetKind : uint8_t { Classes, Values };

// Sequences of equal length, with time as the first axis; shorter ones are padded and masked.
struct Batch {
  Array inputs;   // [T, B, …]
  Array targets;  // Classes: i32[T, B]; Values: f32[T, B, …]
  Array mask;     // f32[T, B]: weight of each step's loss; states and traces advance in any case
};

// Inputs that are images: frames with layout [channels, height, width] or, channels last, [height, width, channels];
// or, by_row, one image whose rows are the steps.
struct ImageLayout {
  int64_t channels = 1, height = 1, width = 1;
  bool    channels_last = false, by_row = false;
};

struct TaskFacts {
  Shape                    input;  // of one step of one sample
  TargetKind               targets     = TargetKind::Classes;
  int64_t                  outputs     = 1;   // classes, or width of the values
  int64_t                  length      = 1;   // steps of the longest sequence
  std::vector<std::string> class_names = {};  // may be empty
  // Samples of each part; 0 if batches are generated endlessly. After all samples of a finite part, batches continue
  // with the next epoch, in a different order; the test part keeps the order of its files.
  int64_t train_samples = 0, validation_samples = 0, test_samples = 0;
  bool    has_test = false, has_targets = true;
  int64_t lengths = 1;  // number of different lengths of batches
  // Forecasts: number of steps after which a target becomes an input; 0 for other targets.
  int64_t ahead = 0;
  // Row b of batch i continues where row b of batch i-1 ended, so states may persist (`reset` of a run). Rows beyond
  // the end have a mask of zeros.
  bool contiguous = false;
  // Fields of the description that were fitted to the data, as a JSON object; with them, other files are read in the
  // same way.
  std::string                found    = "{}";
  std::vector<std::string>   warnings = {};  // for the user, about the data
  std::optional<ImageLayout> image    = {};  // for pictures

  int64_t samples(Part part) const {
    return part == Part::Train ? train_samples : part == Part::Validation ? validation_samples : test_samples;
  }
};

class Task {
 public:
  virtual ~Task()                                                              = default;
  virtual const TaskFacts& facts() const                                       = 0;
  virtual Batch            batch(Part part, int64_t index, int64_t size) const = 0;
};

// The task types of descriptions, like zoo::LayerType for models.
struct TaskType {
  std::string                                                             name;
  std::string                                                             doc;     // inputs and targets
  std::string                                                             fields;  // in the format of zoo::field_specs
  std::function<std::shared_ptr<Task>(const zoo::Fields&, uint64_t seed)> make;
};
const std::vector<TaskType>& task_types();                          // by name
std::string                  tasks_page();                          // docs/tasks.md
bool                         is_of_files(const std::string& type);  // its sequences come from `file`

// One sample as SVG: inputs over time at the top, targets at the bottom; steps without loss are gray.
std::string picture(const Task& task, const std::string& title);

// Throws a UserError that names the field and the closest known name.
std::shared_ptr<Task> make_task(const nlohmann::json& description, uint64_t seed);
std::shared_ptr<Task> make_task(const std::string& description, uint64_t seed);
std::shared_ptr<Task> make_task(const char* description, uint64_t seed);

}  // namespace braintrace::tasks
