// SPDX-License-Identifier: Apache-2.0
// The op has a single layout; other layouts are transposes around it.
//   x : [N, G·C, X…]   w : [G·O, C, K…]   y : [N, G·O, Y…]
//   y[n, gO+o, p] = Σ_{c,k} x̃[n, gC+c, p·stride + k·rhs_dilation - lo] w[gO+o, c, k]
// x̃ is x with lhs_dilation-1 zeros between neighbors and zeros outside. Negative padding crops.
#include "braintrace/ops/conv.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::groups;
using keys::hi;
using keys::lhs_dilation;
using keys::lo;
using keys::rhs_dilation;
using keys::stride;

int64_t dilated(int64_t n, int64_t d) { return n == 0 ? 0 : (n - 1) * d + 1; }

struct Conv {
  Ints    stride, lo, hi, lhs_dilation, rhs_dilation;
  int64_t groups;

  explicit Conv(const Attrs& a)
      : stride(a[braintrace::stride]),
        lo(a[braintrace::lo]),
        hi(a[braintrace::hi]),
        lhs_dilation(a[braintrace::lhs_dilation]),
        rhs_dilation(a[braintrace::rhs_dilation]),
        groups(a[braintrace::groups]) {}
  Attrs attrs() const {
    return {{braintrace::groups, groups},
            {braintrace::hi, hi},
            {braintrace::lhs_dilation, lhs_dilation},
            {braintrace::lo, lo},
            {braintrace::rhs_dilation, rhs_dilation},
            {braintrace::stride, stride}};
  }
  Tensor apply(const Tensor& x, const Tensor& w) const { return apply1(conv_op, {x, w}, attrs()); }
};

Types conv_infer(const Op& op, const Types& in, const Attrs& a) {
  const Type &x = in[0], &w = in[1];
  const Conv  c(a);
  const auto  n = static_cast<size_t>(std::max(x.rank() - 2, 0));
  require(x.dtype == w.dtype, ErrorKind::DType, "{}: element types differ: x {} and kernel {}; convert one of them.",
          op.name, to_string(x), to_string(w));
  require(x.rank() >= 3 && w.rank() == x.rank(), ErrorKind::Shape,
          "{}: expected x and kernel of equal rank, at least 3 (batch, channels, space), got {} and {}.", op.name,
          to_string(x), to_string(w));
  for (const Ints* list : {&c.stride, &c.lo, &c.hi, &c.lhs_dilation, &c.rhs_dilation})
    require(list->size() == n, "{}: stride, padding and dilations need {} entries, one per spatial axis of {}.",
            op.name, n, to_string(x));
  require(
      c.groups >= 1 && w.shape[0] % c.groups == 0 && w.shape[1] * c.groups == x.shape[1],
      "{}: x {} has {} channels, but {} group(s) of kernels {} read {}; the kernel needs channels/groups inputs and "
      "a number of outputs that the groups divide.",
      op.name, to_string(x), x.shape[1], c.groups, to_string(w), w.shape[1] * c.groups);
  Type out{x.dtype, {x.shape[0], w.shape[0]}};
  for (size_t i = 0; i < n; ++i) {
    constexpr int64_t largest = int64_t{1} << 30;
    require(c.stride[i] >= 1 && c.lhs_dilation[i] >= 1 && c.rhs_dilation[i] >= 1 && w.shape[i + 2] >= 1,
            "{}: stride, dilations and kernel sizes must be at least 1 (spatial axis {} of kernel {}).", op.name, i,
            to_string(w));
    require(std::max({c.stride[i], c.lhs_dilation[i], c.rhs_dilation[i], c.lo[i], c.hi[i]}) <= largest &&
                std::min(c.lo[i], c.hi[i]) >= -largest,
            "{}: stride, padding or dilation of spatial axis {} is too large.", op.name, i);
    const int64_t size   = dilated(x.shape[i + 2], c.lhs_dilation[i]) + c.lo[i] + c.hi[i];
    const int64_t extent = dilated(w.shape[i + 2], c.rhs_dilation[i]);
    out.shape.push_back(size < extent ? 0 : (size - extent) / c.stride[i] + 1);
  }
  require_shape(op, out.shape);
  return {out};
}

// Offset inside one channel of x that output position p and kernel position k read, or -1 for a zero.
int64_t read_position(const Conv& c, const Shape& space, const Ints& p, const Ints& k) {
  int64_t at = 0;
  for (size_t i = 0; i < space.size(); ++i) {
    const int64_t q = p[i] * c.stride[i] + k[i] * c.rhs_dilation[i] - c.lo[i];
    if (q < 0 || q % c.lhs_dilation[i] != 0 || q / c.lhs_dilation[i] >= space[i]) return -1;
    at = at * space[i] + q / c.lhs_dilation[i];
  }
  return at;
}

// For each sample and group: the patches of x as columns [C·K, P], then kernel [O, C·K] · columns.
template <class Value, class View>
std::vector<Value> convolve(const Array& x, const Array& w, const Type& out, const Conv& c) {
  const Shape   space = part(x.shape(), 2, x.type().rank()), kernel = part(w.shape(), 2, w.type().rank());
  const Shape   result = part(out.shape, 2, out.rank());
  const int64_t N = x.shape()[0], C = w.shape()[1], O = w.shape()[0] / c.groups, G = c.groups;
  const int64_t X = size_of(space), K = size_of(kernel), P = size_of(result);
  Ints          read(static_cast<size_t>(K * P));
  for (IndexWalk k(kernel); !k.done(); k.next())
    for (IndexWalk p(result); !p.done(); p.next())
      read[k.flat() * P + p.flat()] = read_position(c, space, p.index(), k.index());

  const View         from(x), weight(w);
  std::vector<Value> y(static_cast<size_t>(out.size()), Value{}), columns(static_cast<size_t>(C * K * P));
  for (int64_t n = 0; n < N; ++n)
    for (int64_t g = 0; g < G; ++g) {
      for (int64_t channel = 0; channel < C; ++channel)
        for (int64_t i = 0; i < K * P; ++i)
          columns[channel * K * P + i] =
              read[i] < 0 ? Value{} : static_cast<Value>(from[((n * G + g) * C + channel) * X + read[i]]);
      for (int64_t o = 0; o < O; ++o) {
        Value* row = y.data() + ((n * G + g) * O + o) * P;
        for (int64_t i = 0; i < C * K; ++i) {
          const auto f = static_cast<Value>(weight[(g * O + o) * C * K + i]);
          for (int64_t p = 0; p < P; ++p) row[p] += f * columns[i * P + p];
        }
      }
    }
  return y;
}

// [a, G·b, …] → [a, G, b, …]: axis `axis` is split into groups.
Tensor grouped(const Tensor& t, int64_t axis, int64_t G) {
  Shape s = t.shape();
  s[axis] /= G;
  s.insert(s.begin() + axis, G);
  return reshape(t, s);
}
Tensor merged(const Tensor& t, int64_t axis) {  // axes axis and axis+1 as one
  Shape s = t.shape();
  s[axis] *= s[axis + 1];
  s.erase(s.begin() + axis + 1);
  return reshape(t, s);
}

// dx = ct, dilated by the stride, correlated with the flipped kernel, inputs and outputs swapped inside each group.
Tensor x_cotangent(const Conv& c, const Tensor& ct, const Tensor& w, const Type& x) {
  const Tensor swapped = merged(move_axis(grouped(w, 0, c.groups), 2, 1), 0);
  Conv         back    = c;
  back.stride          = c.lhs_dilation;
  back.lhs_dilation    = c.stride;
  for (size_t i = 0; i < c.stride.size(); ++i) {
    const int64_t extent = dilated(w.shape()[i + 2], c.rhs_dilation[i]);
    back.lo[i]           = extent - 1 - c.lo[i];
    back.hi[i] = dilated(x.shape[i + 2], c.lhs_dilation[i]) + c.lo[i] - dilated(ct.shape()[i + 2], c.stride[i]);
  }
  return back.apply(ct, flip(swapped, counted(2, w.rank() - 2)));
}

// dw = x correlated with ct as the kernel: channels act as batch, samples as channels.
Tensor w_cotangent(const Conv& c, const Tensor& ct, const Tensor& x, const Type& w) {
  if (ct.size() == 0) return Tensor(w, 0);
  const Tensor lhs  = merged(transpose(grouped(x, 1, c.groups), joined(Ints{2, 1, 0}, counted(3, x.rank() - 2))), 1);
  Conv         back = c;  // lhs : [C, G·N, X…]
  back.stride       = c.rhs_dilation;
  back.rhs_dilation = c.stride;
  for (size_t i = 0; i < c.stride.size(); ++i)
    back.hi[i] = dilated(ct.shape()[i + 2], c.stride[i]) + dilated(w.shape[i + 2], c.rhs_dilation[i]) - 1 -
                 dilated(x.shape()[i + 2], c.lhs_dilation[i]) - c.lo[i];
  return move_axis(back.apply(lhs, move_axis(ct, 1, 0)), 1, 0);
}

Tensors conv_batch(const BatchArgs& a) {
  Conv          c(a.attrs);
  const int64_t B = a.size, G = c.groups;
  const Tensor &x = a.in[0], &w = a.in[1];
  if (!a.batched[1]) {  // samples of samples
    const Tensor y = c.apply(merged(x, 0), w);
    return {grouped(y, 0, B)};
  }
  if (!a.batched[0]) {  // more output channels in each group: kernel [B, G·O, …] → [G, B, O, …]
    const Tensor wide = merged(merged(move_axis(grouped(w, 1, G), 0, 1), 0), 0);
    const Tensor y    = grouped(grouped(c.apply(x, wide), 1, G), 2, B);  // [N, G, B, O, Y…]
    return {merged(move_axis(y, 2, 0), 2)};
  }
  c.groups       = B * G;  // more groups
  const Tensor y = c.apply(merged(move_axis(x, 0, 1), 1), merged(w, 0));
  return {move_axis(grouped(y, 1, B), 1, 0)};
}

}  // namespace

constinit const Op conv_op = {
    .name     = "conv",
    .doc      = "cross-correlation of x with a kernel over the spatial axes",
    .operands = "x kernel",
    .function = "convolve",
    .infer    = conv_infer,
    .eval     = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      const Conv c(a);
      if (is_float(out[0].dtype)) return {from_doubles(out[0], convolve<double, Doubles>(in[0], in[1], out[0], c))};
      const auto y = convolve<uint64_t, Integers>(in[0], in[1], out[0], c);  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity = Linearity::Each,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      const Conv c(a.attrs);
      if (a.linear[0]) return {x_cotangent(c, a.ct[0], a.in[1], a.types[0]), Tensor()};
      return {Tensor(), w_cotangent(c, a.ct[0], a.in[0], a.types[1])};
    },
    .batch = conv_batch,
    // Samples are independent, as are output channels with respect to the kernel, and channels of a depthwise
    // convolution.
    .depend = [](const DependArgs& a) -> AxisLinks {
      if (a.operand == 1) return {axis_link(0, 1)};
      const int64_t channels = a.in[0].shape[1];
      if (a.attrs[groups] == channels && a.out[0].shape[1] == channels) return {axis_link(0, 0), axis_link(1, 1)};
      return {axis_link(0, 0)};
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto x   = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      auto use = [](Ints step, Ints before, Ints after, Ints ld, Ints rd, int64_t G) {
        return Attrs{{groups, G},
                     {hi, std::move(after)},
                     {lhs_dilation, std::move(ld)},
                     {lo, std::move(before)},
                     {rhs_dilation, std::move(rd)},
                     {stride, std::move(step)}};
      };
      return {
          {{x({2, 2, 5}), x({3, 2, 2})}, use({1}, {0}, {0}, {1}, {1}, 1)},
          {{x({2, 4, 5, 4}), x({6, 2, 3, 2})}, use({2, 1}, {1, 0}, {2, 1}, {1, 2}, {1, 2}, 2)},
          {{x({1, 3, 6}), x({3, 1, 2})}, use({3}, {-1}, {1}, {2}, {3}, 3)},
          {{x({1, 1, 3, 2, 3}), x({2, 1, 2, 2, 1})}, use({1, 2, 2}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}, {2, 1, 1}, 1)}};
    },
};

const std::vector<const Op*>& conv_ops() {
  static const std::vector<const Op*> ops = {&conv_op};
  return ops;
}

}  // namespace braintrace
