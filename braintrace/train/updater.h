// SPDX-License-Identifier: Apache-2.0
// One update of the weights from a stretch of a batch of sequences. If the batch is one shard, gradient and update are
// one compiled program; otherwise one program computes the gradient of a shard, and another applies their sum.
#pragma once

#include <functional>

#include "braintrace/train/shards.h"

namespace braintrace::train {

struct Stretch {
  Tensor inputs, targets, mask;  // [K, B, …]
};
using Stretches = std::vector<Stretch>;  // one for each shard of this process
// Time steps from … to of a batch.
Stretch stretch_of(const tasks::Batch& batch, int64_t from, int64_t to);

struct UpdateOutcome {
  double              loss = 0, correct = 0;  // mean over the mask
  std::vector<double> gradient_norms;         // per weight, in the order of the model's parameters
};

class Updater {
 public:
  // `config` is the configuration of a shard.
  Updater(const Config& config, Parts& parts, Shards& shards);

  // Gradient and update. `fresh`: the stretch starts from zero traces, and its final traces are not used.
  UpdateOutcome learn(const Stretches& s, bool fresh) const { return fresh ? learn_fresh_(s) : learn_(s); }
  // Advances only states and traces, for steps without a target.
  void advance(const Stretches& s) const;
  // Ends a sequence: no loss follows.
  void close() const;

 private:
  Shards*                                        shards_;
  std::function<UpdateOutcome(const Stretches&)> learn_, learn_fresh_;
  std::function<void(const Stretch&)>            advance_;
  std::function<void()>                          close_;  // null if a rule does not look ahead
};

}  // namespace braintrace::train
