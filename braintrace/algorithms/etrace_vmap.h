// SPDX-License-Identifier: Apache-2.0
// A learner of one sample, mapped over a batch: each lane has its own states and traces, parameters are shared, and
// their gradient is the sum over lanes. A model that takes a batch itself is faster and gives the same numbers.
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

class ETraceVmap {
 public:
  // The learner is compiled for one sample; its states get a leading axis of `batch_size` lanes, all alike.
  ETraceVmap(OnlineLearner& learner, int64_t batch_size);

  // One step of every lane: inputs and outputs have a leading lane axis.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensors update(const Tensors& x);

  OnlineLearner& learner() const { return *learner_; }
  int64_t        batch_size() const { return batch_size_; }

 private:
  OnlineLearner* learner_;
  int64_t        batch_size_;
  StateMap       lanes_;
};

}  // namespace braintrace
