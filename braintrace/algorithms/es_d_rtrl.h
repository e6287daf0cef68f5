// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/signal.h"

namespace braintrace {

// How strongly the two factors remember: a decay in [0,1), or a rank r ≥ 1 that stands for the decay (r-1)/(r+1).
// A plain number is a decay, a whole one a rank: ES_D_RTRL(model, 0.9), ES_D_RTRL(model, 19).
struct TraceDecay {
  double x = 0, f = 0;

  TraceDecay(double both) : TraceDecay(both, both) {}
  TraceDecay(int r) : TraceDecay(rank(r)) {}
  TraceDecay(double of_x, double of_f) : x(of_x), f(of_f) {}
  static TraceDecay decay(double both) { return both; }
  static TraceDecay rank(int r);
};

struct IODimOptions {
  TraceDecay            decay   = 0.9;
  LearningSignal        signal  = {};
  std::optional<double> leak    = {};     // the factor in place of D on the f side: 1 or 0
  bool                  coupled = false;  // D keeps the products
};

// ES-D-RTRL, also called pp-prop: the trace as a product of a filtered input and a filtered sensitivity.
// Wang et al. 2026
//
//   ε^x_t = α_x ε^x_{t-1} + x_t         ε^f_t = α_f D_t ε^f_{t-1} + (1-α_f) D_f,t         c_m = max(1 - α_f^m, 1e-8)
//   ∇_t   = s_t + V(ε^x_t, Σ_a L'_t ε^f_t / c_m) − V(x_t, Σ_a L_t D_f,t)
//
// V(x, q) is the operation's own weight pull-back at input x and output cotangent q; m counts the steps in the trace.
// The last term takes out of s_t what the trace contains already. Memory O(B·(I+O·S)).
// A window is the sum of its steps. V is linear in x, so credit is filtered backwards instead of x forwards:
//
//   q̃_t = Σ_a L'_t ε^f_t / c_m + α_x q̃_{t+1}         Σ_t V(ε^x_t, q_t) = V(ε^x_0, α_x q̃_1) + Σ_t V(x_t, q̃_t)
//
// and one product per weight and window remains, with x as it came: spikes stay spikes.
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

class ES_D_RTRL : public OnlineLearner {
 public:
  explicit ES_D_RTRL(Module& model, TraceDecay decay = IODimOptions().decay, LearnerOptions options = {})
      : OnlineLearner(model, std::make_shared<IODimRule>("ES_D_RTRL", IODimOptions{decay}), std::move(options)) {}
};
using pp_prop           = ES_D_RTRL;
using IODimVjpAlgorithm = ES_D_RTRL;

// OSTL for feed-forward nets: the factors forget at once.   Bohnstingl et al. 2022
class OSTLFeedforward : public ES_D_RTRL {
 public:
  explicit OSTLFeedforward(Module& model, LearnerOptions options = {})
      : ES_D_RTRL(model, TraceDecay::decay(1e-6), std::move(options)) {}
};

}  // namespace braintrace
