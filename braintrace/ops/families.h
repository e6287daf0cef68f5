// SPDX-License-Identifier: Apache-2.0
// Families: the slots that all ops of a kind have in common.
//
//   constinit const Op tanh_op = elementwise({.name = "tanh", .doc = "…", .scalar = {…}});
//
// The family fills the empty slots of a record and keeps the slots that the record sets.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

// Rules shared by members of a family.
Types     same_type_infer(const Op& op, const Types& in, const Attrs& attrs);    // operands and result of one type
Types     float_infer(const Op& op, const Types& in, const Attrs& attrs);        // the same, floating-point only
Types     bool_result_infer(const Op& op, const Types& in, const Attrs& attrs);  // equal operand types -> bool
Arrays    scalar_eval(const Op& op, const Arrays& in, const Attrs& attrs, const Types& out);
Tensors   scalar_jvp(const JvpArgs& a);  // Σ_i ∂f/∂x_i · dx_i
Tensors   elementwise_batch(const BatchArgs& a);
AxisLinks elementwise_depend(const DependArgs& a);
std::vector<Sample> scalar_sample(const Op& op, Rng& rng);
// A random operand of this shape, with these attributes.
std::vector<Sample> one_sample(Rng& rng, Shape shape, Attrs attrs);

Types expand_infer(const Op& op, const Types& in, const Attrs& attrs);

consteval Op elementwise(Op op) {
  if (!op.infer) op.infer = same_type_infer;
  if (!op.eval) op.eval = scalar_eval;
  if (!op.jvp && op.linearity == Linearity::None && (op.scalar.partial[0] || op.scalar.partial[1])) op.jvp = scalar_jvp;
  if (!op.batch) op.batch = elementwise_batch;
  if (!op.depend) op.depend = elementwise_depend;
  if (!op.sample) op.sample = scalar_sample;
  return op;
}

// Elementwise with a bool result and no derivative.
consteval Op predicate(Op op) {
  op.infer = bool_result_infer;
  return elementwise(op);
}
consteval Op comparison(Op op) {
  op.operands = "lhs rhs";
  return predicate(op);
}

// Defined by simpler ops: types, derivatives, batching and dependence follow from the expansion.
consteval Op composite(Op op) {
  if (!op.infer) op.infer = expand_infer;
  return op;
}

// A composite of elementwise floating-point ops: it batches and depends like one. scalar.lo and hi bound its samples.
consteval Op elementwise_composite(Op op) {
  if (!op.infer) op.infer = float_infer;
  if (!op.batch) op.batch = elementwise_batch;
  if (!op.depend) op.depend = elementwise_depend;
  if (!op.sample) op.sample = scalar_sample;
  return op;
}

// Applies an elementwise op after bringing the operands to a common dtype and shape (user-facing functions).
Tensor elementwise_apply(const Op& op, Tensors in, Attrs attrs = {});

// A composite equation as a program of simpler ops.
struct Traced;
Traced expansion(const Op& op, const Types& in, const Attrs& attrs);

// Converts tensors to a common dtype. C++ numbers take the dtype of the tensors: integral numbers any dtype but bool
// (which becomes i32), other numbers any float type (with integer tensors, the default float type). Numbers without
// tensors get the default float type.
Tensors promote_together(Tensors in);

// A result computed only from C++ numbers stays a number until it gets a type; `compute` evaluates it in a float type.
Tensor yielding(const std::function<Tensor(DType)>& compute);
bool   all_weak(const Tensors& in);

// `t` with a new leading axis of the given size, if it does not have one yet (batching).
Tensor with_batch_axis(const Tensor& t, bool batched, int64_t size);

// Sum of two optional tensors.
Tensor add_defined(const Tensor& a, const Tensor& b);

}  // namespace braintrace
