// SPDX-License-Identifier: Apache-2.0
// Runs the model on whole sequences without learning, and watches what its states and spikes do.
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

// What can be watched in a step of the model.
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
  double                      calibration_error = -1;  // of classes
  std::optional<ValueMetrics> values            = {};
  std::vector<UnitStatistics> units;
};

class Evaluator {
 public:
  // `config` is that of a shard.
  Evaluator(const Config& config, Parts& parts, Shards& shards);

  // Over batches 0 … n-1 of a part, shared by all ranks, each sample at most once; over the whole part for n = 0, or
  // over four batches where it has no end. Leaves model, learner and random numbers as they were.
  Evaluation evaluate(int64_t batches, tasks::Part part = tasks::Part::Validation);
  // The answers to all samples of a part, which must have an end.
  Predictions predict(tasks::Part part);
  // The course of the first sample of batch 0; without trace norms. By the first rank.
  Activity watch();

 private:
  // `number` of the batch in what is judged: where states live on from batch to batch, only the first starts anew.
  std::vector<Array> run(const std::function<std::vector<Tensor>(Tensor, Tensor)>& jitted, const tasks::Batch& batch,
                         int64_t number);
  bool               lives_on() const;             // states go on from batch to batch
  std::unique_ptr<ModelUndo> undo_of_all() const;  // of all batches together, where they do

  const Config*        config_;
  Parts*               parts_;
  Shards*              shards_;
  StatefulProgram      step_;  // of the model, when it is not trained, and what is watched
  std::vector<Watched> watched_;
  std::function<std::vector<Tensor>(Tensor, Tensor)> judged_, answered_, followed_;
};

// ‖trace‖₂ of every weight after each step of a sequence [T, 1, …], by a learner of its own.
std::map<std::string, std::vector<double>> trace_norms(Parts& probe, const Array& inputs);

}  // namespace braintrace::train
