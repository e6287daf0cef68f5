// SPDX-License-Identifier: Apache-2.0
// The learning signal that a trace is contracted with: true, sent through fixed random feedback, or a modulator.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

// Random feedback.   Lillicrap et al. 2016; Bellec et al. 2020
//
//   from the states    L'[…,k,a] = Σ_l L[…,l,a] / (‖L[…,:,a]‖ + 1e-8) · B[l,k]        B : [n,n]
//   from the output    L'[…,k,a] = Σ_l δ[…,l] / (‖δ‖ + 1e-8) · B[l,k(,a)]             B : [n_out,n] or [n_out,n,S]
//
// δ = ∂ℓ_t/∂y_t, where y_t is the first output of the model, whether the loss is computed outside the learner or, as in
// etrace_grad, inside. k is a unit (last axis of the positions); a is a state, in the order of HiddenGroup::state_names
// and show_graph. Every traced group has its own matrix, B = scale · N(0,1) by default.
struct RandomFeedback {
  bool                   from_output = false;
  uint64_t               key         = 0;
  double                 scale       = 0.1;
  std::map<Path, Tensor> given       = {};  // matrices, keyed by a hidden state of the group
  std::vector<Path>      leave_out   = {};  // groups with one of these states use the true signal
};

// Computes the learning signal L' that a rule contracts its traces with, from the true signal L.
class LearningSignal {
 public:
  LearningSignal() = default;  // symmetric: L' = L
  static LearningSignal random_feedback(RandomFeedback feedback) { return {Kind::Feedback, std::move(feedback)}; }
  static LearningSignal modulatory() { return {Kind::Modulatory, {}}; }  // L' is the first aux value of the step

  bool is_symmetric() const { return kind_ == Kind::Symmetric; }
  bool is_modulatory() const { return kind_ == Kind::Modulatory; }

  bool reads_output() const { return kind_ == Kind::Feedback && feedback_.from_output; }

  // L' per group, from L per group, the cotangents of the step's results, and the aux values of the step.
  Tensors received(const Step& step, const Tensors& L, const Tensors& ct, const Tensors& aux) const;

 private:
  enum class Kind : uint8_t { Symmetric, Feedback, Modulatory };
  LearningSignal(Kind kind, RandomFeedback feedback) : kind_(kind), feedback_(std::move(feedback)) {}

  Tensor matrix(const ETraceGraph& graph, const HiddenGroup& g, int64_t n_source) const;
  Tensor output_feedback(const ETraceGraph& graph, const HiddenGroup& g, const Tensor& delta) const;

  Kind           kind_ = Kind::Symmetric;
  RandomFeedback feedback_;
};

// The modulator broadcast to the positions of a group: a scalar applies everywhere, [*varshape] to every state; any
// other shape must broadcast to [*varshape,S]. Throws a UserError if it does not.
Tensor modulator_of(const HiddenGroup& g, const Tensor& modulator);

}  // namespace braintrace
