// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ir/tensor.h"

#include <algorithm>
#include <cstring>

#include "braintrace/base/default_float.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

Tensor::Tensor(Array array) {
  Type type = array.type();
  body_ =
      std::make_shared<const Body>(Body{.kind = Kind::Concrete, .type = std::move(type), .array = std::move(array)});
}
Tensor::Tensor(Type type, double fill)
    : body_(std::make_shared<const Body>(Body{.kind = Kind::Literal, .fill = fill, .type = std::move(type)})) {}
Tensor::Tensor(double value) : Tensor(weak({}, value)) {}
Tensor::Tensor(std::shared_ptr<Builder> trace, Var var, Type type)
    : body_(std::make_shared<const Body>(
          Body{.kind = Kind::Traced, .var = var, .trace = std::move(trace), .type = std::move(type)})) {}

Tensor Tensor::weak(const Shape& shape, double fill) {
  Tensor t;
  t.body_ = std::make_shared<const Body>(
      Body{.kind = Kind::Literal, .weak = true, .fill = fill, .type = {default_float(), shape}});
  return t;
}

Tensor Tensor::weak(const Tensor& in_default_type, Settle settle) {
  Body body   = *in_default_type.body_;
  body.weak   = true;
  body.settle = std::move(settle);
  Tensor t;
  t.body_ = std::make_shared<const Body>(std::move(body));
  return t;
}

Tensor Tensor::settled(DType to) const {
  ensure(is_weak(), "settled: the tensor has a type of its own");
  if (is_literal()) return Tensor(Type{to, shape()}, fill());
  if (to != dtype()) return body_->settle(to);
  Body body = *body_;
  body.weak = false;
  Tensor t;
  t.body_ = std::make_shared<const Body>(std::move(body));
  return t;
}

const Type& Tensor::no_type() {
  static const Type none;
  return none;
}

const std::shared_ptr<Builder>& Tensor::trace() const {
  static const std::shared_ptr<Builder> none;
  return body_ ? body_->trace : none;
}

namespace {

// Zeros keep the pages of the allocator, which take no memory until they are written.
Array filled(const Type& type, double value) {
  const Array  one  = Array::scalar(type.dtype, value);
  const size_t step = one.bytes();
  const char*  from = static_cast<const char*>(one.raw());
  Array        all(type);
  if (std::all_of(from, from + step, [](char byte) { return byte == 0; })) return all;
  char* to = static_cast<char*>(all.mutable_raw());
  for (size_t at = 0; at < all.bytes(); at += step) std::memcpy(to + at, from, step);
  return all;
}

}  // namespace

Array Tensor::array() const {
  require(defined(), ErrorKind::State, "tensor: it is undefined; assign a value before reading its elements.");
  if (is_traced())
    fail(ErrorKind::State,
         "tensor: {} is being traced and has no elements yet.\n"
         "  Return it from the traced function, or compute with operations instead of reading elements.",
         to_string(type()));
  if (body_->kind == Kind::Concrete) return *body_->array;
  return filled(type(), fill());
}

double Tensor::item() const {
  require(size() == 1, ErrorKind::Shape, "item: the tensor is {} with {} elements; item() needs exactly one.",
          to_string(type()), size());
  return at(array(), 0);
}

Types types_of(const Tensors& tensors) {
  Types out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(t.type());
  return out;
}

namespace {

thread_local std::string current_note;

// A constant array stays a literal: traces then contain a `full` equation instead of a captured array.
Tensor literal_result(const Op& op, const Tensors& in, const Attrs& attrs, const Types& out) {
  if (op.fill) return Tensor(out[0], op.fill(attrs));
  if (!op.is_elementwise() || out.size() != 1) return {};
  Arrays scalars;
  for (const Tensor& t : in) {
    if (!t.is_literal()) return {};
    scalars.push_back(Array::scalar(t.dtype(), t.fill()));
  }
  return Tensor(out[0], at(op.eval(op, scalars, attrs, {{out[0].dtype, {}}})[0], 0));
}

Tensors evaluate_now(const Op& op, const Tensors& in, const Attrs& attrs, const Types& out) {
  if (Tensor t = literal_result(op, in, attrs, out); t.defined()) return {t};
  if (op.expand) return op.expand(op, in, attrs);
  Arrays arrays;
  for (const Tensor& t : in) arrays.push_back(t.array());
  Tensors results;
  for (Array& a : op.eval(op, arrays, attrs, out)) results.emplace_back(std::move(a));
  return results;
}

}  // namespace

Tensors apply(const Op& op, Tensors in, Attrs attrs) {
  for (size_t i = 0; i < in.size(); ++i)
    require(in[i].defined(), ErrorKind::State, "{}: operand {} is an undefined tensor; give it a value first.", op.name,
            i);
  const Types out   = infer(op, types_of(in), attrs);
  const auto  trace = innermost_trace(in);
  return trace ? trace->emit(op, in, std::move(attrs), out) : evaluate_now(op, in, attrs, out);
}

Tensors apply_in(const std::shared_ptr<Builder>& home, const Op& op, Tensors in, Attrs attrs) {
  if (!home || !in.empty() || op.fill) return apply(op, std::move(in), std::move(attrs));
  const Types out = infer(op, {}, attrs);
  return home->emit(op, in, std::move(attrs), out);
}

Tensor apply1(const Op& op, Tensors in, Attrs attrs) { return apply(op, std::move(in), std::move(attrs)).front(); }

NoteScope::NoteScope(std::string note) : previous_(std::move(current_note)) { current_note = std::move(note); }
NoteScope::~NoteScope() { current_note = std::move(previous_); }
const std::string& NoteScope::current() { return current_note; }

}  // namespace braintrace
