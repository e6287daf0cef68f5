// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/reduce.h"

#include <algorithm>
#include <numeric>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<Ints> axes_key{"axes"};

bool contains(const Ints& axes, int64_t a) { return std::find(axes.begin(), axes.end(), a) != axes.end(); }

Ints kept_axes(const Ints& axes, int rank) {
  Ints kept;
  for (int i = 0; i < rank; ++i)
    if (!contains(axes, i)) kept.push_back(i);
  return kept;
}

Types reduced_infer(const Op& op, const Types& in, const Attrs& a) {
  require(normalize_axes(a[axes_key], in[0].rank(), op.name.data()) == a[axes_key],
          "{}: axes {} must be sorted and not negative.", op.name, to_string(a[axes_key]));
  Type t{in[0].dtype, {}};
  for (int64_t i : kept_axes(a[axes_key], in[0].rank())) t.shape.push_back(in[0].shape[i]);
  return {t};
}

// out[kept index] = fold over all elements with that kept index, in row-major order.
template <class View, class Value, class Fold>
std::vector<Value> fold_axes(const Array& x, const Ints& axes, int64_t out_size, Value start, Fold fold) {
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

Tensors reduced_batch(const BatchArgs& a) {
  Ints axes = a.attrs[axes_key];
  for (int64_t& x : axes) ++x;
  return apply(a.op, {a.in[0]}, {{axes_key, axes}});
}

AxisLinks reduced_depend(const DependArgs& a) {
  AxisLinks links;
  int       to = 0;
  for (int64_t i : kept_axes(a.attrs[axes_key], a.in[0].rank())) {
    links.push_back({static_cast<int>(i), static_cast<int>(i) + 1, to, to + 1});
    ++to;
  }
  return links;
}

std::vector<Sample> reduced_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{axes_key, {0, 2}}}},
          {{random_array(rng, {DType::F64, {3}})}, {{axes_key, {0}}}}};
}

}  // namespace

Array random_array(Rng& rng, Type type) {
  std::vector<double> v(static_cast<size_t>(type.size()));
  for (double& x : v)
    x = is_float(type.dtype) ? rng.normal() : static_cast<double>(rng.integer(type.dtype == DType::Bool ? 2 : 5));
  return from_doubles(type, v);
}

// y = Σ x over the axes
constinit const Op reduce_sum_op = {
    .name  = "reduce_sum",
    .doc   = "sum over axes",
    .infer = reduced_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      if (is_float(out[0].dtype))
        return {from_doubles(out[0], fold_axes<Doubles>(in[0], a[axes_key], out[0].size(), 0.0,
                                                        [](double s, double x) { return s + x; }))};
      return {from_integers(
           out[0], fold_axes<Integers>(in[0], a[axes_key], out[0].size(), int64_t{0}, [](int64_t s, int64_t x) {
            return static_cast<int64_t>(static_cast<uint64_t>(s) + static_cast<uint64_t>(x));
          }))};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {broadcast_axes(a.ct[0], a.types[0].shape, kept_axes(a.attrs[axes_key], a.types[0].rank()))};
    },
    .batch    = reduced_batch,
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return a[axes_key].empty() ? in : Tensors{};
    },
    .depend = reduced_depend,
    .sample = reduced_sample,
};

Tensor sum(const Tensor& x, const Axes& axes, bool keep_axes) {
  Ints which(x.shape().size());
  std::iota(which.begin(), which.end(), 0);
  if (axes) which = normalize_axes(*axes, x.rank(), "sum");
  const Tensor y = which.empty() ? x : apply1(reduce_sum_op, {x}, {{axes_key, which}});
  if (!keep_axes) return y;
  Shape s = x.shape();
  for (int64_t i : which) s[i] = 1;
  return reshape(y, s);
}

const std::vector<const Op*>& reduce_ops() {
  static const std::vector<const Op*> ops = {&reduce_sum_op};
  return ops;
}

}  // namespace braintrace
