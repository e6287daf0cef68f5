// SPDX-License-Identifier: Apache-2.0
// Maps a learner for one sample over a batch. Each lane has its own states and traces; parameters are shared, and their
// gradient is the sum over lanes. A model with a batch axis of its own computes the same gradients and is faster.
#pragma once

#include <memory>

#include "braintrace/algorithms/learner.h"

namespace braintrace {

class ETraceVmap {
 public:
  // `learner` is compiled for one sample. Its states are replicated along a new leading axis of `batch_size` lanes.
  ETraceVmap(OnlineLearner& learner, int64_t batch_size);
  ETraceVmap(std::unique_ptr<OnlineLearner> learner, int64_t batch_size);  // takes ownership

  // One step of every lane. Inputs and outputs have a leading lane axis.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensors update(const Tensors& x);

  // Call before a new sequence, like OnlineLearner::reset: resets the states and traces of every lane.
  void reset();

  OnlineLearner& learner() const { return *learner_; }
  int64_t        batch_size() const { return batch_size_; }

 private:
  void  spread();  // replicates the states of one sample over all lanes
  Types types() const;
  void  check_lanes() const;

  std::unique_ptr<OnlineLearner> owned_;
  OnlineLearner*                 learner_;
  int64_t                        batch_size_;
  StateMap                       lanes_;
  Types                          types_;  // of the leaves of lanes_
};

}  // namespace braintrace
