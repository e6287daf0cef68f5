// SPDX-License-Identifier: Apache-2.0
// Per-parameter traces: one tensor ε : [*trace,S] per weight of a relation and group it is traced to.
#pragma once

#include "braintrace/executor/rule.h"

namespace braintrace {

Types param_trace_types(const ETraceGraph& graph);
// D ε; undefined when D is structurally zero.
Tensor propagated(Step& step, const TraceSite& site, const Tensor& eps);
// D_f ⊗ ∂y/∂w; undefined when D_f is structurally zero.
Tensor instantaneous(Step& step, const TraceSite& site);
// Adds Cᵀ(ℓ · ε) to the gradients of the leaves; nothing when ε is undefined.
void add_contracted(Step& step, const TraceSite& site, const Tensors& ell, const Tensor& eps, Tensors& leaf_gradients);

Tensor sum_or_zero(const Tensor& a, const Tensor& b, const Type& type);

}  // namespace braintrace
