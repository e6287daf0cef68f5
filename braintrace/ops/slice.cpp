// SPDX-License-Identifier: Apache-2.0
// Concatenation, slicing and padding.
#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

using keys::axis;
using keys::hi;
using keys::interior;
using keys::limit;
using keys::lo;
using keys::start;
using keys::stride;

}  // namespace

// y = parts joined along one axis
constinit const Op concat_op = {
    .name     = "concat",
    .doc      = "tensors joined along an axis",
    .operands = "first rest...",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const int64_t k   = a[axis];
      Type          out = in[0];
      require_axis(op, k, in[0].rank());
      out.shape[k] = 0;
      for (const Type& t : in) {
        Type rest = t;
        require(t.rank() == out.rank(), ErrorKind::Shape, "{}: ranks differ: {} and {}.", op.name, to_string(in[0]),
                   to_string(t));
        rest.shape[k] = out.shape[k];
        require(rest == out, ErrorKind::Shape, "{}: {} and {} differ outside axis {}.", op.name, to_string(in[0]),
                   to_string(t), k);
        out.shape[k] += t.shape[k];
      }
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array      y(out[0]);
      const Ints strides = strides_of(out[0].shape);
      int64_t    at      = 0;
      for (const Array& x : in) {
        write_strided(y, x, at * strides[a[axis]], strides);
        at += x.shape()[a[axis]];
      }
      return {y};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Tensors out(a.types.size());
      int64_t at = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const int64_t n = a.types[i].shape[a.attrs[axis]];
        if (a.linear[i]) out[i] = slice_axis(a.ct[0], a.attrs[axis], at, at + n);
        at += n;
      }
      return out;
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      Tensors in;
      for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
      return {concat(in, a.attrs[axis] + 1)};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return in.size() == 1 ? in : Tensors{}; },
    .depend   = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.out[0].rank(); ++i)
        if (i != a.attrs[axis]) links.push_back({i, i + 1, i, i + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {
          {{random_array(rng, {DType::F64, {2, 3}}), random_array(rng, {DType::F64, {2, 1}})}, {{axis, int64_t{1}}}}};
    },
};

// y[i] = x[start + i·stride]
constinit const Op slice_op = {
    .name  = "slice",
    .doc   = "elements start, start+stride, … below limit, per axis",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const auto n = in[0].shape.size();
      require(a[start].size() == n && a[limit].size() == n && a[stride].size() == n,
              "{}: start, limit and stride need one entry per axis of {}.", op.name, to_string(in[0]));
      Shape s;
      for (size_t i = 0; i < n; ++i) {
        const int64_t b = a[start][i], e = a[limit][i], d = a[stride][i];
        require(
            0 <= b && b <= e && e <= in[0].shape[i] && d > 0,
            "{}: [{}, {}) with stride {} does not fit axis {} of {}; choose 0 ≤ start ≤ limit ≤ size and stride ≥ 1.",
            op.name, b, e, d, i, to_string(in[0]));
        s.push_back((e - b) / d + ((e - b) % d != 0));
      }
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Ints    steps = strides_of(in[0].shape());
      int64_t base  = 0;
      for (size_t k = 0; k < steps.size(); ++k) {
        base += a[start][k] * steps[k];
        steps[k] *= a[stride][k];
      }
      return {read_strided(in[0], out[0], base, steps)};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Ints after, between;
      for (int i = 0; i < a.ct[0].rank(); ++i) {
        const int64_t n = a.ct[0].shape()[i], d = a.attrs[stride][i];
        const int64_t covered = n == 0 ? 0 : (n - 1) * d + 1;
        after.push_back(a.types[0].shape[i] - a.attrs[start][i] - covered);
        between.push_back(d - 1);
      }
      return {pad(a.ct[0], 0.0, a.attrs[start], after, between)};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      return {slice(a.in[0], prepend(0, a.attrs[start]), prepend(a.size, a.attrs[limit]), prepend(1, a.attrs[stride]))};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].is_literal()) return {slice(in[0], a[start], a[limit], a[stride])};
      const bool everything = in[0].shape() == a[limit] && all_equal(a[start], 0) && all_equal(a[stride], 1);
      return everything ? in : Tensors{};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.out[0].rank(); ++i)
        if (a.out[0].shape[i] == a.in[0].shape[i]) links.push_back({i, i + 1, i, i + 1});
      return links;
    },
    .sample =
        [](const Op&, Rng& rng) {
          return one_sample(rng, {4, 5}, {{limit, {4, 5}}, {start, {1, 0}}, {stride, {1, 2}}});
        },
};

// y = x surrounded and interleaved by value
constinit const Op pad_op = {
    .name     = "pad",
    .doc      = "a value before, after and between elements",
    .operands = "x value",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const auto n = in[0].shape.size();
      require(a[lo].size() == n && a[hi].size() == n && a[interior].size() == n,
                 "{}: lo, hi and interior need one entry per axis of {}.", op.name, to_string(in[0]));
      require(in[1] == Type{in[0].dtype, {}}, "{}: the value must be a {} scalar, got {}.", op.name,
                 name_of(in[0].dtype), to_string(in[1]));
      Shape             s;
      constexpr int64_t largest = int64_t{1} << 46;
      for (size_t i = 0; i < n; ++i) {
        const int64_t gaps = std::max<int64_t>(in[0].shape[i] - 1, 0);
        require(a[lo][i] >= 0 && a[hi][i] >= 0 && a[interior][i] >= 0,
                   "{}: padding must not be negative; use slice to remove elements.", op.name);
        require(std::max(a[lo][i], a[hi][i]) <= largest && a[interior][i] <= largest / std::max<int64_t>(gaps, 1),
                   "{}: padding {}, {}, {} of axis {} is too large.", op.name, a[lo][i], a[hi][i], a[interior][i], i);
        s.push_back(a[lo][i] + a[hi][i] + in[0].shape[i] + gaps * a[interior][i]);
      }
      require_shape(op, s);
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array   y     = read_strided(in[1], out[0], 0, Ints(out[0].shape.size(), 0));
      Ints    steps = strides_of(out[0].shape);
      int64_t base  = 0;
      for (size_t k = 0; k < steps.size(); ++k) {
        base += a[lo][k] * steps[k];
        steps[k] *= 1 + a[interior][k];
      }
      write_strided(y, in[0], base, steps);
      return {y};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Ints last, step;
      for (size_t i = 0; i < a.types[0].shape.size(); ++i) {
        const int64_t n = a.types[0].shape[i], d = a.attrs[interior][i] + 1;
        last.push_back(a.attrs[lo][i] + (n == 0 ? 0 : (n - 1) * d + 1));
        step.push_back(d);
      }
      const Tensor zero(Type{a.types[0].dtype, {}}, 0);
      const Tensor holes = convert(apply1(a.op, {Tensor(a.types[0], 0), Tensor(zero.type(), 1)}, a.attrs), DType::Bool);
      return {a.linear[0] ? slice(a.ct[0], a.attrs[lo], last, step) : Tensor(),
              a.linear[1] ? sum(select(holes, a.ct[0], zero)) : Tensor()};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      const Attrs wide{
          {hi, prepend(0, a.attrs[hi])}, {interior, prepend(0, a.attrs[interior])}, {lo, prepend(0, a.attrs[lo])}};
      if (!a.batched[1]) return apply(a.op, {a.in[0], a.in[1]}, wide);
      // A value per sample: pad with zero, then add the value where the mask of padding is one.
      const Tensor x = with_batch_axis(a.in[0], a.batched[0], a.size);
      const Type   inner{x.dtype(), Shape(x.shape().begin() + 1, x.shape().end())};
      const Tensor holes = apply1(a.op, {Tensor(inner, 0), Tensor(Type{x.dtype(), {}}, 1)}, a.attrs);
      const Tensor fill  = broadcast_axes(a.in[1], prepend(a.size, holes.shape()), {0});
      const Tensor kept  = apply1(a.op, {x, Tensor(Type{x.dtype(), {}}, 0)}, wide);
      return {select(convert(with_batch_axis(holes, false, a.size), DType::Bool), fill, kept)};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return all_equal(a[lo], 0) && all_equal(a[hi], 0) && all_equal(a[interior], 0) ? Tensors{in[0]} : Tensors{};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      if (a.operand == 0)
        for (int i = 0; i < a.out[0].rank(); ++i)
          if (a.out[0].shape[i] == a.in[0].shape[i]) links.push_back({i, i + 1, i, i + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{{random_array(rng, {DType::F64, {2, 3}}), Array::scalar(DType::F64, 0.5)},
               {{hi, {0, 2}}, {interior, {1, 0}}, {lo, {1, 0}}}}};
    },
};

Tensor concat(const Tensors& parts, int64_t along) {
  require(!parts.empty(), "concat: no tensors were given.");
  if (all_weak(parts))
    return yielding([=](DType dtype) {
      Tensors settled;
      for (const Tensor& t : parts) settled.push_back(t.settled(dtype));
      return concat(settled, along);
    });
  const int64_t k = normalize_axis(along, parts[0].rank(), "concat");
  return apply1(concat_op, promote_together(parts), {{axis, k}});
}

Tensor stack(const Tensors& parts, int64_t along) {
  require(!parts.empty(), "stack: no tensors were given.");
  const int64_t k = normalize_axis(along, parts[0].rank() + 1, "stack");
  Tensors       wide;
  for (const Tensor& t : parts) wide.push_back(expand_dims(t, k));
  return concat(wide, k);
}

Tensor slice(const Tensor& x, Ints b, Ints e, Ints d) {
  if (d.empty()) d.assign(b.size(), 1);
  if (x.is_weak()) return yielding([=](DType dtype) { return slice(x.settled(dtype), b, e, d); });
  const Attrs attrs{{limit, std::move(e)}, {start, std::move(b)}, {stride, std::move(d)}};
  if (x.is_literal()) return Tensor(infer(slice_op, {x.type()}, attrs)[0], x.fill());
  return apply1(slice_op, {x}, attrs);
}

Tensors split(const Tensor& x, const Ints& sizes, int64_t along) {
  const int64_t k     = normalize_axis(along, x.rank(), "split");
  const int64_t total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  require(total == x.shape()[k], "split: sizes {} add up to {}, but axis {} of {} has size {}.", to_string(sizes),
          total, k, to_string(x.type()), x.shape()[k]);
  Tensors out;
  int64_t at = 0;
  for (int64_t n : sizes) {
    out.push_back(slice_axis(x, k, at, at + n));
    at += n;
  }
  return out;
}

Tensors split(const Tensor& x, int64_t parts, int64_t along) {
  const int64_t k = normalize_axis(along, x.rank(), "split");
  require(parts > 0 && x.shape()[k] % parts == 0,
          "split: axis {} of {} has size {}, which {} equal parts do not divide; give the sizes instead.", k,
          to_string(x.type()), x.shape()[k], parts);
  return split(x, Ints(static_cast<size_t>(parts), x.shape()[k] / parts), k);
}

Tensor slice_axis(const Tensor& x, int64_t along, int64_t b, int64_t e, int64_t d) {
  along = normalize_axis(along, x.rank(), "slice");
  Ints from(x.shape().size(), 0), to = x.shape(), step(x.shape().size(), 1);
  from[along] = b;
  to[along]   = e;
  step[along] = d;
  return slice(x, from, to, step);
}

Tensor pad(const Tensor& x, const Tensor& v, Ints before, Ints after, Ints between) {
  if (between.empty()) between.assign(before.size(), 0);
  const Tensor scalar = v.is_literal() || v.is_weak() ? convert(v, x.dtype()) : v;
  return apply1(pad_op, {x, scalar}, {{hi, std::move(after)}, {interior, std::move(between)}, {lo, std::move(before)}});
}

}  // namespace braintrace
