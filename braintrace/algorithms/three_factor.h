// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// Three-factor learning: a modulator m (reward, surprise) replaces the learning signal.   Frémaux & Gerstner 2016
//
//   ε_t = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w           ∇_t = m_t · ε_t
//
// Linear in m; m = ∂ℓ/∂h gives D-RTRL. Weights without a trace use their same-step gradient.
class ThreeFactor : public OnlineLearner {
 public:
  explicit ThreeFactor(Module& model, LearnerOptions options = {});
  ThreeFactor(Module& model, Tensor modulator, LearnerOptions options = {});
  // Any rule with a modulatory learning signal. An undefined modulator must be set later.
  ThreeFactor(Module& model, std::shared_ptr<const LearningRule> rule, Tensor modulator, LearnerOptions options);

  // A scalar, one value per position of a state, or any shape that broadcasts to the states of every traced group.
  void set_modulator(Tensor modulator) override { standing_ = std::move(modulator); }

  // One step, or a window (`modulator` then has a leading time axis), with a modulator for this call only.
  using OnlineLearner::operator();
  Tensor               operator()(const Tensor& x, const Tensor& modulator);
  Tensor               operator()(const MultiStepData& xs, const Tensor& modulator);

 protected:
  Tensors aux(const std::optional<int64_t>& length) const override;

 private:
  Tensor standing_, once_;
};

}  // namespace braintrace
