// SPDX-License-Identifier: Apache-2.0
// A recorded run of a learning rule: the learner it describes, driven over the data of its case.
#pragma once

#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/functions/gradients.h"
#include "braintrace/verify/case.h"

namespace braintrace::golden {

// "half_sse" or "xent_mean" of one step.
Tensor loss_of(const std::string& name, const Tensor& y, const Tensor& target);
// Weight of the loss of each step.
std::vector<double> step_weights(const Case& c);
// How the case was recorded: by the Python package, or by the independent oracle of the corrected rules.
CompileOptions compile_options(const Case& c);

// Whether a parameter leaf has a trace.
bool is_traced(const ETraceGraph& graph, const std::string& leaf);
// Why gradients that a rule recorded with the multi-step method are not a target; empty when they are one.
std::string doubtful_multi_step(const std::string& algorithm);

class RecordedRun {
 public:
  RecordedRun(const Case& c, const nlohmann::json& run);

  struct Call {
    std::map<std::string, Array> gradients;  // by parameter leaf
    Tensors                      memory;     // afterwards
  };
  std::vector<Call> drive();

  const OnlineLearner& learner() const { return *learner_; }

 private:
  const Case&                         case_;
  const nlohmann::json&               run_;
  std::string                         id_;
  std::shared_ptr<Module>             model_;
  std::unique_ptr<OnlineLearner>      learner_;
  std::optional<ETraceVmap>           lanes_;                         // of runs of one sample mapped over the batch
  std::function<void(const Tensors&)> give_ = [](const Tensors&) {};  // passes additional arguments to the call
  std::vector<std::string>            given_;  // the arrays with these arguments, one row per step
};

}  // namespace braintrace::golden
