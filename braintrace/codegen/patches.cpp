// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/patches.h"

#include "braintrace/codegen/view.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/conv.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

constinit const Op patches_op = {
    .name     = "patches",
    .doc      = "what each position of a convolution reads",
    .operands = "x",
    .infer    = [](const Op&, const Types& in, const Attrs& a) -> Types {
      const size_t n = a[keys::window].size(), lead = in[0].shape.size() - n - 1;
      Type         out{in[0].dtype, Shape(in[0].shape.begin(), in[0].shape.begin() + static_cast<int64_t>(lead))};
      for (size_t i = 0; i < n; ++i)
        out.shape.push_back(
               (in[0].shape[lead + i] - (a[keys::window][i] - 1) * a[keys::rhs_dilation][i] - 1) / a[keys::stride][i] + 1);
      out.shape.insert(out.shape.end(), a[keys::window].begin(), a[keys::window].end());
      out.shape.push_back(in[0].shape.back());
      return {out};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const size_t n = a[keys::window].size(), lead = in[0].shape().size() - n - 1;
      const Ints   x = strides_of(in[0].shape());
      Ints         at(x.begin(), x.begin() + static_cast<int64_t>(lead));
      for (size_t i = 0; i < n; ++i) at.push_back(x[lead + i] * a[keys::stride][i]);
      for (size_t i = 0; i < n; ++i) at.push_back(x[lead + i] * a[keys::rhs_dilation][i]);
      at.push_back(1);
      return {read_strided(in[0], out[0], 0, at)};
    },
    .batch = [](const BatchArgs& a) -> Tensors { return {apply1(a.op, {a.in[0]}, a.attrs)}; },
};

namespace {

// Pads the spatial axes with zeros, or crops them where `lo` and `hi` are negative; they start at axis `first`.
Tensor framed(Tensor x, int64_t first, const Ints& lo, const Ints& hi) {
  Ints before(static_cast<size_t>(x.rank()), 0), after = before;
  for (size_t i = 0; i < lo.size(); ++i) {
    const auto axis = first + static_cast<int64_t>(i);
    x               = slice_axis(x, axis, std::max<int64_t>(-lo[i], 0), x.shape()[axis] + std::min<int64_t>(hi[i], 0));
    before[axis]    = std::max<int64_t>(lo[i], 0);
    after[axis]     = std::max<int64_t>(hi[i], 0);
  }
  if (all_equal(before, 0) && all_equal(after, 0)) return x;
  return pad(x, Tensor(Type{x.dtype(), {}}, 0), before, after);
}

// The parts of a convolution by role: x[a,z,X…], w[b,z,K…], y[a,b,P…] = Σ_{z,k}, in each of G groups.
struct Use {
  int64_t groups;
  Ints    stride, lo, lhs_dilation, rhs_dilation;
  Shape   from, kernel, to;
  size_t  n;  // number of spatial axes

  Use(const Type& x, const Type& w, const Type& y, const Attrs& a)
      : groups(a[keys::groups]),
        stride(a[keys::stride]),
        lo(a[keys::lo]),
        lhs_dilation(a[keys::lhs_dilation]),
        rhs_dilation(a[keys::rhs_dilation]),
        from(x.shape.begin() + 2, x.shape.end()),
        kernel(w.shape.begin() + 2, w.shape.end()),
        to(y.shape.begin() + 2, y.shape.end()),
        n(stride.size()) {}

  // In a layer, the kernel is small and has many positions. The gradient with respect to the kernel is a convolution
  // with an array as large as the layer: a sum over positions.
  bool is_sum() const { return size_of(to) < size_of(kernel); }
  // Whether any of x remains after negative padding.
  bool reads_some() const {
    const Ints after = hi();
    for (size_t i = 0; i < n; ++i)
      if (std::max<int64_t>(-lo[i], 0) >= from[i] + std::min<int64_t>(after[i], 0)) return false;
    return true;
  }
  // Padding after x that the last position needs.
  Ints hi() const {
    Ints out;
    for (size_t i = 0; i < n; ++i)
      out.push_back((to[i] - 1) * stride[i] + (kernel[i] - 1) * rhs_dilation[i] + 1 - lo[i] - from[i]);
    return out;
  }
};

// [G·a, b, S…] or [a, G·b, S…] with a leading group axis if there are several groups.
Tensor grouped(const Tensor& t, int64_t axis, int64_t G) {
  if (G == 1) return t;
  Shape s = t.shape();
  s[axis] /= G;
  s.insert(s.begin() + axis, G);
  return move_axis(reshape(t, s), axis, 0);
}

// [(G), a, P…, b], or [(G), P…, a, b] if u.is_sum(); undefined if only padding is read.
Tensor product_of(const Tensor& x, const Tensor& w, const Use& u) {
  if (!u.reads_some()) return {};
  const auto    n = static_cast<int64_t>(u.n);
  const int64_t g = u.groups > 1 ? 1 : 0, a = g, z = 1 + g;  // axes
  const Ints    groups = counted(0, g), space = counted(2 + g, n);
  // x as [(G), z, X…, a] or [(G), a, X…, z], w as [(G), z, K…, b] or [(G), K…, z, b]
  const bool   sum  = u.is_sum();
  const Tensor from = turned(grouped(x, 1, u.groups), joined(groups, {sum ? z : a}, space, Ints{sum ? a : z}));
  const Tensor to = turned(grouped(w, 0, u.groups), joined(groups, sum ? prepend(z, space) : joined(space, {z}), {a}));
  const Tensor patches =
      apply1(patches_op, {framed(from, g + 1, u.lo, u.hi())},
             {{keys::rhs_dilation, u.rhs_dilation}, {keys::stride, u.stride}, {keys::window, u.kernel}});
  const Ints taps = counted(1 + g + n, n);
  return dot_general(patches, to,
                     {sum ? prepend(g, taps) : joined(taps, {1 + g + 2 * n}), counted(g, n + 1), groups, groups});
}

// Transposed convolution: x has zeros between its elements, so q = (p + k - lo)/d must be an integer. With p = d i + r
// and t = q - i, this means k = d t + lo - r: position i reads x at i + t and computes d results, one per phase r, each
// with a subsampled kernel.
//
//   y[a, d i + r, b] = Σ_{z,t} x[a, i + t, z] w[b, z, d t + lo - r]
Tensor by_phases(const Tensor& x, const Tensor& w, Use u) {
  const Ints  d  = u.lhs_dilation;
  const Shape to = u.to;
  const auto  n  = static_cast<int64_t>(u.n);
  Ints        before, after, t_axes, r_axes;
  Shape       split = {w.shape()[0], w.shape()[1]};
  for (size_t i = 0; i < u.n; ++i) {
    const auto    down  = [](int64_t p, int64_t q) { return p >= 0 ? p / q : -((q - 1 - p) / q); };
    const int64_t first = -down(u.lo[i], d[i]), last = down(u.kernel[i] + d[i] - 2 - u.lo[i], d[i]);  // of t
    const int64_t taps  = last - first + 1,
                  start = d[i] * first + u.lo[i] - d[i] + 1;  // k at the first t and the last r
    before.push_back(-start);
    after.push_back(taps * d[i] + start - u.kernel[i]);
    t_axes.push_back(static_cast<int64_t>(split.size()));
    r_axes.push_back(static_cast<int64_t>(split.size()) + 1);
    split.insert(split.end(), {taps, d[i]});
    u.lo[i]     = -first;
    u.kernel[i] = taps;
    u.to[i]     = (to[i] + d[i] - 1) / d[i];
  }
  // w[b, z, (t, r)…] → [(r…, b), z, t…]
  const Tensor parts = flip(reshape(framed(w, 2, before, after), split), r_axes);
  const Tensor kernel =
      reshape(transpose(parts, joined(r_axes, {0, 1}, t_axes)), joined(Shape{-1, w.shape()[1]}, u.kernel));
  // [a, i…, (r…, b)] → [a, (i, r)…, b]
  const int64_t a = x.shape()[0], b = w.shape()[0];
  const Tensor  product = product_of(x, kernel, u);
  if (!product.defined()) return {};
  const Tensor apart = reshape(product, joined(prepend(a, u.to), d, {b}));
  Ints         order = {0}, limit = {a};
  Shape        whole = {a};
  for (int64_t i = 0; i < n; ++i) {
    order.insert(order.end(), {1 + i, 1 + n + i});
    whole.push_back(u.to[i] * d[i]);
    limit.push_back(to[i]);
  }
  order.push_back(1 + 2 * n);
  whole.push_back(b);
  limit.push_back(b);
  return slice(reshape(transpose(apart, order), whole), Ints(whole.size(), 0), limit);
}

}  // namespace

Tensor turned(const Tensor& t, const Ints& perm) {
  const Shape shape = gather(t.shape(), perm);
  Tensor      base  = t;
  Ints        axes  = counted(0, static_cast<int64_t>(long_axes(t.shape()).size()));  // of base, per long axis of t
  while (true) {
    if (const auto turn = made_by(transpose_op, base)) {
      const Ints here = long_axes(base.shape()), there = long_axes(turn->in[0].shape());
      for (int64_t& axis : axes) axis = static_cast<int64_t>(index_of(there, turn->attrs[keys::perm][here[axis]]));
      base = turn->in[0];
    } else if (const auto view = made_by(reshape_op, base);
               view && squeezed(view->in[0].shape()) == squeezed(base.shape())) {
      base = view->in[0];
    } else {
      break;
    }
  }
  const Ints own = long_axes(t.shape());
  Ints       order;
  for (int64_t p : perm)
    if (t.shape()[p] != 1) order.push_back(axes[index_of(own, p)]);
  base = reshape(base, squeezed(base.shape()));
  return reshape(std::is_sorted(order.begin(), order.end()) ? base : transpose(base, order), shape);
}

Tensor as_patch_product(const Tensor& x, const Tensor& w, const Attrs& conv) {
  const Type y = infer(conv_op, {x.type(), w.type()}, conv)[0];
  if ((y.dtype != DType::F32 && y.dtype != DType::F64) || y.size() == 0 || x.size() == 0 || w.size() == 0) return {};
  const Use  u(x.type(), w.type(), y, conv);
  const bool dilated = !all_equal(u.lhs_dilation, 1);
  if (dilated && (u.groups > 1 || u.is_sum() || !all_equal(u.stride, 1) || !all_equal(u.rhs_dilation, 1))) return {};
  const Tensor product = dilated ? by_phases(x, w, u) : product_of(x, w, u);
  if (!product.defined()) return {};
  // to [a, (G), b, P…]
  const auto    n = static_cast<int64_t>(u.n);
  const int64_t g = u.groups > 1 ? 1 : 0;
  const Ints    order =
      joined(Ints{u.is_sum() ? g + n : g}, counted(0, g), {g + n + 1}, Ints(counted(u.is_sum() ? g : g + 1, n)));
  return reshape(turned(product, order), y.shape);
}

}  // namespace braintrace::codegen
