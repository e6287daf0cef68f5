// SPDX-License-Identifier: Apache-2.0
// Which neurons are connected, by description:
//
//   {"type": "csr", "shape": [n, m], "indptr": […], "indices": […]}         row = source, column = target
//   {"type": "file", "path": "net.mtx"}                                    or .npz of scipy; values are initial weights
//   {"type": "fixed_in_degree", "degree": 100, "seed": 1}                  every target has so many sources
//   {"type": "distance", "degree": 100, "sigma": 5.0, "seed": 1}           near ones more likely, on a sheet
//
// On the sheet neuron i stands at (i mod s, i div s), s = ⌈√n⌉; a source is as far from its target as a normal variable
// of `sigma` steps along either side, and sides meet (a torus). Generated entries lie by target, and no neuron is its
// own source.
#pragma once

#include "braintrace/ops/sparse.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::zoo {

struct Wiring {
  SparsePattern pattern;
  Tensor        values;  // undefined unless a file has them
};
// From n sources to m targets; `own`: sources are the targets.
Wiring wiring_of(const Fields& f, const std::string& name, int64_t n, int64_t m, bool own);

}  // namespace braintrace::zoo
