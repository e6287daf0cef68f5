// SPDX-License-Identifier: Apache-2.0
// Inputs and results of a StatefulProgram as packs (base/pack.h).
#pragma once

#include "braintrace/base/pack.h"
#include "braintrace/ir/op.h"
#include "braintrace/model/frame.h"

namespace braintrace::flat {

template <class List>
struct StatefulInputs {
  List constants, args, reads;
};
template <class List>
struct StatefulResults {
  List results, writes;
};

inline StatefulInputs<size_t> input_sizes(const StatefulProgram& p) {
  return {p.constants.size(), p.num_args, p.reads.size()};
}
inline StatefulResults<size_t> result_sizes(const StatefulProgram& p) { return {p.num_results, p.writes.size()}; }

// Marks of the inputs when states and constants have none.
inline Mask args_only(const StatefulProgram& p, const Mask& args) {
  return joined(StatefulInputs<Mask>{Mask(p.constants.size(), false), args, Mask(p.reads.size(), false)});
}

}  // namespace braintrace::flat
