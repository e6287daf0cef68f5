// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/along.h"

#include <algorithm>
#include <cstring>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/lanes.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/scalar_math.h"

namespace braintrace {

namespace {

void check_indices(const Op& op, const Types& in, const Attrs& a) {
  require(normalize_axis(a[keys::axis], in[0].rank(), op.name.data()) == a[keys::axis],
          "{}: axis {} must not be negative.", op.name, a[keys::axis]);
  require(is_integer(in[1].dtype), ErrorKind::DType, "{}: indices must be integers, got {}.", op.name,
          to_string(in[1]));
  Shape x = in[0].shape, i = in[1].shape;
  require(x.size() == i.size(), ErrorKind::Shape, "{}: x {} and indices {} must have the same rank.", op.name,
          to_string(in[0]), to_string(in[1]));
  x[a[keys::axis]] = i[a[keys::axis]] = 0;
  require(x == i, ErrorKind::Shape, "{}: x {} and indices {} differ outside axis {}.", op.name, to_string(in[0]),
          to_string(in[1]), a[keys::axis]);
}

// Sums of elements i of a lane of x at positions index(i) of the same lane of y.
template <class View, class Value>
std::vector<Value> sums_along(const Array& x, const Array& indices, const Type& out, int64_t axis,
                              Value (*add)(Value, Value)) {
  const View         v(x);
  const Integers     at(indices);
  const Lanes        from(x.shape(), axis), to(out.shape, axis);
  std::vector<Value> y(static_cast<size_t>(out.size()), Value{0});
  for (int64_t l = 0; l < from.count(); ++l)
    for (int64_t i = 0; i < from.length; ++i) {
      const int64_t source = from.begin(l) + i * from.stride;
      Value&        target = y[to.begin(l) + std::clamp<int64_t>(at[source], 0, to.length - 1) * to.stride];
      target               = add(target, v[source]);
    }
  return y;
}

std::vector<Sample> along_sample(Rng& rng, Attrs attrs) {
  return {{{random_array(rng, {DType::F64, {2, 5, 2}}), random_array(rng, {DType::I32, {2, 5, 2}})}, std::move(attrs)}};
}

}  // namespace

// The transpose of take_along.
constinit const Op add_along_op = {
    .name     = "add_along",
    .doc      = "elements added into zeros along an axis, by index",
    .operands = "x indices",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      check_indices(op, in, a);
      require(in[0].shape == in[1].shape, ErrorKind::Shape, "{}: x {} and indices {} must have the same shape.",
                 op.name, to_string(in[0]), to_string(in[1]));
      require(a[keys::size] > 0, "{}: size {} leaves no place to add to.", op.name, a[keys::size]);
      Type t                 = in[0];
      t.shape[a[keys::axis]] = a[keys::size];
      return {t};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const int64_t k = a[keys::axis];
      if (!is_float(out[0].dtype))
        return {from_integers(out[0], sums_along<Integers>(in[0], in[1], out[0], k, wrap_add))};
      return {from_doubles(
          out[0], sums_along<Doubles, double>(in[0], in[1], out[0], k, [](double s, double x) { return s + x; }))};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b01,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      return {take_along(a.ct[0], a.in[1], a.attrs[keys::axis]), Tensor()};
    },
    .batch  = shifted_axis_batch,
    .depend = other_axes_depend,
    .sample =
        [](const Op&, Rng& rng) {
          return along_sample(rng, {{keys::axis, int64_t{1}}, {keys::size, int64_t{6}}});
        },
};

// y[…, i, …] = x[…, indices[…, i, …], …]
constinit const Op take_along_op = {
    .name     = "take_along",
    .doc      = "elements along an axis, by index",
    .operands = "x indices",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      check_indices(op, in, a);
      require(in[0].shape[a[keys::axis]] > 0 || in[1].size() == 0, "{}: axis {} of {} is empty.", op.name,
                 a[keys::axis], to_string(in[0]));
      return {{in[0].dtype, in[1].shape}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Integers at(in[1]);
      const Lanes    from(in[0].shape(), a[keys::axis]), to(out[0].shape, a[keys::axis]);
      const size_t   size = size_of(out[0].dtype);
      Array          y(out[0]);
      for (int64_t l = 0; l < to.count(); ++l)
        for (int64_t i = 0; i < to.length; ++i) {
          const int64_t target = to.begin(l) + i * to.stride;
          const int64_t source = from.begin(l) + std::clamp<int64_t>(at[target], 0, from.length - 1) * from.stride;
          std::memcpy(static_cast<char*>(y.mutable_raw()) + target * size,
                      static_cast<const char*>(in[0].raw()) + source * size, size);
        }
      return {y};
    },
    .linearity       = Linearity::Joint,
    .linear_operands = 0b01,
    .transpose       = [](const TransposeArgs& a) -> Tensors {
      const int64_t k = a.attrs[keys::axis];
      return {add_along(a.ct[0], a.in[1], k, a.types[0].shape[k]), Tensor()};
    },
    .batch  = shifted_axis_batch,
    .depend = other_axes_depend,
    .sample =
        [](const Op&, Rng& rng) {
          return along_sample(rng, {{keys::axis, int64_t{1}}});
        },
};

Tensor add_along(const Tensor& x, const Tensor& indices, int64_t axis, int64_t size) {
  const int64_t k = normalize_axis(axis, x.rank(), "add_along");
  return apply1(add_along_op, {x, indices}, {{keys::axis, k}, {keys::size, size}});
}

Tensor take_along(const Tensor& x, const Tensor& indices, int64_t axis) {
  const int64_t k = normalize_axis(axis, x.rank(), "take_along");
  return apply1(take_along_op, {x, indices}, {{keys::axis, k}});
}

const std::vector<const Op*>& along_ops() {
  static const std::vector<const Op*> ops = {&add_along_op, &take_along_op};
  return ops;
}

}  // namespace braintrace
