// SPDX-License-Identifier: Apache-2.0
// A learner of one sample, mapped over a batch: each lane has its own states and traces, parameters are shared, and
// their gradient is the sum over lanes. A model that takes a batch itself is faster and gives the same numbers.
#pragma once

#include <memory>

#include "braintrace/algorithms/learner.h"

namespace braintrace {

class ETraceVmap {
 public:
  // The learner is compiled for one sample; its states get a leading axis of `batch_size` lanes, all alike.
  ETraceVmap(OnlineLearner& learner, int64_t batch_size);
  ETraceVmap(std::unique_ptr<OnlineLearner> learner, int64_t batch_size);  // which it then owns

  // One step of every lane: inputs and outputs have a leading lane axis.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensors update(const Tensors& x);

  // Before a new sequence, as OnlineLearner::reset: states and traces of every lane start again.
  void reset();

  OnlineLearner& learner() const { return *learner_; }
  int64_t        batch_size() const { return batch_size_; }

 private:
  void spread();  // the states of one sample over all lanes

  std::unique_ptr<OnlineLearner> owned_;
  OnlineLearner*                 learner_;
  int64_t                        batch_size_;
  StateMap                       lanes_;
};

}  // namespace braintrace
