// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/move.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

constexpr Key<int64_t> axis{"axis"};
constexpr Key<DType>   dtype{"dtype"};
constexpr Key<Ints>    dims{"dims"}, hi{"hi"}, interior{"interior"}, limit{"limit"}, lo{"lo"}, perm{"perm"},
    shape{"shape"}, start{"start"}, stride{"stride"};
constexpr Key<double> value{"value"};

Ints prepend(int64_t first, Ints rest) {
  rest.insert(rest.begin(), first);
  return rest;
}
Ints shifted(Ints v) {  // axes of a tensor that gained a leading one
  for (int64_t& x : v) ++x;
  return v;
}
Ints inverse(const Ints& p) {
  Ints q(p.size());
  for (size_t i = 0; i < p.size(); ++i) q[p[i]] = static_cast<int64_t>(i);
  return q;
}

// y[i] = x[source(i)], elements of any type.
template <class Source>
Array gather_elements(const Array& x, const Type& out, Source source) {
  Array        y(out);
  const size_t size = size_of(out.dtype);
  const auto*  from = static_cast<const char*>(x.raw());
  auto*        to   = static_cast<char*>(y.mutable_raw());
  for (IndexWalk i(out.shape); !i.done(); i.next())
    std::memcpy(to + i.flat() * size, from + source(i.index()) * size, size);
  return y;
}

std::vector<Sample> one_sample(Rng& rng, Shape s, Attrs attrs) {
  return {{{random_array(rng, {DType::F64, std::move(s)})}, std::move(attrs)}};
}

}  // namespace

// y[…] = value
constinit const Op full_op = {
    .name     = "full",
    .doc      = "one value everywhere",
    .operands = "",
    .infer    = [](const Op&, const Types&, const Attrs& a) -> Types {
      return {{a[dtype], a[shape]}};
    },
    .eval = [](const Op&, const Arrays&, const Attrs& a, const Types& out) -> Arrays {
      return {Tensor(out[0], a[value]).array()};
    },
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
      normalize_axis(a[axis], static_cast<int>(a[shape].size()), op.name.data());
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

// y = x with the same elements in row-major order
constinit const Op reshape_op = {
    .name  = "reshape",
    .doc   = "another shape of equal size",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require(size_of(a[shape]) == in[0].size(), "{}: {} has {} elements, shape {} has {}.", op.name, to_string(in[0]),
              in[0].size(), to_string(a[shape]), size_of(a[shape]));
      return {{in[0].dtype, a[shape]}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types&) -> Arrays {
      return {in[0].reshaped(a[shape])};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {reshape(a.ct[0], a.types[0].shape)}; },
    .batch     = [](const BatchArgs& a) -> Tensors { return {reshape(a.in[0], prepend(a.size, a.attrs[shape]))}; },
    .simplify  = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].shape() == a[shape]) return {in[0]};
      if (in[0].is_literal()) return {reshape(in[0], a[shape])};
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
      Ints all(in[0].shape.size());
      std::iota(all.begin(), all.end(), 0);
      require(sorted == all, "{}: {} is not a permutation of the {} axes of {}.", op.name, to_string(a[perm]),
              in[0].rank(), to_string(in[0]));
      Shape s;
      for (int64_t p : a[perm]) s.push_back(in[0].shape[p]);
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Ints strides = strides_of(in[0].shape());
      return {gather_elements(in[0], out[0], [&](const Ints& i) {
        int64_t at = 0;
        for (size_t k = 0; k < i.size(); ++k) at += i[k] * strides[a[perm][k]];
        return at;
      })};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors { return {transpose(a.ct[0], inverse(a.attrs[perm]))}; },
    .batch     = [](const BatchArgs& a) -> Tensors { return {transpose(a.in[0], prepend(0, shifted(a.attrs[perm])))}; },
    .simplify  = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (std::is_sorted(a[perm].begin(), a[perm].end())) return {in[0]};
      if (in[0].is_literal()) return {transpose(in[0], a[perm])};
      return {};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.out[0].rank(); ++i) {
        const int p = static_cast<int>(a.attrs[perm][i]);
        links.push_back({p, p + 1, i, i + 1});
      }
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
      return {gather_elements(in[0], out[0], [&](const Ints& i) {
        int64_t at = 0;
        for (size_t k = 0; k < strides.size(); ++k) at += i[a[dims][k]] * strides[k];
        return at;
      })};
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      Ints repeated;
      for (int64_t i = 0; i < a.ct[0].rank(); ++i)
        if (std::find(a.attrs[dims].begin(), a.attrs[dims].end(), i) == a.attrs[dims].end()) repeated.push_back(i);
      return {sum(a.ct[0], repeated)};
    },
    .batch = [](const BatchArgs& a) -> Tensors {
      return {broadcast_axes(a.in[0], prepend(a.size, a.attrs[shape]), prepend(0, shifted(a.attrs[dims])))};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      if (in[0].shape() == a[shape]) return {in[0]};
      if (in[0].is_literal()) return {broadcast_axes(in[0], a[shape], a[dims])};
      return {};
    },
    .depend = [](const DependArgs& a) -> AxisLinks {
      AxisLinks links;
      for (int i = 0; i < a.in[0].rank(); ++i) {
        const int d = static_cast<int>(a.attrs[dims][i]);
        links.push_back({i, i + 1, d, d + 1});
      }
      return links;
    },
    .sample =
        [](const Op&, Rng& rng) {
          return one_sample(rng, {3}, {{dims, {1}}, {shape, {2, 3, 2}}});
        },
};

// y = parts joined along one axis
constinit const Op concat_op = {
    .name     = "concat",
    .doc      = "tensors joined along an axis",
    .operands = "first rest...",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      const int k   = normalize_axis(a[axis], in[0].rank(), op.name.data());
      Type      out = in[0];
      out.shape[k]  = 0;
      for (const Type& t : in) {
        Type rest = t;
        require(t.rank() == out.rank(), "{}: ranks differ: {} and {}.", op.name, to_string(in[0]), to_string(t));
        rest.shape[k] = out.shape[k];
        require(rest == out, "{}: {} and {} differ outside axis {}.", op.name, to_string(in[0]), to_string(t), k);
        out.shape[k] += t.shape[k];
      }
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array         y(out[0]);
      const int64_t k     = a[axis];
      const int64_t outer = size_of(Shape(out[0].shape.begin(), out[0].shape.begin() + k));
      const int64_t row   = y.size() / std::max<int64_t>(outer, 1) * static_cast<int64_t>(size_of(out[0].dtype));
      int64_t       at    = 0;
      for (const Array& x : in) {
        const int64_t part = x.size() / std::max<int64_t>(outer, 1) * static_cast<int64_t>(size_of(out[0].dtype));
        for (int64_t i = 0; i < outer; ++i)
          std::memcpy(static_cast<char*>(y.mutable_raw()) + i * row + at, static_cast<const char*>(x.raw()) + i * part,
                      part);
        at += part;
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
        require(0 <= b && b <= e && e <= in[0].shape[i] && d > 0,
                "{}: [{}, {}) with stride {} does not fit axis {} of {}.", op.name, b, e, d, i, to_string(in[0]));
        s.push_back((e - b + d - 1) / d);
      }
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Ints strides = strides_of(in[0].shape());
      return {gather_elements(in[0], out[0], [&](const Ints& i) {
        int64_t at = 0;
        for (size_t k = 0; k < i.size(); ++k) at += (a[start][k] + i[k] * a[stride][k]) * strides[k];
        return at;
      })};
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
      return in[0].shape() == a[limit] &&
                     std::all_of(a[start].begin(), a[start].end(), [](int64_t b) { return b == 0; }) &&
                     std::all_of(a[stride].begin(), a[stride].end(), [](int64_t d) { return d == 1; })
                 ? in
                 : Tensors{};
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
      Shape s;
      for (size_t i = 0; i < n; ++i) {
        require(a[lo][i] >= 0 && a[hi][i] >= 0 && a[interior][i] >= 0,
                   "{}: padding must not be negative; use slice to remove elements.", op.name);
        s.push_back(a[lo][i] + a[hi][i] + in[0].shape[i] + std::max<int64_t>(in[0].shape[i] - 1, 0) * a[interior][i]);
      }
      return {{in[0].dtype, s}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      Array      y(out[0]);
      const auto size = size_of(out[0].dtype);
      auto*      to   = static_cast<char*>(y.mutable_raw());
      for (int64_t i = 0; i < y.size(); ++i) std::memcpy(to + i * size, in[1].raw(), size);
      const Ints strides = strides_of(out[0].shape);
      for (IndexWalk i(in[0].shape()); !i.done(); i.next()) {
        int64_t at = 0;
        for (size_t k = 0; k < strides.size(); ++k) at += (a[lo][k] + i.index()[k] * (1 + a[interior][k])) * strides[k];
        std::memcpy(to + at * size, static_cast<const char*>(in[0].raw()) + i.flat() * size, size);
      }
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
      const Tensor x = slice(a.ct[0], a.attrs[lo], last, step);
      return {a.linear[0] ? x : Tensor(), a.linear[1] ? sum(a.ct[0]) - sum(x) : Tensor()};
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

Tensor iota(Shape s, int64_t along, DType t) {
  const int64_t k = normalize_axis(along, static_cast<int>(s.size()), "iota");
  return apply1(iota_op, {}, {{axis, k}, {dtype, t}, {shape, std::move(s)}});
}

Tensor reshape(const Tensor& x, Shape s) {
  const auto free = std::count(s.begin(), s.end(), -1);
  require(free <= 1, "reshape: shape {} leaves more than one size open.", to_string(s));
  if (free == 1) {
    auto open           = std::find(s.begin(), s.end(), -1);
    *open               = 1;
    const int64_t known = size_of(s);
    require(known > 0 && x.size() % known == 0, "reshape: {} cannot be divided into rows of {}.", to_string(x.type()),
            known);
    *open = x.size() / known;
  }
  if (x.is_literal() && size_of(s) == x.size()) return Tensor(Type{x.dtype(), s}, x.fill());
  if (x.shape() == s) return x;
  return apply1(reshape_op, {x}, {{shape, std::move(s)}});
}

Tensor transpose(const Tensor& x, Ints p) {
  for (int64_t& a : p) a = normalize_axis(a, x.rank(), "transpose");
  Tensor y = apply1(transpose_op, {x}, {{perm, p}});
  return x.is_literal() ? Tensor(y.type(), x.fill()) : y;
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
  Ints p(x.shape().size());
  std::iota(p.begin(), p.end(), 0);
  p.erase(p.begin() + from);
  p.insert(p.begin() + to, from);
  return transpose(x, p);
}

Tensor broadcast_axes(const Tensor& x, const Shape& s, const Ints& d) {
  if (x.is_literal()) return Tensor(Type{x.dtype(), s}, x.fill());
  return apply1(broadcast_op, {x}, {{dims, d}, {shape, s}});
}

Tensor broadcast_to(const Tensor& x, const Shape& s) {
  if (x.shape() == s) return x;
  require(broadcast_shapes(x.shape(), s, "broadcast_to") == s, "broadcast_to: {} does not broadcast to {}.",
          to_string(x.type()), to_string(s));
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
    require(s[*it] == 1, "squeeze: axis {} of {} has size {}, not 1.", *it, to_string(x.type()), s[*it]);
    s.erase(s.begin() + *it);
  }
  return reshape(x, s);
}

Tensor concat(const Tensors& parts, int64_t along) {
  require(!parts.empty(), "concat: no tensors were given.");
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
  const Attrs attrs{{limit, std::move(e)}, {start, std::move(b)}, {stride, std::move(d)}};
  if (x.is_literal()) return Tensor(infer(slice_op, {x.type()}, attrs)[0], x.fill());
  return apply1(slice_op, {x}, attrs);
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
  const Tensor scalar = v.is_literal() ? Tensor(Type{x.dtype(), {}}, v.fill()) : v;
  return apply1(pad_op, {x, scalar}, {{hi, std::move(after)}, {interior, std::move(between)}, {lo, std::move(before)}});
}

const std::vector<const Op*>& move_ops() {
  static const std::vector<const Op*> ops = {&broadcast_op, &concat_op,  &full_op,  &iota_op,
                                             &pad_op,       &reshape_op, &slice_op, &transpose_op};
  return ops;
}

}  // namespace braintrace
