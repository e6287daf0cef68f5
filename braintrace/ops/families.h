// SPDX-License-Identifier: Apache-2.0
// Families: what all members of a kind of op have in common, filled in once.
//
//   constinit const Op tanh_op = elementwise({.name = "tanh", .doc = "…", .scalar = {…}});
//
// A record given to a family keeps every slot it sets itself; the family fills the empty ones.
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
// A random operand of the shape, with the attributes.
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

// Meaning given by simpler ops: types, derivatives, batching and dependence follow from the expansion.
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

// The meaning of a composite equation as a program of simpler ops.
struct Traced;
Traced expansion(const Op& op, const Types& in, const Attrs& attrs);

// Brings tensors to one dtype. Bare C++ numbers yield to tensors: whole ones to any but bool (which becomes i32),
// others to any float (integers become the default float type, which numbers alone become too).
Tensors promote_together(Tensors in);

// What is made of bare numbers alone yields like them and is not rounded before it meets a type. `compute` makes it in
// a given float type.
Tensor yielding(const std::function<Tensor(DType)>& compute);
bool   all_weak(const Tensors& in);

// `t` with a new leading axis of the given size when it has none (batching).
Tensor with_batch_axis(const Tensor& t, bool batched, int64_t size);

// Sum of two optional tensors.
Tensor add_defined(const Tensor& a, const Tensor& b);

}  // namespace braintrace
