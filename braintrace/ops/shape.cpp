// SPDX-License-Identifier: Apache-2.0
// Changes of shape: reshape, transpose, broadcast.
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

using keys::dims;
using keys::perm;
using keys::shape;

}  // namespace

// y = x with the same elements in row-major order
constinit const Op reshape_op = {
    .name  = "reshape",
    .doc   = "another shape of equal size",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require_shape(op, a[shape]);
      require(size_of(a[shape]) == in[0].size(), ErrorKind::Shape,
              "{}: {} has {} elements, shape {} has {}; choose sizes with that product.", op.name, to_string(in[0]),
              in[0].size(), to_string(a[shape]), size_of(a[shape]));
      return {{in[0].dtype, a[shape]}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      return {(in[0].is_borrowed() ? in[0].copy() : in[0]).reshaped(a[shape])};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {reshape(a.ct[0], a.types[0].shape)}; },
    .batch     = [](const BatchArgs& a) -> Tensors { return {reshape(a.in[0], prepend(a.size, a.attrs[shape]))}; },
    .simplify  = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].shape() == a[shape]) return {in[0]};
      if (in[0].is_literal()) return {reshape(in[0], a[shape])};
      if (const auto inner = made_by(op, in[0])) return {reshape(inner->in[0], a[shape])};
      return {};
    },
    // The finest grouping of axes whose products agree on both sides.
    .depend = [](const DependArgs& a) -> AxisLinks {
      const Shape &from = a.in[0].shape, &to = a.out[0].shape;
      AxisLinks    links;
      size_t       i = 0, j = 0;
      while (i < from.size() || j < to.size()) {
        const size_t i0 = i, j0 = j;
        int64_t      p = i < from.size() ? from[i++] : 1, q = j < to.size() ? to[j++] : 1;
        while (p != q) {
          if (p < q) {
            if (i == from.size()) return {};
            p *= from[i++];
          } else {
            if (j == to.size()) return {};
            q *= to[j++];
          }
        }
        links.push_back({static_cast<int>(i0), static_cast<int>(i), static_cast<int>(j0), static_cast<int>(j)});
      }
      return links;
    },
    .sample =
        [](const Op&, Rng& rng) {
          return one_sample(rng, {2, 3, 2}, {{shape, {6, 2}}});
        },
};

// axis i of y is axis perm[i] of x
constinit const Op transpose_op = {
    .name  = "transpose",
    .doc   = "permutation of axes",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      Ints sorted = a[perm];
      std::sort(sorted.begin(), sorted.end());
      require(sorted == counted(0, in[0].rank()), ErrorKind::Shape, "{}: {} is not a permutation of the {} axes of {}.",
              op.name, to_string(a[perm]), in[0].rank(), to_string(in[0]));
      Shape s;
      for (int64_t p : a[perm]) s.push_back(in[0].shape[p]);
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Ints strides = strides_of(in[0].shape());
      Ints       steps;
      for (int64_t p : a[perm]) steps.push_back(strides[p]);
      return {read_strided(in[0], out[0], 0, steps)};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {transpose(a.ct[0], inverse(a.attrs[perm]))}; },
    .batch     = [](const BatchArgs& a) -> Tensors { return {transpose(a.in[0], prepend(0, shifted(a.attrs[perm])))}; },
    .simplify  = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (std::is_sorted(a[perm].begin(), a[perm].end())) return {in[0]};
      if (in[0].is_literal()) return {transpose(in[0], a[perm])};
      if (const auto inner = made_by(op, in[0])) {
        Ints p;
        for (int64_t i : a[perm]) p.push_back(inner->attrs[perm][i]);
        return {transpose(inner->in[0], p)};
      }
      return {};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.out[0].rank(); ++i) links.push_back(axis_link(a.attrs[perm][i], i));
      return links;
    },
    .sample =
        [](const Op&, Rng& rng) {
          return one_sample(rng, {2, 3, 4}, {{perm, {2, 0, 1}}});
        },
};

// y repeats x along the axes not in dims
constinit const Op broadcast_op = {
    .name  = "broadcast",
    .doc   = "repetition along new axes",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const Ints &d = a[dims], &s = a[shape];
      require_shape(op, s);
      require(d.size() == in[0].shape.size() && std::is_sorted(d.begin(), d.end()),
              "{}: dims {} must give one increasing axis per axis of {}.", op.name, to_string(d), to_string(in[0]));
      for (size_t i = 0; i < d.size(); ++i)
        require(d[i] >= 0 && d[i] < static_cast<int64_t>(s.size()) && s[d[i]] == in[0].shape[i] &&
                    (i == 0 || d[i] > d[i - 1]),
                "{}: axis {} of {} cannot be axis {} of {}.", op.name, i, to_string(in[0]), d[i], to_string(s));
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Ints strides = strides_of(in[0].shape());
      Ints       steps(out[0].shape.size(), 0);
      for (size_t k = 0; k < strides.size(); ++k) steps[a[dims][k]] = strides[k];
      return {read_strided(in[0], out[0], 0, steps)};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Ints repeated;
      for (int64_t i = 0; i < a.ct[0].rank(); ++i)
        if (!contains(a.attrs[dims], i)) repeated.push_back(i);
      return {sum(a.ct[0], repeated)};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      return {broadcast_axes(a.in[0], prepend(a.size, a.attrs[shape]), prepend(0, shifted(a.attrs[dims])))};
    },
    .simplify = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].shape() == a[shape]) return {in[0]};
      if (in[0].is_literal()) return {broadcast_axes(in[0], a[shape], a[dims])};
      if (const auto inner = made_by(op, in[0])) {
        Ints d;
        for (int64_t i : inner->attrs[dims]) d.push_back(a[dims][i]);
        return {broadcast_axes(inner->in[0], a[shape], d)};
      }
      return {};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.in[0].rank(); ++i) links.push_back(axis_link(i, a.attrs[dims][i]));
      return links;
    },
    .sample =
        [](const Op&, Rng& rng) {
          return one_sample(rng, {3}, {{dims, {1}}, {shape, {2, 3, 2}}});
        },
};

Tensor reshape(const Tensor& x, Shape s) {
  const auto free = std::count(s.begin(), s.end(), -1);
  require(free <= 1, ErrorKind::Shape, "reshape: shape {} leaves more than one size open; give all but one.",
          to_string(s));
  if (free == 1) {
    auto open           = std::find(s.begin(), s.end(), -1);
    *open               = 1;
    const int64_t known = size_of(s);
    require(known > 0 && x.size() % known == 0, ErrorKind::Shape, "reshape: {} cannot be divided into rows of {}.",
            to_string(x.type()), known);
    *open = x.size() / known;
  }
  if (x.is_weak()) return yielding([=](DType dtype) { return reshape(x.settled(dtype), s); });
  if (x.is_literal() && size_of(s) == x.size()) return Tensor(Type{x.dtype(), s}, x.fill());
  if (x.shape() == s) return x;
  return apply1(reshape_op, {x}, {{shape, std::move(s)}});
}

Tensor transpose(const Tensor& x, Ints p) {
  if (x.is_weak()) return yielding([=](DType dtype) { return transpose(x.settled(dtype), p); });
  for (int64_t& a : p) a = normalize_axis(a, x.rank(), "transpose");
  const Attrs attrs{{perm, std::move(p)}};
  if (x.is_literal()) return Tensor(infer(transpose_op, {x.type()}, attrs)[0], x.fill());
  return apply1(transpose_op, {x}, attrs);
}

Tensor transpose(const Tensor& x) {
  Ints p(x.shape().size());
  std::iota(p.rbegin(), p.rend(), 0);
  return transpose(x, p);
}

Tensor move_axis(const Tensor& x, int64_t from, int64_t to) {
  from = normalize_axis(from, x.rank(), "move_axis");
  to   = normalize_axis(to, x.rank(), "move_axis");
  if (from == to) return x;
  Ints p = counted(0, x.rank());
  p.erase(p.begin() + from);
  p.insert(p.begin() + to, from);
  return transpose(x, p);
}

Tensor broadcast_axes(const Tensor& x, const Shape& s, const Ints& d) {
  if (x.is_weak()) return yielding([=](DType dtype) { return broadcast_axes(x.settled(dtype), s, d); });
  if (x.is_literal()) return Tensor(Type{x.dtype(), s}, x.fill());
  return apply1(broadcast_op, {x}, {{dims, d}, {shape, s}});
}

Tensor broadcast_to(const Tensor& x, const Shape& s) {
  if (x.shape() == s) return x;
  require(broadcast_shapes(x.shape(), s, "broadcast_to") == s, ErrorKind::Shape,
          "broadcast_to: {} does not broadcast to {}.", to_string(x.type()), to_string(s));
  Shape kept;
  Ints  d;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t to = static_cast<int64_t>(s.size()) - x.rank() + i;
    if (x.shape()[i] == 1 && s[to] != 1) continue;
    kept.push_back(x.shape()[i]);
    d.push_back(to);
  }
  return broadcast_axes(reshape(x, kept), s, d);
}

Tensor expand_dims(const Tensor& x, int64_t where) {
  Shape s = x.shape();
  s.insert(s.begin() + normalize_axis(where, x.rank() + 1, "expand_dims"), 1);
  return reshape(x, s);
}

Tensor squeeze(const Tensor& x, Ints axes) {
  axes    = normalize_axes(std::move(axes), x.rank(), "squeeze");
  Shape s = x.shape();
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
    require(s[*it] == 1, ErrorKind::Shape,
            "squeeze: axis {} of {} has size {}, not 1; only axes of size 1 can be removed.", *it, to_string(x.type()),
            s[*it]);
    s.erase(s.begin() + *it);
  }
  return reshape(x, s);
}

}  // namespace braintrace
