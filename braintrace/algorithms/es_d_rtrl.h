// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"

namespace braintrace {

// How strongly the two factors remember: a decay in [0,1), or a rank r ≥ 1 that stands for the decay (r-1)/(r+1).
struct TraceDecay {
  double x = 0, f = 0;

  static TraceDecay decay(double both) { return {both, both}; }
  static TraceDecay rank(int r);
};

// ES-D-RTRL, also called pp-prop: the trace as a product of a filtered input and a filtered sensitivity.  Wang et al.
// 2026
//
//   ε^x_t = α_x ε^x_{t-1} + x_t            ε^f_t = α_f D_t ε^f_{t-1} + (1-α_f) D_f,t          c_m = max(1 - α_f^m,
//   1e-8) ∇_t   = s_t + V(ε^x_t, Σ_a L_t ε^f_t / c_m) − V(x_t, Σ_a L_t D_f,t)
//
// V(x, q) is the operation's own weight pull-back at input x and output cotangent q; m counts the steps in the trace.
// The last term takes out of s_t what the trace contains already. Memory O(B·(I + O·S)).
class EsDRtrlRule : public LearningRule {
 public:
  explicit EsDRtrlRule(TraceDecay decay);

  std::string name() const override { return "ES_D_RTRL"; }
  Types       memory(const ETraceGraph& graph) const override;
  Tensors     advance(Step& step, const Tensors& memory) const override;
  void        credit(Step& step, const Tensors& before, const Tensors& after, const Tensors& L,
                     Tensors& leaf_gradients) const override;

 private:
  TraceDecay decay_;
};

class ES_D_RTRL : public OnlineLearner {
 public:
  ES_D_RTRL(Module& model, TraceDecay decay, CompileOptions options = {})
      : OnlineLearner(model, std::make_shared<EsDRtrlRule>(decay), std::move(options)) {}
};
using pp_prop = ES_D_RTRL;

// OSTL for feed-forward nets: the factors forget at once.   Bohnstingl et al. 2022
class OSTLFeedforward : public ES_D_RTRL {
 public:
  explicit OSTLFeedforward(Module& model, CompileOptions options = {})
      : ES_D_RTRL(model, TraceDecay::decay(1e-6), std::move(options)) {}
};

}  // namespace braintrace
