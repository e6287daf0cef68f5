// SPDX-License-Identifier: Apache-2.0
// Time loops whose steps never mix units, such as a neuron of one row of a batch with all that belongs to it:
//
//   a[u], b[u]  →  c[u] = (a[u], b[u])  →  d[u, i] = Σ_j J[u, i, j] c[u, j]
//
// Each block of the team keeps its units through all kernels and steps, and never waits for the others.
#pragma once

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// How many units there are; 0 where a step does something else.
int64_t units_of(const TimeLoop& loop);

}  // namespace braintrace::codegen
