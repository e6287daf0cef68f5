// SPDX-License-Identifier: Apache-2.0
// What is fed to a model whose gradients are compared, and how its parameters learn.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

// Normal numbers, one step after the other along a leading axis.
Tensor random_sequence(const Type& step, int64_t steps, const Tensor& key);
// The same as inputs of a model: integers stand for ids, 0 and 1 as far as the model has them.
Tensor random_inputs(Module& model, const Type& input, int64_t steps, const Tensor& key);

// The type of the model's output; throws UserError unless it is a float.
Type output_type(Module& model, const Type& input);

// By a trace, by windows of several steps only, or by the gradient of the same step alone.
enum class Credit : uint8_t { Trace, Window, SameStep };
Credit credit_of(const ETraceGraph& graph, const std::string& parameter_leaf);

}  // namespace braintrace
