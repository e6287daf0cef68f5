// SPDX-License-Identifier: Apache-2.0
// The training call of a candidate: gradient of the rule and an update by Adam, as one function of inputs and targets.
#pragma once

#include <memory>

#include "braintrace/advise/advise.h"
#include "braintrace/algorithms/learner.h"
#include "braintrace/model/frame.h"
#include "braintrace/nn/optim.h"

namespace braintrace {

class Workload {
 public:
  // Throws UserError or CompileError if the rule cannot train the model, or its traces alone exceed `most_bytes`.
  Workload(Module& model, const Type& input, const Candidate& candidate, const AdviseOptions& options,
           int64_t most_bytes);

  const Types& args() const { return args_; }  // inputs, targets
  int64_t      steps() const { return candidate_.window; }
  Tensor       call(const Tensor& xs, const Tensor& ys);  // the loss
  // Bytes that persist between calls; only live traces count.
  Memory resident(const StateSet& live) const;

 private:
  Module*                        model_;
  Candidate                      candidate_;
  std::unique_ptr<OnlineLearner> learner_;
  optim::Adam                    optimizer_{1e-3};
  Types                          args_;
};

int64_t bytes_of(const StateMap& states);

}  // namespace braintrace
