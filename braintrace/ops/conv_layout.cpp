// SPDX-License-Identifier: Apache-2.0
// The user-facing convolution: padding by name and any layout, converted to the layout of the op.
#include "braintrace/ops/axes.h"
#include "braintrace/ops/conv.h"
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

std::string channels_last(int spatial) {
  const std::string space = spatial <= 3 ? std::string("DHW").substr(3 - static_cast<size_t>(spatial)) : "";
  return "N" + space + "C," + space + "IO->N" + space + "C";
}

struct Layout {
  std::string x, kernel, y, space;  // space: the spatial letters in the order of x
};

bool same_letters(std::string a, std::string b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b && std::adjacent_find(a.begin(), a.end()) == a.end();
}

Layout parse_layout(const std::string& text) {
  const auto comma = text.find(','), arrow = text.find("->");
  require(comma != std::string::npos && arrow != std::string::npos && comma < arrow,
          "conv: layout '{}' is not of the form 'NHWC,HWIO->NHWC'.", text);
  Layout l{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2), ""};
  for (char c : l.x)
    if (c != 'N' && c != 'C') l.space += c;
  require(
      same_letters(l.x, "NC" + l.space) && same_letters(l.y, "NC" + l.space) && same_letters(l.kernel, "IO" + l.space),
      "conv: layout '{}' must name N and C in x and y, I and O in the kernel, and the same spatial letters, each "
      "once, in all three.",
      text);
  return l;
}

// Axis i of the result is the axis of `from` with the letter order[i].
Ints letters_to(const std::string& from, const std::string& order) {
  Ints perm;
  for (char c : order) perm.push_back(static_cast<int64_t>(from.find(c)));
  return perm;
}
Tensor permuted(const Tensor& t, const Ints& perm) {
  return std::is_sorted(perm.begin(), perm.end()) ? t : transpose(t, perm);
}

}  // namespace

Ints one_each(const Ints& list, size_t n, const char* what) {
  if (list.empty()) return Ints(n, 1);
  require(list.size() == n, "conv: {} has {} entries, expected {}, one per spatial axis.", what, list.size(), n);
  for (int64_t v : list) require(v >= 1, "conv: {} is {}; every entry must be at least 1.", what, to_string(list));
  return list;
}

Padding resolved(const Padding& p, const Ints& sizes, const Ints& extents, const Ints& steps, const char* where) {
  const size_t n = sizes.size();
  if (p.kind == Padding::Kind::Explicit) {
    require(p.lo.size() == n && p.hi.size() == n, "{}: explicit padding has {} and {} entries, expected {} each.",
            where, p.lo.size(), p.hi.size(), n);
    return p;
  }
  Padding out{Padding::Kind::Explicit, Ints(n, 0), Ints(n, 0)};
  if (p.kind == Padding::Kind::Valid) return out;
  for (size_t i = 0; i < n; ++i) {
    const int64_t results = (sizes[i] + steps[i] - 1) / steps[i];
    const int64_t missing = std::max<int64_t>((results - 1) * steps[i] + extents[i] - sizes[i], 0);
    out.lo[i]             = missing / 2;
    out.hi[i]             = missing - missing / 2;
  }
  return out;
}

Tensor convolve(const Tensor& x, const Tensor& kernel, const ConvOptions& o) {
  const Layout l = parse_layout(o.layout.empty() ? channels_last(std::clamp(x.rank() - 2, 0, 3)) : o.layout);
  require(x.rank() == static_cast<int>(l.x.size()) && kernel.rank() == x.rank() && x.rank() >= 3,
          "conv: x {} and kernel {} do not fit the layout {},{}->{}; give x as {} and the kernel as {}.",
          to_string(x.type()), to_string(kernel.type()), l.x, l.kernel, l.y, l.x, l.kernel);
  const size_t  n  = l.space.size();
  const Tensors in = promote_together(
      {permuted(x, letters_to(l.x, "NC" + l.space)), permuted(kernel, letters_to(l.kernel, "OI" + l.space))});
  const Ints steps = one_each(o.stride, n, "stride"), ld = one_each(o.lhs_dilation, n, "lhs_dilation"),
             rd = one_each(o.rhs_dilation, n, "rhs_dilation");
  Ints sizes, extents;
  for (size_t i = 0; i < n; ++i) {
    sizes.push_back(std::max<int64_t>((in[0].shape()[i + 2] - 1) * ld[i] + 1, 0));
    extents.push_back((in[1].shape()[i + 2] - 1) * rd[i] + 1);
  }
  const Padding pad = resolved(o.padding, sizes, extents, steps, "conv");
  const Tensor  y =
      apply1(conv_op, in,
             {{groups, o.groups}, {hi, pad.hi}, {lhs_dilation, ld}, {lo, pad.lo}, {rhs_dilation, rd}, {stride, steps}});
  return permuted(y, letters_to("NC" + l.space, l.y));
}

}  // namespace braintrace
