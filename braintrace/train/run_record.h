// SPDX-License-Identifier: Apache-2.0
// What a training run tells while it goes on and leaves behind: the trainer fills these records; progress line, log
// files and report read them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "braintrace/base/array.h"
#include "braintrace/train/metrics.h"

namespace braintrace::train {

// One update of the weights.
struct StepRecord {
  int64_t step          = 0;  // updates so far, from 1
  double  loss          = 0;
  double  accuracy      = -1;  // of classes; negative where there are none
  double  gradient_norm = 0;   // over all weights, before clipping
  double  learning_rate = 0;
  double  seconds       = 0;  // since the start of this process
};

struct ValidationRecord {
  int64_t step     = 0;
  double  loss     = 0;
  double  accuracy = -1;
};

// Something a user should know: NaN, neurons that never or always fire, states at their bounds.
struct Alarm {
  int64_t     step = 0;
  std::string kind;     // not_finite, dead, saturated
  std::string where;    // path of the state or weight
  std::string message;  // what was seen and what to do
};

// The course of one validation sample, for pictures.
struct Activity {
  struct Series {
    std::string path;    // of a hidden state
    std::string kind;    // spikes, voltage, hidden
    Array       values;  // f32[T, n]
  };
  std::vector<Series> states;
  Array               inputs, outputs, targets;            // [T, n]; targets i32[T] for classes, -1 where none is asked
  std::map<std::string, std::vector<double>> trace_norms;  // per weight, ‖trace‖₂ after each step
};

// What there is to say of answers besides loss and accuracy.
struct Judgment {
  Array                       confusion;               // i64[classes, classes], rows are the true ones
  double                      calibration_error = -1;  // of classes
  std::optional<ValueMetrics> values            = {};
  std::vector<Baseline>       baselines         = {};  // what simple answers reach on the same samples
};

struct RunRecord {
  std::string                   config;  // JSON as used, defaults filled in
  uint64_t                      seed        = 0;
  int64_t                       start_step  = 0;  // updates before, when the run goes on from a checkpoint
  int64_t                       total_steps = 0;  // updates the whole run will make
  int64_t                       parameters  = 0;  // numbers in the weights of the model
  std::string                   pace;             // when weights change, in words: online, or after a window
  std::string                   model_text, graph_svg;
  std::vector<StepRecord>       steps;  // means of equal stretches, at most two thousand
  std::vector<ValidationRecord> validations;
  std::vector<Alarm>            alarms;
  std::vector<std::string>      class_names;
  Judgment                      judgment;  // by the last validation
  Activity                      activity;
};

// Told everything as it happens. Log files and the progress line are observers.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first step: the configuration, and what came before when the run goes on from a checkpoint. Steps after
  // start_step will come again; what was told about them before is void.
  virtual void begin(const RunRecord&) {}
  virtual void step(const StepRecord&) {}
  virtual void validation(const ValidationRecord&) {}
  virtual void alarm(const Alarm&) {}
  virtual void end(const RunRecord&) {}
};

}  // namespace braintrace::train
