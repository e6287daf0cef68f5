// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/signal.h"

namespace braintrace {

// Decay of the two factors: a number in [0,1), or a rank r ≥ 1 that corresponds to the decay (r-1)/(r+1). A
// floating-point argument is a decay, an integer a rank: ES_D_RTRL(model, 0.9), ES_D_RTRL(model, 19).
struct TraceDecay {
  double x = 0, f = 0;

  TraceDecay(double both) : TraceDecay(both, both) {}
  TraceDecay(int r) : TraceDecay(rank(r)) {}
  TraceDecay(double of_x, double of_f) : x(of_x), f(of_f) {}
  static TraceDecay decay(double both) { return both; }
  static TraceDecay rank(int r);
};

// Options of IODimRule.
struct IODimOptions {
  TraceDecay            decay   = 0.9;
  LearningSignal        signal  = {};
  std::optional<double> leak    = {};     // replaces D in the recursion of ε^f: 1 or 0
  bool                  coupled = false;  // D includes paths through the recurrent weights
};

// ES-D-RTRL, also called pp-prop: approximates the trace by the product of a filtered input and a filtered sensitivity.
// Wang et al. 2026
//
//   ε^x_t = α_x ε^x_{t-1} + x_t         ε^f_t = α_f D_t ε^f_{t-1} + (1-α_f) D_f,t         c_m = max(1 - α_f^m, 1e-8)
//   ∇_t   = s_t + V(ε^x_t, Σ_a L'_t ε^f_t / c_m) − V(x_t, Σ_a L_t D_f,t)
//
// V(x, q) is the operation's weight gradient for input x and output cotangent q; m is the number of steps in the trace;
// s is the same-step gradient. The last term removes the part of s_t that the trace already contains. Memory
// O(B·(I+O·S)).
// In a window, V is linear in x, so we can filter the credit backward in time instead of filtering x forward:
//
//   q̃_t = Σ_a L'_t ε^f_t / c_m + α_x q̃_{t+1}         Σ_t V(ε^x_t, q_t) = V(ε^x_0, α_x q̃_1) + Σ_t V(x_t, q̃_t)
//
// This leaves one product per weight and window. Its operand is the unfiltered x, so spikes stay sparse and binary.
class IODimRule : public LearningRule {
 public:
  explicit IODimRule(std::string name, IODimOptions options);

  MemorySlots memory(const ETraceGraph& graph) const override;
  Tensors     advance(Step& step, const Tensors& memory, const Tensors& aux) const override;
  void        recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const override;
  Types       adjoint(const ETraceGraph& graph) const override;
  Retreat     retreat(Step& step, const StepBack& at) const override;
  void        enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& leaf_gradients) const override;

 private:
  IODimOptions options_;
};

// A learner with IODimRule.
class ES_D_RTRL : public OnlineLearner {
 public:
  explicit ES_D_RTRL(Module& model, TraceDecay decay = IODimOptions().decay, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<IODimRule>("ES_D_RTRL", IODimOptions{decay}), std::move(options)) {}
};
using pp_prop           = ES_D_RTRL;
using IODimVjpAlgorithm = ES_D_RTRL;

// OSTL for feed-forward networks: a decay near zero, so the factors hold only the current step. Bohnstingl et al. 2023
class OSTLFeedforward : public ES_D_RTRL {
 public:
  explicit OSTLFeedforward(Module& model, LearnerOptions options = {})
      : ES_D_RTRL(model, TraceDecay::decay(1e-6), std::move(options)) {}
};

}  // namespace braintrace
