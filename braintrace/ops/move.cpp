// SPDX-License-Identifier: Apache-2.0
// Constant patterns, and the list of all movement ops.
#include "braintrace/ops/move.h"

#include <cmath>

#include "braintrace/ops/axes.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"

namespace braintrace {

namespace {

using keys::axis;
using keys::dtype;
using keys::shape;
using keys::value;

}  // namespace

// y[…] = value
constinit const Op full_op = {
    .name     = "full",
    .doc      = "one value everywhere",
    .operands = "",
    .infer    = [](const Op& op, const Types&, const Attrs& a) -> Types {
      require_shape(op, a[shape]);
      return {{a[dtype], a[shape]}};
    },
    .eval = [](const Op&, const Arrays&, const Attrs& a, const Types& out) -> Arrays {
      return {Tensor(out[0], a[value]).array()};
    },
    .fill   = [](const Attrs& a) { return a[value]; },
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{}, {{dtype, DType::F64}, {shape, {2, 3}}, {value, 1.5}}}};
    },
};

// y[…, i, …] = i
constinit const Op iota_op = {
    .name     = "iota",
    .doc      = "0, 1, 2, … along one axis",
    .operands = "",
    .infer    = [](const Op& op, const Types&, const Attrs& a) -> Types {
      require_shape(op, a[shape]);
      require_axis(op, a[axis], static_cast<int>(a[shape].size()));
      return {{a[dtype], a[shape]}};
    },
    .eval = [](const Op&, const Arrays&, const Attrs& a, const Types& out) -> Arrays {
      std::vector<int64_t> v(static_cast<size_t>(out[0].size()));
      for (IndexWalk i(out[0].shape); !i.done(); i.next()) v[i.flat()] = i.index()[a[axis]];
      return {from_integers(out[0], v)};
    },
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{}, {{axis, int64_t{1}}, {dtype, DType::I32}, {shape, {2, 3}}}}};
    },
};

Tensor iota(Shape s, int64_t along, DType t) {
  const int64_t k = normalize_axis(along, static_cast<int>(s.size()), "iota");
  return apply1(iota_op, {}, {{axis, k}, {dtype, t}, {shape, std::move(s)}});
}

Tensor arange(int64_t n, DType t) {
  require(n >= 0, "arange: the number of elements is {}, it must not be negative.", n);
  return iota({n}, 0, t);
}

Tensor arange(double start, double stop, double step, DType t) {
  require(step != 0 && std::isfinite((stop - start) / step),
          "arange: from {} to {} in steps of {} has no end; give a finite range and a step that is not 0.", start, stop,
          step);
  const double count = std::max(0.0, std::ceil((stop - start) / step));
  require(count < 0x1p40, "arange: from {} to {} in steps of {} are {:.3g} elements, too many to hold.", start, stop,
          step, count);
  const auto          n = static_cast<int64_t>(count);
  std::vector<double> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[i] = start + static_cast<double>(i) * step;
  return from_doubles({t, {n}}, v);
}

Tensor linspace(double start, double stop, int64_t n, DType t) {
  require(n >= 0, "linspace: the number of elements is {}, it must not be negative.", n);
  std::vector<double> v(static_cast<size_t>(n), start);
  for (int64_t i = 1; i < n; ++i) v[i] = start + (stop - start) * static_cast<double>(i) / static_cast<double>(n - 1);
  if (n > 1) v[n - 1] = stop;
  return from_doubles({t, {n}}, v);
}

Tensor eye(int64_t rows, int64_t cols, int64_t k, DType t) {
  return convert(equal(iota({rows, cols}, 0, DType::I64) + full({}, static_cast<double>(k), DType::I64),
                       iota({rows, cols}, 1, DType::I64)),
                 t);
}

Tensor eye(int64_t n, DType t) { return eye(n, n, 0, t); }

namespace {

// column - row over the last two axes
Tensor diagonal_number(const Tensor& x, const char* where) {
  require(x.rank() >= 2, ErrorKind::Shape, "{}: expected a matrix or a stack of them, got {}.", where,
          to_string(x.type()));
  const Shape s(x.shape().end() - 2, x.shape().end());
  return iota(s, 1, DType::I64) - iota(s, 0, DType::I64);
}

}  // namespace

Tensor tril(const Tensor& x, int64_t k) {
  return select(less_equal(diagonal_number(x, "tril"), full({}, static_cast<double>(k), DType::I64)), x, zeros_like(x));
}

Tensor triu(const Tensor& x, int64_t k) {
  return select(greater_equal(diagonal_number(x, "triu"), full({}, static_cast<double>(k), DType::I64)), x,
                zeros_like(x));
}

Tensor one_hot(const Tensor& indices, int64_t n, DType t) {
  require(is_integer(indices.dtype()), ErrorKind::DType,
          "one_hot: indices must be integers, got {}; convert them first.", to_string(indices.type()));
  require(n >= 0, "one_hot: the number of classes is {}, it must not be negative.", n);
  return convert(equal(expand_dims(indices, -1), iota({n}, 0, indices.dtype())), t);
}

const std::vector<const Op*>& move_ops() {
  static const std::vector<const Op*> ops = {&broadcast_op, &concat_op, &dynamic_slice_op, &dynamic_update_slice_op,
                                             &flip_op,      &full_op,   &iota_op,          &pad_op,
                                             &reshape_op,   &roll_op,   &slice_op,         &transpose_op};
  return ops;
}

}  // namespace braintrace
