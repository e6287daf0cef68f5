// SPDX-License-Identifier: Apache-2.0
// Records of a training run: the trainer fills them; progress line, log files and report read them.
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
  double  accuracy      = -1;  // for classes; otherwise negative
  double  gradient_norm = 0;   // over all weights, before clipping
  double  learning_rate = 0;
  double  seconds       = 0;  // since the start of this process
};

struct ValidationRecord {
  int64_t step     = 0;
  double  loss     = 0;
  double  accuracy = -1;
};

// A problem to report to the user: NaN, neurons that never or always fire, states at their bounds.
struct Alarm {
  int64_t     step = 0;
  std::string kind;     // not_finite, dead, saturated
  std::string where;    // path of the state or weight
  std::string message;  // what was observed and what to do
};

// The activity during one validation sample, for pictures.
struct Activity {
  struct Series {
    std::string path;    // of a hidden state
    std::string kind;    // spikes, voltage, hidden
    Array       values;  // f32[T, n]
  };
  std::vector<Series> states;
  Array               inputs, outputs, targets;            // [T, n]; targets i32[T] for classes, -1 without a target
  std::map<std::string, std::vector<double>> trace_norms;  // per weight, ‖trace‖₂ after each step
};

// Metrics of predictions in addition to loss and accuracy.
struct Judgment {
  Array                       confusion;               // i64[classes, classes], rows are true classes
  double                      calibration_error = -1;  // of classes
  std::optional<ValueMetrics> values            = {};
  std::vector<Baseline>       baselines         = {};  // on the same samples
};

struct RunRecord {
  std::string                   config;  // JSON as used, defaults filled in
  uint64_t                      seed        = 0;
  int64_t                       start_step  = 0;  // updates before a resumed run
  int64_t                       total_steps = 0;  // updates of the whole run
  int64_t                       parameters  = 0;  // numbers in the weights of the model
  std::string                   pace;             // when weights change, as text: online, or after a window
  std::string                   model_text, graph_svg;
  std::vector<StepRecord>       steps;  // means of equal stretches, at most two thousand
  std::vector<ValidationRecord> validations;
  std::vector<Alarm>            alarms;
  std::vector<std::string>      class_names;
  Judgment                      judgment;  // by the last validation
  Activity                      activity;
};

// Notified of every event. Log files and the progress line are observers.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first step: the configuration and, for a resumed run, its history. Steps after start_step are repeated;
  // earlier notifications about them are void.
  virtual void begin(const RunRecord&) {}
  virtual void step(const StepRecord&) {}
  virtual void validation(const ValidationRecord&) {}
  virtual void alarm(const Alarm&) {}
  virtual void end(const RunRecord&) {}
};

}  // namespace braintrace::train
