// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/lanes.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/scalar_math.h"

namespace braintrace {

namespace {

// out[kept index] = fold over all elements with that kept index, in row-major order.
template <class View, class Value>
std::vector<Value> fold_axes(const Array& x, const Ints& axes, int64_t out_size, Value start,
                             Value (*fold)(Value, Value)) {
  std::vector<Value> out(static_cast<size_t>(out_size), start);
  const View         v(x);
  Ints               strides(x.shape().size(), 0);
  int64_t            step = 1;
  for (int i = static_cast<int>(x.shape().size()) - 1; i >= 0; --i)
    if (!contains(axes, i)) {
      strides[i] = step;
      step *= x.shape()[i];
    }
  for (IndexWalk i(x.shape()); !i.done(); i.next()) {
    int64_t at = 0;
    for (size_t k = 0; k < strides.size(); ++k) at += i.index()[k] * strides[k];
    out[at] = fold(out[at], v[i.flat()]);
  }
  return out;
}

struct Folding {
  double real_start;
  double (*real)(double, double);
  int64_t integer_start;
  int64_t (*integer)(int64_t, int64_t);
};

Arrays fold_eval(const Folding& f, const Arrays& in, const Attrs& a, const Types& out) {
  const int64_t n = out[0].size();
  if (is_float(in[0].dtype()))
    return {from_doubles(out[0], fold_axes<Doubles>(in[0], a[keys::axes], n, f.real_start, f.real))};
  return {from_integers(out[0], fold_axes<Integers>(in[0], a[keys::axes], n, f.integer_start, f.integer))};
}

Types bool_reduced_infer(const Op& op, const Types& in, const Attrs& a) {
  require(in[0].dtype == DType::Bool, "{}: expected bool elements, got {}; compare them first.", op.name,
          to_string(in[0]));
  return reduced_infer(op, in, a);
}

// For max, min, any and all: a reduction of equal elements is that element.
Tensors idempotent_simplify(const Op& op, const Tensors& in, const Attrs& a) {
  if (a[keys::axes].empty()) return in;
  if (in[0].is_literal() && size_along(in[0].shape(), a[keys::axes]) > 0)
    return {Tensor(infer(op, {in[0].type()}, a)[0], in[0].fill())};
  return {};
}

// dy = mean of dx over the elements that attain y
Tensors extreme_jvp(const JvpArgs& a) {
  const Ints&  axes  = a.attrs[keys::axes];
  const Tensor x     = a.in[0];
  const Tensor hit   = convert(equal(x, repeat_reduced(a.out[0], x.shape(), axes)), x.dtype());
  const Tensor count = sum(hit, axes);
  return {sum(a.tangents[0] * hit, axes) / count};
}

// The reduced axes as one leading axis.
Tensor reduced_in_front(const Tensor& x, const Ints& axes) {
  const Ints kept = others(x.rank(), axes, {});
  Ints       perm = axes;
  perm.insert(perm.end(), kept.begin(), kept.end());
  Shape shape = {size_along(x.shape(), axes)};
  for (int64_t i : kept) shape.push_back(x.shape()[i]);
  return reshape(transpose(x, perm), shape);
}

// Products of pairs, pairs of pairs, … carry (p, dp) with d(p q) = dp q + p dq: no division, so zeros are not a
// problem.
Tensors prod_jvp(const JvpArgs& a) {
  Tensor p = reduced_in_front(a.in[0], a.attrs[keys::axes]), dp = reduced_in_front(a.tangents[0], a.attrs[keys::axes]);
  if (p.shape()[0] == 0) return {Tensor()};
  while (p.shape()[0] > 1) {
    const int64_t n = p.shape()[0], half = n / 2;
    auto          part = [&](const Tensor& t, int64_t from, int64_t to) { return slice_axis(t, 0, from, to); };
    const Tensor  left = part(p, 0, half), right = part(p, half, 2 * half);
    Tensor        d_all = part(dp, 0, half) * right + left * part(dp, half, 2 * half), all = left * right;
    if (n % 2) {
      all   = concat({all, part(p, n - 1, n)}, 0);
      d_all = concat({d_all, part(dp, n - 1, n)}, 0);
    }
    p  = all;
    dp = d_all;
  }
  return {reshape(dp, a.out[0].shape())};
}

std::vector<Sample> reduced_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{keys::axes, {0, 2}}}},
          {{random_array(rng, {DType::F64, {3}})}, {{keys::axes, {0}}}},
          {{random_array(rng, {DType::I32, {2, 3}})}, {{keys::axes, {1}}}}};
}

std::vector<Sample> bool_reduced_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::Bool, {2, 3, 2}})}, {{keys::axes, {0, 2}}}}};
}

consteval Op reduction(Op op) {
  if (!op.infer) op.infer = reduced_infer;
  op.batch  = reduced_batch;
  op.depend = reduced_depend;
  if (!op.sample) op.sample = reduced_sample;
  return op;
}

Types position_infer(const Op& op, const Types& in, const Attrs& a) {
  const int k = normalize_axis(a[keys::axis], in[0].rank(), op.name.data());
  require(k == a[keys::axis], "{}: axis {} must not be negative.", op.name, a[keys::axis]);
  require(in[0].shape[k] > 0, "{}: axis {} of {} is empty, so no element has a position.", op.name, k,
          to_string(in[0]));
  Shape s = in[0].shape;
  s.erase(s.begin() + k);
  return {{DType::I32, s}};
}

template <class View>
Arrays first_position(const Arrays& in, const Attrs& a, const Types& out, auto beats) {
  const View           v(in[0]);
  const Lanes          lanes(in[0].shape(), a[keys::axis]);
  std::vector<int64_t> best(static_cast<size_t>(lanes.count()), 0);
  for (int64_t l = 0; l < lanes.count(); ++l)
    for (int64_t j = 1; j < lanes.length; ++j)
      if (beats(v[lanes.begin(l) + j * lanes.stride], v[lanes.begin(l) + best[l] * lanes.stride])) best[l] = j;
  return {from_integers(out[0], best)};
}

// NaN, which has no order, comes before all numbers.
template <class Before>
Arrays position_eval(const Arrays& in, const Attrs& a, const Types& out, Before before) {
  if (!is_float(in[0].dtype())) return first_position<Integers>(in, a, out, before);
  return first_position<Doubles>(
      in, a, out, [&](double x, double y) { return std::isnan(y) ? false : std::isnan(x) || before(x, y); });
}

AxisLinks position_depend(const DependArgs& a) {
  AxisLinks links;
  const int k = static_cast<int>(a.attrs[keys::axis]);
  for (int i = 0; i < a.in[0].rank(); ++i)
    if (i != k) links.push_back({i, i + 1, i - (i > k), i - (i > k) + 1});
  return links;
}

std::vector<Sample> position_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{keys::axis, int64_t{1}}}},
          {{random_array(rng, {DType::I32, {5}})}, {{keys::axis, int64_t{0}}}}};
}

consteval Op position(Op op) {
  op.infer  = position_infer;
  op.batch  = shifted_axis_batch;
  op.depend = position_depend;
  op.sample = position_sample;
  return op;
}

Tensor position_apply(const Op& op, const Tensor& x, std::optional<int64_t> axis, bool keep_axes) {
  Shape kept(x.shape().size(), 1);
  if (!axis) {
    const Tensor y = apply1(op, {reshape(x, {x.size()})}, {{keys::axis, int64_t{0}}});
    return keep_axes ? reshape(y, kept) : y;
  }
  const int64_t k = normalize_axis(*axis, x.rank(), op.name.data());
  const Tensor  y = apply1(op, {x}, {{keys::axis, k}});
  return keep_axes ? expand_dims(y, k) : y;
}

}  // namespace

Array random_array(Rng& rng, Type type) {
  std::vector<double> v(static_cast<size_t>(type.size()));
  for (double& x : v)
    x = is_float(type.dtype) ? rng.normal() : static_cast<double>(rng.integer(type.dtype == DType::Bool ? 2 : 5));
  return from_doubles(type, v);
}

Types reduced_infer(const Op& op, const Types& in, const Attrs& a) {
  require(normalize_axes(a[keys::axes], in[0].rank(), op.name.data()) == a[keys::axes],
          "{}: axes {} must be sorted and not negative.", op.name, to_string(a[keys::axes]));
  Type t{in[0].dtype, {}};
  for (int64_t i : others(in[0].rank(), a[keys::axes], {})) t.shape.push_back(in[0].shape[i]);
  return {t};
}

Types nonempty_reduced_infer(const Op& op, const Types& in, const Attrs& a) {
  Types out = reduced_infer(op, in, a);
  for (int64_t i : a[keys::axes])
    require(in[0].shape[i] > 0,
            "{}: axis {} of {} is empty and has no such element.\n  Reduce another axis, or give at "
            "least one element.",
            op.name, i, to_string(in[0]));
  return out;
}

Tensors reduced_batch(const BatchArgs& a) {
  Ints axes = a.attrs[keys::axes];
  for (int64_t& x : axes) ++x;
  return apply(a.op, {a.in[0]}, a.attrs.with(keys::axes, axes));
}

AxisLinks reduced_depend(const DependArgs& a) {
  AxisLinks links;
  int       to = 0;
  for (int64_t i : others(a.in[0].rank(), a.attrs[keys::axes], {})) {
    links.push_back({static_cast<int>(i), static_cast<int>(i) + 1, to, to + 1});
    ++to;
  }
  return links;
}

Tensors shifted_axis_batch(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  return apply(a.op, in, a.attrs.with(keys::axis, a.attrs[keys::axis] + 1));
}

AxisLinks other_axes_depend(const DependArgs& a) {
  AxisLinks links;
  for (int i = 0; i < a.out[a.result].rank(); ++i)
    if (i != a.attrs[keys::axis]) links.push_back({i, i + 1, i, i + 1});
  return links;
}

Tensor repeat_reduced(const Tensor& y, const Shape& shape, const Ints& axes) {
  return broadcast_axes(y, shape, others(static_cast<int>(shape.size()), axes, {}));
}

// y[i] = position of the first largest element
constinit const Op argmax_op = position({
    .name = "argmax",
    .doc  = "position of the first largest element along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return position_eval(in, a, out, [](auto x, auto y) { return x > y; });
    },
});

constinit const Op argmin_op = position({
    .name = "argmin",
    .doc  = "position of the first smallest element along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return position_eval(in, a, out, [](auto x, auto y) { return x < y; });
    },
});

constinit const Op reduce_all_op = reduction({
    .name  = "reduce_all",
    .doc   = "whether all elements over axes hold",
    .infer = bool_reduced_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({0, nullptr, 1, [](int64_t s, int64_t x) { return s & x; }}, in, a, out);
    },
    .simplify = idempotent_simplify,
    .fold     = Fold::All,
    .sample   = bool_reduced_sample,
});

constinit const Op reduce_any_op = reduction({
    .name  = "reduce_any",
    .doc   = "whether any element over axes holds",
    .infer = bool_reduced_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({0, nullptr, 0, [](int64_t s, int64_t x) { return s | x; }}, in, a, out);
    },
    .simplify = idempotent_simplify,
    .fold     = Fold::Any,
    .sample   = bool_reduced_sample,
});

// y = max x over the axes; equal largest elements share the derivative
constinit const Op reduce_max_op = reduction({
    .name  = "reduce_max",
    .doc   = "largest element over axes",
    .infer = nonempty_reduced_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({-INFINITY, nan_max, INT64_MIN, [](int64_t s, int64_t x) { return std::max(s, x); }}, in, a,
                        out);
    },
    .jvp      = extreme_jvp,
    .simplify = idempotent_simplify,
    .fold     = Fold::Max,
});

constinit const Op reduce_min_op = reduction({
    .name  = "reduce_min",
    .doc   = "smallest element over axes",
    .infer = nonempty_reduced_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({INFINITY, nan_min, INT64_MAX, [](int64_t s, int64_t x) { return std::min(s, x); }}, in, a, out);
    },
    .jvp      = extreme_jvp,
    .simplify = idempotent_simplify,
    .fold     = Fold::Min,
});

// y = Π x over the axes
constinit const Op reduce_prod_op = reduction({
    .name = "reduce_prod",
    .doc  = "product over axes; 1 for no elements",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({1, [](double s, double x) { return s * x; }, 1, wrap_mul}, in, a, out);
    },
    .jvp      = prod_jvp,
    .simplify = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (a[keys::axes].empty()) return in;
      if (in[0].is_literal(1)) return {Tensor(infer(op, {in[0].type()}, a)[0], 1)};
      return {};
    },
    .fold   = Fold::Prod,
    .sample = [](const Op& op, Rng& rng) -> std::vector<Sample> {
      auto out = reduced_sample(op, rng);
      out.push_back(
          {{Array::of<double>({0, rng.normal(), rng.normal(), 0, rng.normal(), 0}, {2, 3})}, {{keys::axes, {1}}}});
      return out;
    },
});

// y = Σ x over the axes
constinit const Op reduce_sum_op = reduction({
    .name = "reduce_sum",
    .doc  = "sum over axes; 0 for no elements",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return fold_eval({0, [](double s, double x) { return s + x; }, 0, wrap_add}, in, a, out);
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {repeat_reduced(a.ct[0], a.types[0].shape, a.attrs[keys::axes])};
    },
    .simplify = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (a[keys::axes].empty()) return in;
      if (in[0].is_literal(0)) return {Tensor(infer(op, {in[0].type()}, a)[0], 0)};
      return {};
    },
    .fold = Fold::Sum,
});

Tensor reduce_apply(const Op& op, const Tensor& x, const Axes& axes, bool keep_axes) {
  require(x.defined(), "{}: the operand is an undefined tensor; give it a value first.", op.name);
  const Ints   which = axes.of(x.rank(), op.name.data());
  const Tensor y     = apply1(op, {x}, {{keys::axes, which}});
  if (!keep_axes) return y;
  Shape s = x.shape();
  for (int64_t i : which) s[i] = 1;
  return reshape(y, s);
}

Tensor countable(const Tensor& x) { return x.dtype() == DType::Bool ? convert(x, DType::I32) : x; }
Tensor all(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(reduce_all_op, x, axes, keep_axes);
}
Tensor any(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(reduce_any_op, x, axes, keep_axes);
}
Tensor max(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(reduce_max_op, x, axes, keep_axes);
}
Tensor min(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(reduce_min_op, x, axes, keep_axes);
}
Tensor prod(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(reduce_prod_op, countable(x), axes, keep_axes);
}
Tensor sum(const Tensor& x, const Axes& axes, bool keep_axes) {
  if (x.defined() && axes.of(x.rank(), "reduce_sum").empty()) return countable(x);
  return reduce_apply(reduce_sum_op, countable(x), axes, keep_axes);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_axes) {
  // Sums and squares soon leave the range of half precision, where the mean does not.
  if (x.dtype() == DType::F16) return convert(mean(convert(x, DType::F32), axes, keep_axes), DType::F16);
  const Tensor real = is_float(x.dtype()) ? x : convert(x, DType::F32);
  const auto   n    = size_along(x.shape(), axes.of(x.rank(), "mean"));
  return sum(real, axes, keep_axes) / static_cast<double>(n);
}

Tensor var(const Tensor& x, const Axes& axes, bool keep_axes, double correction) {
  if (x.dtype() == DType::F16) return convert(var(convert(x, DType::F32), axes, keep_axes, correction), DType::F16);
  const Tensor real = is_float(x.dtype()) ? x : convert(x, DType::F32);
  const auto   n    = static_cast<double>(size_along(x.shape(), axes.of(x.rank(), "var")));
  require(n > correction, "var: {} elements per result do not allow a correction of {}.", n, correction);
  return sum(square(real - mean(real, axes, true)), axes, keep_axes) / (n - correction);
}

Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keep_axes) {
  return position_apply(argmax_op, x, axis, keep_axes);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keep_axes) {
  return position_apply(argmin_op, x, axis, keep_axes);
}

const std::vector<const Op*>& reduce_ops() {
  static const std::vector<const Op*> ops = {&argmax_op,     &argmin_op,     &reduce_all_op,  &reduce_any_op,
                                             &reduce_max_op, &reduce_min_op, &reduce_prod_op, &reduce_sum_op};
  return ops;
}

}  // namespace braintrace
