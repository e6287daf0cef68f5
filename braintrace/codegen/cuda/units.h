// SPDX-License-Identifier: Apache-2.0
// Privatization of time loops whose steps never mix units, such as one neuron of one batch row with all of its state:
//
//   a[u], b[u]  →  c[u] = (a[u], b[u])  →  d[u, i] = Σ_j J[u, i, j] c[u, j]
//
// Each block of the team owns its units through all kernels and steps, and no barrier between blocks is needed:
//
//   for t: c over all threads, barrier, d over all threads, barrier   →   per block: for t: c[own], d[own]
#pragma once

#include "braintrace/codegen/schedule.h"

namespace braintrace::codegen {

// The number of units; 0 if a step mixes them.
int64_t units_of(const TimeLoop& loop);

}  // namespace braintrace::codegen
