// SPDX-License-Identifier: Apache-2.0
// The things a configuration describes, made and checked against each other.
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
  std::optional<Modulation>          modulation;             // of three-factor rules whose modulator the task gives
  int64_t                            updates_per_epoch = 1;
  std::optional<StepLoss>            loss;

  bool classes() const { return task->facts().targets == tasks::TargetKind::Classes; }
  // There are data to judge a network by, and none to learn from.
  bool only_test() const { return task->facts().train_samples == 0 && task->facts().test_samples > 0; }
  // Everything that is remembered between updates, by the name of its owner.
  std::vector<std::pair<std::string, StateMap>> states() const;
};

// Throws UserError for anything that cannot be made, and when model, task and loss do not fit.
Parts make_parts(const Config& config);
// A model of its own with a learner, for sequences given one by one.
Parts make_probe(const Config& config, const Parts& trained);

// Whether rows of a batch depend on each other: the model has long-term states, such as the statistics of batch norm.
bool mixes_rows(const Config& config);

// A batch in the precision of the run.
tasks::Batch batch_of(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index);

// The rows of one of several shards, with the configuration of a shard. Where rows are samples in their order, nobody
// else's are made.
tasks::Batch batch_of_shard(const Config& config, const tasks::Task& task, tasks::Part part, int64_t index,
                            int64_t shard, int64_t shards);

}  // namespace braintrace::train
