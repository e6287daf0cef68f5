// SPDX-License-Identifier: Apache-2.0
// Traces of several steps from their factors: ∂y_t/∂w (the coefficients) and ∂h/∂y_t.
#pragma once

#include "braintrace/etp/rules.h"

namespace braintrace {

// The shape of ∂y/∂w on the trace axes.
Shape coefficient_shape(const EtpCall& call, int weight);
// Σ_t D_f,t ⊗ ∂y_t/∂w as one product, from coefficients stacked along a leading axis of K steps and D_f : [*y,S,K].
Tensor instants(const EtpCall& call, int weight, const Tensor& coefficients, const Tensor& D_f);

}  // namespace braintrace
