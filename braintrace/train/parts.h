// SPDX-License-Identifier: Apache-2.0
// The objects that a configuration describes, created and checked against each other.
#pragma once

#include <memory>

#include "braintrace/algorithms/dni.h"
#include "braintrace/nn/optim.h"
#include "braintrace/tasks/task.h"
#include "braintrace/train/config.h"
#include "braintrace/train/loss.h"
#include "braintrace/train/modulation.h"

namespace braintrace::train {

struct Parts {
  std::shared_ptr<tasks::Task>       task;
  std::shared_ptr<Module>            model;
  std::unique_ptr<OnlineLearner>     learner;
  std::unique_ptr<optim::Optimizer>  optimizer;
  std::shared_ptr<SyntheticGradient> synthesizer;            // of rules that need one, else null
  std::unique_ptr<optim::Optimizer>  synthesizer_optimizer;  // likewise
  std::optional<Modulation>          modulation;  // of three-factor rules whose modulator comes from the task
  int64_t                            updates_per_epoch = 1;
  std::optional<StepLoss>            loss;

  bool classes() const { return task->facts().targets == tasks::TargetKind::Classes; }
  // Whether there are data only for evaluation, not for training.
  bool only_test() const { return task->facts().train_samples == 0 && task->facts().test_samples > 0; }
  // All states that persist between updates, by the name of their owner.
  std::vector<std::pair<std::string, StateMap>> states() const;
};

// Throws UserError for anything that cannot be created, and if model, task and loss do not match.
Parts make_parts(const Config& config);
// A separate model with a learner, for single sequences.
Parts make_probe(const Config& config, const Parts& trained);

// Whether rows of a batch depend on each other: the model has long-term states, such as the statistics of batch norm.
bool mixes_rows(const Config& config);

// Converts a batch to the precision of the run.
tasks::Batch batch_of(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index);

// The rows of one of several shards, with the configuration of a shard. If rows are consecutive samples, the rows of
// other shards are not generated.
tasks::Batch batch_of_shard(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index,
                            int64_t shard, int64_t shards);

}  // namespace braintrace::train
