// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "braintrace/algorithms/learner.h"
#include "braintrace/algorithms/param_dim.h"
#include "braintrace/base/default_float.h"
#include "braintrace/functions/gradients.h"

namespace braintrace {

// A synthetic-gradient model: for each hidden group, an affine map of its states,
//
//   g = h W + b        h : [..., width·S]
//
// that estimates ∂(later losses)/∂h. By default W = b = 0, and the estimate is zero.
class SyntheticGradient : public Module {
 public:
  // `group_shapes` has the shape [*varshape,S] of each group. W is initialized to scale · N(0,1).
  explicit SyntheticGradient(const std::vector<Shape>& group_shapes, double scale = 0, uint64_t seed = 0,
                             DType dtype = default_float());

  Tensors operator()(const Tensors& hidden_per_group) const;
  // Σ over groups of mean (g(h) − target)²
  Tensor error(const Tensors& hidden_per_group, const Tensors& target) const;

 private:
  std::vector<ParamState> weights_, biases_;
};

// DNI — decoupled neural interfaces on top of D-RTRL: a synthetic gradient replaces the credit that truncation to a
// window loses.   Jaderberg et al. 2017
//
//   reverse mode in each window as in multi-step D-RTRL, plus reverse mode from g(h_b) ≈ ∂(losses after b)/∂h_b
//
// The estimate gives credit to inputs, states, and parameters without a trace; traced ones get it from their traces.
class DNI : public OnlineLearner {
 public:
  explicit DNI(Module& model, std::shared_ptr<const SyntheticGradient> synthesizer = nullptr,
               LearnerOptions                      options = {},
               std::shared_ptr<const LearningRule> rule    = std::make_shared<ParamDimRule>("DNI"));

  void attach_synthesizer(std::shared_ptr<const SyntheticGradient> s) override { synthesizer_ = std::move(s); }

 protected:
  Tensors exit_credit(const Tensors& hidden) const override;

 private:
  std::shared_ptr<const SyntheticGradient> synthesizer_;
};

struct SynthesizerTraining {
  int64_t                               chunk_size = 1;
  std::function<Tensor(const Tensor&)>  loss       = nullptr;  // of the outputs of a window; default: sum of squares
  std::function<void(const Gradients&)> update     = nullptr;  // of the synthesizer; default: SGD with `lr`
  double                                lr         = 1e-2;
  int                                   epochs     = 1;
  bool                                  reset      = true;  // reset states and traces before every epoch
};
// Regresses g(h_a) at the start of every window onto the cotangent of h_a that the learner returns there, and g(h_T)
// onto zero. `inputs` : [T,…]. Returns the mean error of every epoch.
std::vector<double> train_synthetic_gradient(DNI& learner, SyntheticGradient& synthesizer, const Tensor& inputs,
                                             const SynthesizerTraining& options = {});

}  // namespace braintrace
