// SPDX-License-Identifier: Apache-2.0
// Descriptions of the connections between neurons:
//
//   {"type": "csr", "shape": [n, m], "indptr": […], "indices": […]}         row = source, column = target
//   {"type": "file", "path": "net.mtx"}                                    or .npz of scipy; values are initial weights
//   {"type": "fixed_in_degree", "degree": 100, "seed": 1}                  `degree` sources for every target
//   {"type": "distance", "degree": 100, "sigma": 5.0, "seed": 1}           near sources more likely, on a grid
//
// On the grid, neuron i is at (i mod s, i div s), s = ⌈√n⌉. The distance from a target to a source is normally
// distributed along each axis, with standard deviation `sigma`; boundaries are periodic (a torus). Generated entries
// are ordered by target, and no neuron is its own source.
#pragma once

#include "braintrace/ops/sparse.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::zoo {

struct Wiring {
  SparsePattern pattern;
  Tensor        values;  // undefined unless the file contains values
};
// From n sources to m targets; `own`: sources and targets are the same neurons.
Wiring wiring_of(const Fields& f, const std::string& name, int64_t n, int64_t m, bool own);

}  // namespace braintrace::zoo
