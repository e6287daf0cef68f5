// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "braintrace/base/rng.h"
#include "braintrace/ops/along.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/lanes.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

bool before(int64_t a, int64_t b) { return a < b; }
bool before(double a, double b) { return std::isnan(a) ? false : std::isnan(b) || a < b; }

// The positions of each lane of x in sorted order.
template <class View>
Array sorted_positions(const Array& x, const Attrs& a, const Type& out) {
  const View           v(x);
  const Lanes          lanes(x.shape(), a[keys::axis]);
  std::vector<int64_t> order(static_cast<size_t>(lanes.length)), all(static_cast<size_t>(x.size()));
  for (int64_t l = 0; l < lanes.count(); ++l) {
    auto element = [&](int64_t j) { return v[lanes.begin(l) + j * lanes.stride]; };
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      return a[keys::descending] ? before(element(j), element(i)) : before(element(i), element(j));
    });
    for (int64_t j = 0; j < lanes.length; ++j) all[lanes.begin(l) + j * lanes.stride] = order[j];
  }
  return from_integers(out, all);
}

}  // namespace

// (values, indices):  values_i = x[indices_i], so d values_i = dx[indices_i]
constinit const Op sort_op = {
    .name  = "sort",
    .doc   = "elements in order along an axis, and where they were",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(normalize_axis(a[keys::axis], in[0].rank(), op.name.data()) == a[keys::axis],
              "{}: axis {} must not be negative.", op.name, a[keys::axis]);
      return {in[0], {DType::I32, in[0].shape}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Array at = is_float(in[0].dtype()) ? sorted_positions<Doubles>(in[0], a, out[1])
                                               : sorted_positions<Integers>(in[0], a, out[1]);
      return {take_along_op.eval(take_along_op, {in[0], at}, {{keys::axis, a[keys::axis]}}, {out[0]})[0], at};
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      return {take_along(a.tangents[0], a.out[1], a.attrs[keys::axis]), Tensor()};
    },
    .batch  = shifted_axis_batch,
    .depend = other_axes_depend,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 5, 2}})}, {{keys::axis, int64_t{1}}, {keys::descending, false}}},
              {{random_array(rng, {DType::I32, {6}})}, {{keys::axis, int64_t{0}}, {keys::descending, true}}}};
    },
};

// The first k of a descending sort.
constinit const Op top_k_op = composite({
    .name  = "top_k",
    .doc   = "largest k elements along an axis in descending order, and where they were",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const int axis = normalize_axis(a[keys::axis], in[0].rank(), op.name.data());
      require(a[keys::k] >= 0 && a[keys::k] <= in[0].shape[axis],
              "{}: k = {} is not within the {} elements of axis {} of {}.", op.name, a[keys::k], in[0].shape[axis],
              axis, to_string(in[0]));
      Shape s = in[0].shape;
      s[axis] = a[keys::k];
      return {{in[0].dtype, s}, {DType::I32, s}};
    },
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const Sorted s = sort_with_indices(in[0], a[keys::axis], true);
      return {slice_axis(s.values, a[keys::axis], 0, a[keys::k]), slice_axis(s.indices, a[keys::axis], 0, a[keys::k])};
    },
    .batch  = shifted_axis_batch,
    .depend = other_axes_depend,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 5, 2}})}, {{keys::axis, int64_t{1}}, {keys::k, int64_t{3}}}}};
    },
});

Sorted sort_with_indices(const Tensor& x, int64_t axis, bool descending) {
  const int64_t k = normalize_axis(axis, x.rank(), "sort");
  const Tensors y = apply(sort_op, {x}, {{keys::axis, k}, {keys::descending, descending}});
  return {y[0], y[1]};
}
Tensor sort(const Tensor& x, int64_t axis, bool descending) { return sort_with_indices(x, axis, descending).values; }
Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
  return sort_with_indices(x, axis, descending).indices;
}

Sorted top_k(const Tensor& x, int64_t k, int64_t axis) {
  const int64_t along = normalize_axis(axis, x.rank(), "top_k");
  const Tensors y     = apply(top_k_op, {x}, {{keys::axis, along}, {keys::k, k}});
  return {y[0], y[1]};
}

const std::vector<const Op*>& sort_ops() {
  static const std::vector<const Op*> ops = {&sort_op, &top_k_op};
  return ops;
}

}  // namespace braintrace
