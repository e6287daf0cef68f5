// SPDX-License-Identifier: Apache-2.0
// Runs the model on whole sequences without learning, and records the activity of its states and spikes.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "braintrace/model/frame.h"
#include "braintrace/train/metrics.h"
#include "braintrace/train/parts.h"
#include "braintrace/train/predictions.h"
#include "braintrace/train/run_record.h"
#include "braintrace/train/shards.h"
#include "braintrace/train/undo.h"

namespace braintrace::train {

// A value that can be observed in a step of the model.
struct Watched {
  std::string path;  // of a hidden state, or of the layer that spikes
  std::string kind;  // spikes, voltage, hidden
};

// The activity of every unit over steps and samples.
struct UnitStatistics {
  Watched             what;
  std::vector<double> mean, least, most;
};

struct Evaluation {
  double                      loss = 0, accuracy = -1;
  Array                       confusion;               // i64[classes, classes]; no elements for values
  double                      calibration_error = -1;  // for classes
  std::optional<ValueMetrics> values            = {};
  std::vector<UnitStatistics> units;
};

class Evaluator {
 public:
  // `config` is the configuration of a shard.
  Evaluator(const Config& config, Parts& parts, Shards& shards);

  // Evaluates batches 0 … n-1 of a part, divided among all ranks, each sample at most once; for n = 0 the whole part,
  // or four batches if it is endless. Model, learner and random numbers are unchanged afterwards.
  Evaluation evaluate(int64_t batches, tasks::Part part = tasks::Part::Validation);
  // The predictions for all samples of a part, which must be finite.
  Predictions predict(tasks::Part part);
  // The activity during the first sample of batch 0, without trace norms. Computed by the first rank.
  Activity watch();

 private:
  // `number` is the index of the batch in the evaluation: if states persist from batch to batch, only the first batch
  // resets them.
  std::vector<Array> run(const std::function<std::vector<Tensor>(Tensor, Tensor)>& jitted, const tasks::Batch& batch,
                         int64_t number);
  bool               lives_on() const;             // whether states persist from batch to batch
  std::unique_ptr<ModelUndo> undo_of_all() const;  // for all batches together, if states persist

  const Config*                                      config_;
  Parts*                                             parts_;
  Shards*                                            shards_;
  StatefulProgram                                    step_;  // of the model in inference mode, with the observed values
  std::vector<Watched>                               watched_;
  std::function<std::vector<Tensor>(Tensor, Tensor)> judged_, answered_, followed_;
};

// ‖trace‖₂ of every weight after each step of a sequence [T, 1, …], computed by a separate learner.
std::map<std::string, std::vector<double>> trace_norms(Parts& probe, const Array& inputs);

}  // namespace braintrace::train
