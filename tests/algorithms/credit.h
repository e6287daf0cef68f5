// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of credit: five steps of two inputs, and gradients of losses around a step.
#pragma once

#include "braintrace/algorithms/compile.h"
#include "tests/algorithms/support.h"

namespace braintrace {

constexpr int64_t   T     = 5;
constexpr double    exact = 1e-11;
inline const Tensor xs = normal({DType::F64, {T, 2}}, 5), m = ones({T}, DType::F64);

inline const char* const rules[] = {"d_rtrl",           "ostl_recurrent", "eprop", "es_d_rtrl",
                                    "ostl_feedforward", "snap",           "uoro",  "rtrl"};

inline RuleOptions options_of(const std::string& rule) {
  RuleOptions out;
  if (rule == "es_d_rtrl") out.decay_or_rank = TraceDecay{0.9, 0.7};
  if (rule == "snap") out.n = 2;
  return out;
}

// The output that a loss reads, for an input.
using Call = std::function<Tensor(const Tensor&)>;
// The gradients of the steps, computed one by one, summed.
inline Gradients one_by_one(const Call& step, const StateMap& params, bool jitted) {
  const auto f = [&](Tensor x) { return loss_of(step(x)); };
  const auto g = grad(f, params);
  const auto j = jit(g);
  Gradients  total;
  for (int64_t t = 0; t < T; ++t) {
    const Gradients now = jitted ? j(row(xs, t)) : g(row(xs, t));
    total               = t == 0 ? now : total + now;
  }
  return total;
}

// Σ_t loss of the steps, in one gradient.
inline Gradients in_one(const Call& step, const StateMap& params) {
  const auto loss = [&](Tensor in) {
    Tensor total(0.0);
    for (int64_t t = 0; t < T; ++t) total = total + loss_of(step(row(in, t)));
    return total;
  };
  return grad(loss, params)(xs);
}

}  // namespace braintrace
