// SPDX-License-Identifier: Apache-2.0
// Code that ops with nested programs share: tracing bodies, closing over outer tensors, and splitting operand lists.
#pragma once

#include "braintrace/base/pack.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

// A body under construction: its results are known, but may still be adjusted before `close_over` ends the trace.
struct OpenBody {
  std::shared_ptr<Builder> builder;
  Tensors                  results;
};
OpenBody open_body(const Types& types, const Function& f);

// Results of a forward pass, then the values that the derivative needs.
template <class List>
struct WithResiduals {
  List out, residuals;
};

// Programs over one common list of captured tensors: each takes (captures, its own arguments).
struct Bodies {
  ProgramPtrs programs;
  Tensors     captures;
};
Bodies close_over(std::vector<Traced> traced);
Bodies close_over(const std::vector<OpenBody>& open);

// Assigns types to C++ numbers among the results.
void settle_numbers(Tensors& results, const Types& wanted);

Types stacked(Types types, int64_t length);  // with a leading axis

// Of the marked operands, keeps the marks of those with a floating-point type.
Mask floats_among(const Mask& mask, const Types& types);

// The linear part of a run, without equations and captured constants that the results do not need.
Traced pruned(Traced traced);

// Runs `program` and returns its derivative as a linear map.
Linearized linearized(const Program& program, const Tensors& in, const Mask& active);

// `nested` must take the given types; the message names the op and the program's role.
void require_takes(const Op& op, const char* role, const Program& nested, const Types& given);

}  // namespace braintrace
