// SPDX-License-Identifier: Apache-2.0
// Is the gradient of my model right? Compares the gradient of every parameter, in double precision, with what it must
// equal and with the gradients of learning rules:
//
//   finite differences   ∂L/∂θ·v = (L(θ + h v) - L(θ - h v))/2h as h → 0;  L = Σ_t ℓ(y_t, t)
//   exact RTRL           Σ_t of its gradients, step by step
//   rules                the same for D_RTRL and others: how far off, and why
//
//   auto loss  = [&](const bt::Tensor& y, int64_t t) { return mean(square(y - target[t])); };
//   auto check = bt::check_grad(model, loss, xs);
//   fmt::print("{}", check.text());
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "braintrace/model/module.h"

namespace braintrace {

struct CheckGradOptions {
  int                      digits  = 6;           // of agreement that the checks require, 1 to 12
  std::vector<std::string> rules   = {"D_RTRL"};  // rules to compare, step by step
  int64_t                  entries = 8;  // of each parameter, changed one at a time; then all along a random direction
  uint64_t                 seed    = 1;  // of the choice of entries, and of stochastic rules
  int64_t                  memory_limit = int64_t{1} << 28;  // bytes of traces; rules that need more are skipped
};

// Comparison of two gradients.
struct Agreement {
  double      relative_error = 0;  // ‖a - b‖/‖b‖ over the compared entries
  int         digits         = 0;  // number of digits that agree: 0 to 15
  bool        must_hold      = false;
  bool        holds          = true;
  std::string words;  // "agrees to 11 digits"; "12% off: …"
};

struct ParameterCheck {
  std::string              name;  // rnn.Wz.weight.weight
  double                   norm = 0;
  std::optional<Agreement> finite_differences;  // none if they are not meaningful
  std::optional<Agreement> rtrl;                // none if it cannot run: see GradCheck::left_out
  std::string              why_no_differences;
  std::vector<Agreement>   rules;  // in the order of GradCheck::rules
};

struct GradCheck {
  std::string                 model, input;
  int64_t                     steps  = 0;
  double                      loss   = 0;
  int                         digits = 0;
  std::vector<std::string>    rules;
  std::vector<std::string>    left_out;  // rules that cannot run, with the reason
  std::vector<ParameterCheck> parameters;

  bool        passed() const;  // whether all required checks pass
  std::string text() const;
  std::string json() const;
};

using StepLoss = std::function<Tensor(const Tensor& y, int64_t t)>;  // a scalar

// The sequence xs [T,…] (one for each input of the model) starts from the current states of the model. The model does
// not change, including states and element types.
GradCheck check_grad(Module& model, const StepLoss& loss, const Tensor& xs, const CheckGradOptions& options = {});
GradCheck check_grad(Module& model, const StepLoss& loss, const Tensors& xs, const CheckGradOptions& options = {});
// Random inputs of this type and targets, ℓ = mean((y - target)²).
GradCheck check_grad(Module& model, const Type& input, int64_t steps, const CheckGradOptions& options = {});

}  // namespace braintrace
