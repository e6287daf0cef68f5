// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/families.h"

#include <algorithm>
#include <cmath>

#include "braintrace/base/default_float.h"
#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

void require_supported(const Op& op, DType dtype) {
  require(!is_float(dtype) || op.scalar.real, ErrorKind::DType,
          "{}: expected integer or bool elements, got {}; convert them first.", op.name, name_of(dtype));
  require(is_float(dtype) || op.scalar.integer, ErrorKind::DType,
          "{}: expected floating-point elements, got {}; convert them first.", op.name, name_of(dtype));
}

void require_one_type(const Op& op, const Types& in) {
  for (const Type& t : in)
    if (t != in[0])
      fail("{}: operands must have the same type, got {} and {}.\n  Broadcast or convert one of them first.", op.name,
           to_string(in[0]), to_string(t));
}

}  // namespace

Types same_type_infer(const Op& op, const Types& in, const Attrs&) {
  require_one_type(op, in);
  require_supported(op, in[0].dtype);
  return {in[0]};
}

Types float_infer(const Op& op, const Types& in, const Attrs&) {
  require_one_type(op, in);
  require(is_float(in[0].dtype), ErrorKind::DType, "{}: expected floating-point elements, got {}; convert them first.",
          op.name, name_of(in[0].dtype));
  return {in[0]};
}

Types bool_result_infer(const Op& op, const Types& in, const Attrs&) {
  require_one_type(op, in);
  require_supported(op, in[0].dtype);
  return {{DType::Bool, in[0].shape}};
}

Arrays scalar_eval(const Op& op, const Arrays& in, const Attrs&, const Types& out) {
  const int64_t n   = out[0].size();
  const size_t  k   = in.size();
  auto          run = [&]<class View, class Value>(Value (*f)(const Value*)) {
    std::vector<View> views;
    views.reserve(k);
    for (const Array& a : in) views.emplace_back(a);
    std::vector<Value> result(static_cast<size_t>(n));
    Value              x[3];
    for (int64_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < k; ++j) x[j] = views[j][i];
      result[i] = f(x);
    }
    return result;
  };
  if (is_float(in[0].dtype())) return {from_doubles(out[0], run.operator()<Doubles>(op.scalar.real))};
  return {from_integers(out[0], run.operator()<Integers>(op.scalar.integer))};
}

Tensors scalar_jvp(const JvpArgs& a) {
  Tensor sum;
  for (size_t i = 0; i < a.in.size(); ++i)
    if (a.tangents[i].defined() && a.op.scalar.partial[i])
      sum = add_defined(sum, a.tangents[i] * a.op.scalar.partial[i](a.in, a.out[0]));
  return {sum};
}

Tensors elementwise_batch(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  return apply(a.op, in, a.attrs);
}

AxisLinks elementwise_depend(const DependArgs& a) {
  AxisLinks links;
  for (int i = 0; i < a.out[a.result].rank(); ++i) links.push_back({i, i + 1, i, i + 1});
  return links;
}

std::vector<Sample> one_sample(Rng& rng, Shape shape, Attrs attrs) {
  return {{{random_array(rng, {DType::F64, std::move(shape)})}, std::move(attrs)}};
}
std::vector<Sample> scalar_sample(const Op& op, Rng& rng) {
  const size_t arity = 1 + static_cast<size_t>(std::count(op.operands.begin(), op.operands.end(), ' '));
  Sample       s;
  const bool   integers = op.scalar.integer && !op.scalar.real;
  for (size_t i = 0; i < arity; ++i) {
    const Type          t{integers ? DType::I32 : DType::F64, {2, 3}};
    std::vector<double> values(6);
    for (double& v : values) v = op.scalar.lo + (op.scalar.hi - op.scalar.lo) * rng.uniform();
    if (integers)
      for (double& v : values) v = std::floor(v);
    s.in.emplace_back(from_doubles(t, values));
  }
  return {s};
}

Traced expansion(const Op& op, const Types& in, const Attrs& attrs) {
  return trace(in, [&](const Tensors& args) { return op.expand(op, args, attrs); });
}

Types expand_infer(const Op& op, const Types& in, const Attrs& attrs) {
  const Traced body = expansion(op, in, attrs);
  return body.program.types_of(body.program.results);
}

Tensors promote_together(Tensors in) {
  bool  found = false;
  DType dtype = default_float();
  for (const Tensor& t : in) {
    if (t.is_weak()) continue;
    dtype = found ? promote(dtype, t.dtype()) : t.dtype();
    found = true;
  }
  for (const Tensor& t : in) {
    if (!t.is_weak() || is_float(dtype)) continue;
    if (!t.is_literal() || t.fill() != std::floor(t.fill()) || std::isinf(t.fill()))
      dtype = default_float();
    else if (dtype == DType::Bool)
      dtype = DType::I32;
  }
  for (Tensor& t : in) t = convert(t, dtype);
  return in;
}

bool all_weak(const Tensors& in) {
  return std::all_of(in.begin(), in.end(), [](const Tensor& t) { return t.is_weak(); });
}

Tensor yielding(const std::function<Tensor(DType)>& compute) {
  const Tensor here = compute(default_float());
  if (!is_float(here.dtype())) return compute(DType::F64);
  if (here.is_literal()) return Tensor::weak(here.shape(), compute(DType::F64).fill());
  return Tensor::weak(here, [compute](DType dtype) { return convert(compute(DType::F64), dtype); });
}

Tensor elementwise_apply(const Op& op, Tensors in, Attrs attrs) {
  for (size_t i = 0; i < in.size(); ++i)
    require(in[i].defined(), ErrorKind::State, "{}: operand {} is an undefined tensor; give it a value first.", op.name,
            i);
  const bool alike =
      std::all_of(in.begin(), in.end(), [&](const Tensor& t) { return !t.is_weak() && t.type() == in[0].type(); });
  if (alike) return apply1(op, std::move(in), std::move(attrs));
  if (all_weak(in))
    return yielding([&op, in, attrs](DType dtype) {
      Tensors settled;
      for (const Tensor& t : in) settled.push_back(t.settled(dtype));
      return elementwise_apply(op, settled, attrs);
    });
  in          = promote_together(std::move(in));
  Shape shape = in[0].shape();
  for (const Tensor& t : in) shape = broadcast_shapes(shape, t.shape(), op.name.data());
  for (Tensor& t : in) t = broadcast_to(t, shape);
  return apply1(op, std::move(in), std::move(attrs));
}

Tensor with_batch_axis(const Tensor& t, bool batched, int64_t size) {
  if (batched) return t;
  Shape shape = t.shape();
  shape.insert(shape.begin(), size);
  return broadcast_to(t, shape);
}

Tensor add_defined(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return add(a, b);
}

}  // namespace braintrace
