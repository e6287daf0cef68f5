// SPDX-License-Identifier: Apache-2.0
// One update of the weights from a stretch of a batch of sequences, as one compiled program.
#pragma once

#include <functional>

#include "braintrace/train/parts.h"

namespace braintrace::train {

struct Stretch {
  Tensor inputs, targets, mask;  // [K, B, …]
};
// Time steps from … to of a batch.
Stretch stretch_of(const tasks::Batch& batch, int64_t from, int64_t to);

struct UpdateOutcome {
  double              loss = 0, correct = 0;  // mean over the mask
  std::vector<double> gradient_norms;         // per weight, in the order of the model's parameters
};

class Updater {
 public:
  Updater(const Config& config, Parts& parts);

  // Gradient and update. `fresh`: the stretch starts from zero traces and nobody reads those it leaves.
  UpdateOutcome learn(const Stretch& s, bool fresh) const { return fresh ? learn_fresh_(s) : learn_(s); }
  // States and traces only, where nothing is asked.
  void advance(const Stretch& s) const { advance_(s); }
  // No loss follows in this sequence.
  void close() const {
    if (close_) close_();
  }

 private:
  std::function<UpdateOutcome(const Stretch&)> learn_, learn_fresh_;
  std::function<void(const Stretch&)>          advance_;
  std::function<void()>                        close_;  // null where a rule does not look ahead
};

}  // namespace braintrace::train
