// SPDX-License-Identifier: Apache-2.0
// Code that trainable operations share: weight functions, bias, batching.
#pragma once

#include <functional>

#include "braintrace/etp/rules.h"

namespace braintrace {

// A shape-preserving function of one trainable operand. The operation reads fn(w). fn consists of plain operations, and
// gradients are pulled back through it to w exactly, whichever entries it mixes.
using WeightFn = std::function<Tensor(const Tensor&)>;

struct WeightFns {
  WeightFn weight_fn = {}, bias_fn = {};
};

// fn(w), or w if there is no fn; `name` is the name of the option, for messages.
Tensor transformed(const Tensor& w, const WeightFn& fn, const char* op, const char* name);

// The operands x, weights…, and bias if it is defined, converted to one element type.
Tensors operands(const Tensor& x, const Tensors& weights, const Tensor& bias);

// Throws unless x and the weights have one element type.
void require_one_dtype(const Op& op, const Types& in, size_t weights);
// If operand `at`, the bias, exists, throws unless it has this shape.
void require_bias(const Op& op, const Types& in, size_t at, const Shape& shape);

// Sums the axes that broadcasting `shape` would have repeated (right aligned), so that the result has that shape.
Tensor sum_to(const Tensor& t, const Shape& shape);

// Slots of EtpRules. The weight is operand 1, and the bias, if there is one, operand 2:
std::vector<EtpWeight> weight_and_bias(const EtpCall& call);
// ∂y_o/∂W_io = x_i and ∂y_o/∂b_o = 1 on the trace axes [*,I,O] and [*,O]; values per y_o on the same axes:
Tensor x_of_product(const EtpCall& call, int weight, const Tensors& in);
Tensor spread_over_product(const EtpCall& call, int weight, const Tensor& per_y);
// The trace axes that the weight lacks are summed:
Tensor sum_to_weight(const EtpCall& call, int weight, const Tensors& in, const Tensor& on_trace);

// Axes by letters: the axes `from` of `t` become `to` (size one where `from` lacks a letter); later axes are kept.
Tensor laid_out(const Tensor& t, const std::string& from, const std::string& to);

// If only x is mapped, the operation stays trainable: a sample of rank `sample_rank` gains the batch axis, and a batch
// absorbs the new axis. If another operand is mapped, the result is empty: vmap then maps the plain ops of the
// expansion.
Tensors batch_over_x(const BatchArgs& a, int sample_rank);

}  // namespace braintrace
