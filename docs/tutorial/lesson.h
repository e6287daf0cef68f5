// SPDX-License-Identifier: Apache-2.0
// What a lesson says about its models is checked where it is said.
#pragma once

#include <cstdlib>

#include "braintrace/braintrace.h"

// Ends the lesson when a statement is not true.
inline void check(bool holds, const char* statement) {
  if (holds) return;
  fmt::print(stderr, "not true: {}\n", statement);
  std::exit(1);
}

// Largest difference between two tensors of one shape.
inline double distance(const bt::Tensor& a, const bt::Tensor& b) { return bt::max(bt::abs(a - b)).item(); }

// The relation of a weight; the lesson ends when there is none.
inline const bt::HiddenParamOpRelation& relation_of(const bt::ETraceGraph& graph, const char* weight) {
  for (const bt::HiddenParamOpRelation& r : graph.hidden_param_op_relations)
    if (r.weight_path.str() == weight) return r;
  check(false, weight);
  std::abort();
}
