// SPDX-License-Identifier: Apache-2.0
// Reordering along an axis: flip, roll.
#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::axes;
using keys::shift;

AxisLinks moved_along_axes(const DependArgs& a) {
  AxisLinks links;
  for (int i = 0; i < a.out[0].rank(); ++i)
    links.push_back(axis_link(i, i, contains(a.attrs[axes], i) ? AxisLink::Kind::Moved : AxisLink::Kind::Same));
  return links;
}

void require_axes(const Op& op, const Ints& which, int rank) {
  for (int64_t i : which) require_axis(op, i, rank);
  normalize_axes(which, rank, op.name.data());  // distinct
}

int64_t modulo(int64_t a, int64_t n) { return n == 0 ? 0 : (a % n + n) % n; }

}  // namespace

// y[…, i, …] = x[…, n-1-i, …]
constinit const Op flip_op = {
    .name  = "flip",
    .doc   = "backwards along axes",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require_axes(op, a[axes], in[0].rank());
      return {in[0]};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Ints    steps = strides_of(out[0].shape);
      int64_t base  = 0;
      for (int64_t i : a[axes]) {
        base += (out[0].shape[i] - 1) * steps[i];
        steps[i] = -steps[i];
      }
      return {read_strided(in[0], out[0], base, steps)};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {flip(a.ct[0], a.attrs[axes])}; },
    .batch     = [](const BatchArgs& a) -> Tensors { return {flip(a.in[0], shifted(a.attrs[axes]))}; },
    .simplify  = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return a[axes].empty() || in[0].is_literal() ? in : Tensors{};
    },
    .depend = moved_along_axes,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{axes, {0, 2}}}}};
    },
};

// y[…, (i + shift) mod n, …] = x[…, i, …]
constinit const Op roll_op = {
    .name  = "roll",
    .doc   = "shift along axes, around the end",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require_axes(op, a[axes], in[0].rank());
      require(a[shift].size() == a[axes].size(), "{}: {} shifts for {} axes; give one per axis.", op.name,
              a[shift].size(), a[axes].size());
      return {in[0]};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array x = in[0];
      for (size_t k = 0; k < a[axes].size(); ++k) {
        const int64_t i = a[axes][k], n = x.shape()[i];
        const Ints    strides = strides_of(x.shape());
        const int64_t by      = modulo(a[shift][k], n);
        Type          head = out[0], tail = out[0];
        head.shape[i] = n - by;
        tail.shape[i] = by;
        Array y(out[0]);
        write_strided(y, read_strided(x, head, 0, strides), by * strides[i], strides);
        write_strided(y, read_strided(x, tail, (n - by) * strides[i], strides), 0, strides);
        x = y;
      }
      return {x};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Ints back;
      for (size_t k = 0; k < a.attrs[axes].size(); ++k)
        back.push_back(-modulo(a.attrs[shift][k], a.types[0].shape[a.attrs[axes][k]]));
      return {roll(a.ct[0], back, a.attrs[axes])};
    },
    .batch    = [](const BatchArgs& a) -> Tensors { return {roll(a.in[0], a.attrs[shift], shifted(a.attrs[axes]))}; },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      bool moves = false;
      for (size_t k = 0; k < a[axes].size(); ++k) moves |= modulo(a[shift][k], in[0].shape()[a[axes][k]]) != 0;
      return !moves || in[0].is_literal() ? in : Tensors{};
    },
    .depend = moved_along_axes,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{axes, {2, 0}}, {shift, {-1, 3}}}}};
    },
};

Tensor flip(const Tensor& x, Ints which) {
  return apply1(flip_op, {x}, {{axes, normalize_axes(std::move(which), x.rank(), "flip")}});
}

Tensor roll(const Tensor& x, Ints shifts, Ints which) {
  for (int64_t& i : which) i = normalize_axis(i, x.rank(), "roll");
  return apply1(roll_op, {x}, {{axes, std::move(which)}, {shift, std::move(shifts)}});
}

Tensor roll(const Tensor& x, int64_t by, int64_t axis) { return roll(x, Ints{by}, Ints{axis}); }

}  // namespace braintrace
