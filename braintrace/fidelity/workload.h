// SPDX-License-Identifier: Apache-2.0
// Inputs for a model whose gradients are compared, and how its parameters learn.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Normal random numbers, with time as the leading axis.
Tensor random_sequence(const Type& step, int64_t steps, const Tensor& key);
// The same as inputs of a model: integers are ids, 0 and 1 if the model has them.
Tensor random_inputs(Module& model, const Type& input, int64_t steps, const Tensor& key);

// The type of the model's output; throws UserError unless it is a float.
Type output_type(Module& model, const Type& input);

// With a trace, only in windows of several steps, or only with the same-step gradient.
enum class Credit : uint8_t { Trace, Window, SameStep };
Credit credit_of(const ETraceGraph& graph, const std::string& parameter_leaf);

}  // namespace braintrace
