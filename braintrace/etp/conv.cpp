// SPDX-License-Identifier: Apache-2.0
// y[n,p,o] = Σ_{i,u} patch[n,p,i,u] K[u,i,o] (+ b)     patch[n,p] : what output position p reads of x
//
//   ε_K : [(N),*P,*K,S]   ∂y[p,o]/∂K[u,i,o] = patch[p,i,u]         ε_b : [(N),*y,S]   1
//
// The kernel is shared over positions while D acts per position, so its trace keeps the positions.
// Letters: N batch, C channels (of y: O), upper case = position, lower case = place in the kernel.
#include "braintrace/etp/conv.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<std::string> layout_key{"layout"};

struct Layout {
  std::string x, kernel, y, space;  // space: the spatial letters in the order of x
  std::string text() const { return x + "," + kernel + "->" + y; }
};

std::string replaced(std::string s, char from, const std::string& to) {
  const auto at = s.find(from);
  return at == std::string::npos ? s : s.replace(at, 1, to);
}
int64_t index_of(const std::string& letters, char c) { return static_cast<int64_t>(letters.find(c)); }

Layout parse_layout(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto comma = text.find(',');
  if (comma != std::string::npos && text.find("->") == std::string::npos)
    text = text.substr(0, comma + 1) + replaced(text.substr(comma + 1), ',', "->");
  const auto arrow = text.find("->");
  require(comma != std::string::npos && arrow != std::string::npos && comma < arrow,
          "conv: layout '{}' is not of the form 'NHWC,HWIO->NHWC'.", text);
  Layout l{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2), ""};
  for (char c : l.x)
    if (c != 'N' && c != 'C') l.space += c;
  auto names = [&](std::string a, std::string b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b && std::adjacent_find(a.begin(), a.end()) == a.end();
  };
  require(names(l.x, "NC" + l.space) && names(l.y, "NC" + l.space) && names(l.kernel, "IO" + l.space) &&
              std::all_of(l.space.begin(), l.space.end(), [](char c) { return 'A' <= c && c <= 'Z'; }),
          "conv: layout '{}' must name N and C in x and y, I and O in the kernel, and the same upper-case spatial "
          "letters, each once, in all three.",
          text);
  return l;
}

std::string default_layout(int kernel_rank) {
  const auto        n     = static_cast<size_t>(std::clamp(kernel_rank - 2, 0, 3));
  const std::string space = std::string("DHW").substr(3 - n);
  return "NC" + space + ",OI" + space + "->NC" + space;
}

// One use of the operation.
struct Use {
  Layout  l;
  bool    batched;
  int64_t G;
  Ints    stride, lo, hi, lhs_dilation, rhs_dilation;

  Use(const Attrs& a, const Type& x)
      : l(parse_layout(a[layout_key])),
        batched(x.rank() == static_cast<int>(l.x.size())),
        G(a[keys::groups]),
        stride(a[keys::stride]),
        lo(a[keys::lo]),
        hi(a[keys::hi]),
        lhs_dilation(a[keys::lhs_dilation]),
        rhs_dilation(a[keys::rhs_dilation]) {}

  std::string x_letters() const { return batched ? l.x : replaced(l.x, 'N', ""); }
  std::string y_letters() const { return replaced(batched ? l.y : replaced(l.y, 'N', ""), 'C', "O"); }
  std::string trace_letters() const {
    std::string t = batched ? "N" : "";
    for (char c : l.y)
      if (c != 'N' && c != 'C') t += c;
    return t + kernel_letters();
  }
  std::string kernel_letters() const {
    std::string k = l.kernel;
    for (char& c : k)
      if (c != 'I' && c != 'O') c = static_cast<char>(c - 'A' + 'a');
    return k;
  }
};

// The bias as a shape of y's rank that broadcasts to y: [O] is along the channel axis; a higher rank is aligned to the
// right, without the batch axis that an unbatched y lacks.
Shape aligned_bias(const Use& u, const Type& bias, const Shape& y) {
  const std::string letters = u.y_letters();
  Shape             b       = bias.shape;
  if (bias.rank() == 1) {
    b.assign(y.size(), 1);
    b[letters.find('O')] = bias.shape[0];
  } else if (!u.batched && b.size() == y.size() + 1 && b[u.l.y.find('N')] == 1) {
    b.erase(b.begin() + index_of(u.l.y, 'N'));
  } else if (b.size() < y.size()) {
    b.insert(b.begin(), y.size() - b.size(), 1);
  }
  bool fits = b.size() == y.size() && (bias.rank() != 1 || bias.shape[0] == y[letters.find('O')]);
  for (size_t i = 0; fits && i < y.size(); ++i) fits = b[i] == 1 || b[i] == y[i];
  require(fits,
          "conv: the bias {} does not fit the result {} laid out as {}; give [{}] (one per channel) or a shape that "
          "broadcasts to the result.",
          to_string(bias), to_string(y), letters, y[letters.find('O')]);
  return b;
}

Tensor plain_conv(const Use& u, const Tensor& x, const Tensor& kernel) {
  const Tensor y = convolve(u.batched ? x : expand_dims(x, index_of(u.l.x, 'N')), kernel,
                            {.stride       = u.stride,
                             .padding      = Padding::of(u.lo, u.hi),
                             .lhs_dilation = u.lhs_dilation,
                             .rhs_dilation = u.rhs_dilation,
                             .groups       = u.G,
                             .layout       = u.l.text()});
  return u.batched ? y : squeeze(y, {index_of(u.l.y, 'N')});
}

Types conv_infer(const Op& op, const Types& in, const Attrs& a) {
  const Type &x = in[0], &K = in[1];
  const Use   u(a, x);
  const auto  rank = static_cast<int>(u.l.x.size());
  require(rank >= 3 && K.rank() == rank && (x.rank() == rank || x.rank() == rank - 1),
          "conv: x {} and kernel {} do not fit the layout {}; give x as {} (or without N) and the kernel as {}.",
          to_string(x), to_string(K), u.l.text(), u.l.x, u.l.kernel);
  require_one_dtype(op, in, 1);
  const int64_t C = x.shape[u.x_letters().find('C')], I = K.shape[u.l.kernel.find('I')],
                O = K.shape[u.l.kernel.find('O')];
  require(u.G >= 1 && O % u.G == 0 && I * u.G == C,
          "conv: x {} has {} channels, but a kernel {} ({}) in {} group(s) reads {}; the kernel needs channels/groups "
          "inputs and a number of outputs that the groups divide.",
          to_string(x), C, to_string(K), u.l.kernel, u.G, I * u.G);
  const Types y = expand_infer(op, {x, K}, a);
  if (in.size() > 2) {
    require(in[2].dtype == x.dtype, "conv: x is {} and the bias is {}; convert one of them.", to_string(x),
            to_string(in[2]));
    aligned_bias(u, in[2], y[0].shape);
  }
  return y;
}

// Flat positions of one channel of x that output position p and kernel place k read, [P·K]; X means zero.
Tensor read_positions(const Use& u, const Shape& space, const Shape& result, const Shape& kernel) {
  const int64_t        X = size_of(space), U = size_of(kernel);
  std::vector<int64_t> read(static_cast<size_t>(size_of(result) * U));
  for (IndexWalk p(result); !p.done(); p.next())
    for (IndexWalk k(kernel); !k.done(); k.next()) {
      int64_t at = 0;
      for (size_t i = 0; i < space.size() && at < X; ++i) {
        const int64_t q      = p.index()[i] * u.stride[i] + k.index()[i] * u.rhs_dilation[i] - u.lo[i];
        const bool    inside = q >= 0 && q % u.lhs_dilation[i] == 0 && q / u.lhs_dilation[i] < space[i];
        at                   = inside ? at * space[i] + q / u.lhs_dilation[i] : X;
      }
      read[p.flat() * U + k.flat()] = at;
    }
  return from_integers({DType::I64, {static_cast<int64_t>(read.size())}}, read);
}

// What every output position reads of x, on the trace axes of the kernel (size one along O unless there are groups).
Tensor patches(const EtpCall& c, const Use& u, const Tensor& given) {
  const std::string space = u.l.space, ys = u.y_letters();
  Shape             result, kernel;
  for (char s : space) {
    result.push_back(c.y.shape[ys.find(s)]);
    kernel.push_back(c.in[1].shape[u.l.kernel.find(s)]);
  }
  const Tensor  x = laid_out(given, u.x_letters(), "NC" + space);  // [N,C,*X]
  const Shape   X(x.shape().begin() + 2, x.shape().end());
  const int64_t N = x.shape()[0], C = x.shape()[1], O = c.in[1].shape[u.l.kernel.find('O')], G = u.G;
  const Tensor  flat = reshape(x, {N, C, size_of(X)}), zero = zeros({N, C, 1}, x.dtype());
  Tensor        t = take(concat({flat, zero}, 2), read_positions(u, X, result, kernel), 2);  // [N,C,P·K]
  if (G > 1)  // every output channel reads the inputs of its group
    t = broadcast_axes(reshape(t, {N, G, C / G, -1}), {N, G, O / G, C / G, t.shape()[2]}, {0, 1, 3, 4});
  Shape shape{N, G > 1 ? O : 1, C / G};
  shape.insert(shape.end(), result.begin(), result.end());
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  std::string letters = "NOI" + space;
  for (char s : space) letters += static_cast<char>(s - 'A' + 'a');
  if (!u.batched) {
    shape.erase(shape.begin());
    letters.erase(0, 1);
  }
  return laid_out(reshape(t, shape), letters, u.trace_letters());
}

// The mapped axis becomes the batch axis, or part of it.
Tensors conv_batch(const BatchArgs& a) {
  if (std::count(a.batched.begin(), a.batched.end(), true) != 1 || !a.batched[0]) return {};
  const Tensor& x = a.in[0];
  const Use     u(a.attrs, Type{x.dtype(), Shape(x.shape().begin() + 1, x.shape().end())});
  const int64_t nx = index_of(u.l.x, 'N'), ny = index_of(u.l.y, 'N');
  Tensors       in = a.in;
  if (in.size() > 2 && in[2].rank() > 1) {  // written out, so that it fits the result with its batch axis
    Types sample    = types_of(in);
    sample[0].shape = Shape(x.shape().begin() + 1, x.shape().end());
    Shape b         = aligned_bias(u, in[2].type(), infer(a.op, sample, a.attrs)[0].shape);
    if (!u.batched) b.insert(b.begin() + ny, 1);
    if (b[ny] != 1) return {};
    in[2] = reshape(in[2], b);
  }
  in[0] = move_axis(x, 0, nx);
  if (!u.batched) return {move_axis(apply1(a.op, in, a.attrs), ny, 0)};
  Shape         merged = in[0].shape();
  const int64_t N      = merged[nx + 1];
  merged[nx] *= N;
  merged.erase(merged.begin() + nx + 1);
  in[0]              = reshape(in[0], merged);
  const Tensor y     = apply1(a.op, in, a.attrs);
  Shape        split = y.shape();
  split[ny]          = N;
  split.insert(split.begin() + ny, a.size);
  return {move_axis(reshape(y, split), ny, 0)};
}

AxisLinks conv_depend(const DependArgs& a) {
  const Use         u(a.attrs, a.in[0]);
  const std::string ys = u.y_letters(), xs = u.x_letters();
  AxisLinks         links;
  auto              link = [&](int64_t from, int64_t to) {
    links.push_back(
                     {static_cast<int>(from), static_cast<int>(from) + 1, static_cast<int>(to), static_cast<int>(to) + 1});
  };
  if (a.operand == 0) {
    if (u.batched) link(index_of(xs, 'N'), index_of(ys, 'N'));
    const int64_t C = a.in[0].shape[xs.find('C')];
    if (u.G == C && a.out[0].shape[ys.find('O')] == C) link(index_of(xs, 'C'), index_of(ys, 'O'));
  } else if (a.operand == 1) {
    link(index_of(u.l.kernel, 'O'), index_of(ys, 'O'));
  } else if (a.in[2].rank() == 1) {
    link(0, index_of(ys, 'O'));
  } else if (a.in[2].rank() == a.out[0].rank()) {
    for (int i = 0; i < a.out[0].rank(); ++i)
      if (a.in[2].shape[i] == a.out[0].shape[i]) link(i, i);
  }
  return links;
}

constexpr EtpRules conv_rules = {
    .primitive   = [](const EtpCall&) -> std::string_view { return "etp_conv"; },
    .weights     = weight_and_bias,
    .coefficient = [](const EtpCall& c, int weight, const Tensors& in) -> Tensor {
      return weight == bias_weight ? Tensor(c.y, 1) : patches(c, Use(c.attrs, c.in[0]), in[0]);
    },
    .spread = [](const EtpCall& c, int weight, const Tensor& t) -> Tensor {
      if (weight == bias_weight) return t;
      const Use u(c.attrs, c.in[0]);
      return laid_out(t, u.y_letters(), u.trace_letters());
    },
    .fold = [](const EtpCall& c, int weight, const Tensors&, const Tensor& t) -> Tensor {
      if (weight != bias_weight) return sum_to(t, c.in[1].shape);
      const Use u(c.attrs, c.in[0]);
      return reshape(sum_to(t, aligned_bias(u, c.in[2], c.y.shape)), c.in[2].shape);
    },
};

}  // namespace

constinit const Op etp_conv_op = composite({
    .name     = "etp_conv",
    .doc      = "trainable cross-correlation of x with a kernel over the spatial axes",
    .operands = "x kernel bias...",
    .function = "conv",
    .infer    = conv_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const Use    u(a, in[0].type());
      const Tensor y = plain_conv(u, in[0], in[1]);
      return {in.size() > 2 ? y + reshape(in[2], aligned_bias(u, in[2].type(), y.shape())) : y};
    },
    .batch  = conv_batch,
    .depend = conv_depend,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r   = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      auto use = [](const char* layout, Ints step, Ints lo, Ints hi, Ints ld, Ints rd, int64_t G) {
        return Attrs{{keys::groups, G},
                     {keys::hi, std::move(hi)},
                     {layout_key, std::string(layout)},
                     {keys::lhs_dilation, std::move(ld)},
                     {keys::lo, std::move(lo)},
                     {keys::rhs_dilation, std::move(rd)},
                     {keys::stride, std::move(step)}};
      };
      return {{{r({2, 5}), r({3, 2, 2}), r({3})}, use("NCW,OIW->NCW", {1}, {1}, {0}, {1}, {1}, 1)},
              {{r({2, 4, 3, 2}), r({2, 2, 2, 3}), r({1, 1, 3})},
               use("NHWC,HWIO->NHWC", {2, 1}, {1, 0}, {0, 1}, {1, 2}, {1, 2}, 1)},
              {{r({2, 4, 3}), r({4, 2, 2}), r({1, 4, 1})}, use("NCW,OIW->NCW", {1}, {0}, {1}, {1}, {1}, 2)},
              {{r({4, 3}), r({2, 1, 3}), r({1, 1, 3})}, use("NWC,WIO->NWC", {1}, {0}, {0}, {1}, {1}, 3)}};
    },
    .etp = &conv_rules,
});

Tensor conv(const Tensor& x, const Tensor& kernel, const Tensor& bias, const TrainableConvOptions& o) {
  const Layout l   = parse_layout(o.layout.empty() ? default_layout(kernel.rank()) : o.layout);
  const Tensor K   = transformed(kernel, o.kernel_fn, "conv", "kernel_fn"),
               b   = transformed(bias, o.bias_fn, "conv", "bias_fn");
  const Tensors in = operands(x, {K}, b);
  const size_t  n  = l.space.size();
  Attrs         a{{keys::groups, o.groups},
          {keys::hi, Ints(n, 0)},
          {layout_key, l.text()},
          {keys::lhs_dilation, one_each(o.lhs_dilation, n, "lhs_dilation")},
          {keys::lo, Ints(n, 0)},
          {keys::rhs_dilation, one_each(o.rhs_dilation, n, "rhs_dilation")},
          {keys::stride, one_each(o.stride, n, "stride")}};
  const Use     u(a, x.type());
  require(K.rank() == static_cast<int>(n) + 2 && (u.batched || x.rank() == static_cast<int>(n) + 1),
          "conv: x {} and kernel {} do not fit the layout {}; give x as {} (or without N) and the kernel as {}.",
          to_string(x.type()), to_string(K.type()), l.text(), l.x, l.kernel);
  Ints sizes, extents;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = x.shape()[u.x_letters().find(l.space[i])], k = K.shape()[l.kernel.find(l.space[i])];
    sizes.push_back(std::max<int64_t>((size - 1) * u.lhs_dilation[i] + 1, 0));
    extents.push_back((k - 1) * u.rhs_dilation[i] + 1);
  }
  const Padding pad = resolved(o.padding, sizes, extents, u.stride, "conv");
  return apply1(etp_conv_op, in, a.with(keys::lo, pad.lo).with(keys::hi, pad.hi));
}

}  // namespace braintrace
