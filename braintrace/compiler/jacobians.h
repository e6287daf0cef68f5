// SPDX-License-Identifier: Apache-2.0
// Jacobian blocks of regions, per position.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Values of every variable of the step program while it is being traced.
using Values = Tensors;

// What a scan over the substeps of a descended scan reads: one factor, then values of the body.
template <class List>
struct SubstepRows {
  List factor, values;
};

// D[p,a,b] = ∂h_t[p,a] / ∂h_{t-1}[p,b] : [*varshape,S,S]; undefined if zero. Of a descended scan: D_L … D_1.
Tensor transition_blocks(const HiddenGroup& g, const Values& values);
// Whether D is structurally zero: the new states do not depend on the old ones within the scope.
bool forgets(const HiddenGroup& g);
// D_f[p,a] = ∂h_t[p,a] / ∂y_t[p] : [*varshape,S]; undefined if structurally zero. In a descended scan, one row per
// substep, each propagated through the later substeps: D_L … D_{s+1} D_f,s.
Tensor tail_blocks(const HiddenGroup& g, const HiddenParamOpRelation& r, const Connection& c, const Values& values);

}  // namespace braintrace
