// SPDX-License-Identifier: Apache-2.0
// Blocks copied from one array into another: concat, pad, roll, and blocks at positions found at run time.
#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"
#include "braintrace/ops/axes.h"

namespace braintrace::codegen {

namespace {

constexpr Key<int64_t> axis_key{"axis"}, batch_key{"batch"};
constexpr Key<Ints>    axes_key{"axes"}, interior_key{"interior"}, lo_key{"lo"}, shift_key{"shift"}, sizes_key{"sizes"};

std::string place(const std::string& base, const Ints& strides) {
  std::string out = base;
  for (size_t i = 0; i < strides.size(); ++i)
    if (strides[i]) out += fmt::format(" + i{} * {}", i, strides[i]);
  return out;
}

// to[to_base + Σ i_k to_strides_k] = from[from_base + Σ i_k from_strides_k] for all i in shape
std::string copied(const Shape& shape, const std::string& to, const std::string& to_base, const Ints& to_strides,
                   const std::string& from, const std::string& from_base, const Ints& from_strides) {
  std::string text =
      fmt::format("{}[{}] = {}[{}];\n", to, place(to_base, to_strides), from, place(from_base, from_strides));
  for (size_t i = shape.size(); i-- > 0;)
    text = fmt::format("{3}for (int64_t i{0} = 0; i{0} < {1}; ++i{0}) {{\n{2}}}\n", i, shape[i], text,
                       i + 1 == shape.size() ? "BT_INDEPENDENT\n" : "");
  return "{\n" + text + "}\n";
}

Kernel concat_rule(Site& s) {
  const int64_t axis    = s.e.attrs[axis_key];
  const Ints    strides = strides_of(s.out_type(0).shape);
  Kernel        k;
  int64_t       at = 0;
  for (size_t i = 0; i < s.e.in.size(); ++i) {
    const Shape& shape = s.in_type(i).shape;
    k.body += copied(shape, s.out(0), str(at * strides[axis]), strides, s.in(i), "0", strides_of(shape));
    at += shape[axis];
  }
  return k;
}

Kernel pad_rule(Site& s) {
  const Shape &from = s.in_type(0).shape, &to = s.out_type(0).shape;
  Ints         steps = strides_of(to);
  int64_t      base  = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    base += s.e.attrs[lo_key][i] * steps[i];
    steps[i] *= 1 + s.e.attrs[interior_key][i];
  }
  Kernel k;
  k.body = fmt::format("for (int64_t i = 0; i < {}; ++i) {}[i] = {}[0];\n", size_of(to), s.out(0), s.in(1)) +
           copied(from, s.out(0), str(base), steps, s.in(0), "0", strides_of(from));
  return k;
}

// Cut at the shift of every axis into blocks that move as a whole.
Kernel roll_rule(Site& s) {
  const Shape& shape   = s.out_type(0).shape;
  const Ints   strides = strides_of(shape);
  Ints         by(shape.size(), 0);
  for (size_t k = 0; k < s.e.attrs[axes_key].size(); ++k) {
    const int64_t i = s.e.attrs[axes_key][k], n = shape[i];
    by[i] = n ? ((s.e.attrs[shift_key][k] % n) + n) % n : 0;
  }
  Kernel k;
  for (size_t corner = 0; corner < size_t{1} << shape.size(); ++corner) {
    Shape   part = shape;
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      const bool wraps = corner >> i & 1;
      part[i]          = wraps ? by[i] : shape[i] - by[i];
      (wraps ? from : to) += (wraps ? shape[i] - by[i] : by[i]) * strides[i];
    }
    if (size_of(part)) k.body += copied(part, s.out(0), str(to), strides, s.in(0), str(from), strides);
  }
  if (k.body.empty()) k.body = ";\n";
  return k;
}

// The offset `at` of a block inside entry b, moved to where it fits.
std::string block_start(const std::string& start, const Shape& inner, const Shape& block) {
  const Ints  strides = strides_of(inner);
  std::string text    = "int64_t at = 0;\n";
  for (size_t i = 0; i < inner.size(); ++i)
    text += fmt::format("at += bt_clamp_i((int64_t){}[b * {} + {}], 0, {}) * {};\n", start, inner.size(), i,
                        inner[i] - block[i], strides[i]);
  return text;
}

Kernel dynamic_slice_rule(Site& s) {
  const int64_t nb = s.e.attrs[batch_key];
  const Shape&  x  = s.in_type(0).shape;
  const Shape   inner(x.begin() + nb, x.end()), block = s.e.attrs[sizes_key];
  Kernel        k;
  k.body = fmt::format("for (int64_t b = 0; b < {}; ++b) {{\n{}{}}}\n", size_of(Shape(x.begin(), x.begin() + nb)),
                       block_start(s.in(1), inner, block),
                       copied(block, s.out(0), fmt::format("b * {}", size_of(block)), strides_of(block), s.in(0),
                              fmt::format("b * {} + at", size_of(inner)), strides_of(inner)));
  return k;
}

Kernel dynamic_update_slice_rule(Site& s) {
  const int64_t nb = s.e.attrs[batch_key];
  const Shape & x = s.in_type(0).shape, &u = s.in_type(1).shape;
  const Shape   inner(x.begin() + nb, x.end()), block(u.begin() + nb, u.end());
  Kernel        k;
  k.body = fmt::format("memcpy({}, {}, {});\n", s.out(0), s.in(0),
                       s.out_type(0).size() * static_cast<int64_t>(size_of(s.out_type(0).dtype))) +
           fmt::format("for (int64_t b = 0; b < {}; ++b) {{\n{}{}}}\n", size_of(Shape(x.begin(), x.begin() + nb)),
                       block_start(s.in(2), inner, block),
                       copied(block, s.out(0), fmt::format("b * {} + at", size_of(inner)), strides_of(inner), s.in(1),
                              fmt::format("b * {}", size_of(block)), strides_of(block)));
  return k;
}

}  // namespace

const Rules& movement_rules() {
  static const Rules rules = {{"concat", concat_rule},
                              {"dynamic_slice", dynamic_slice_rule},
                              {"dynamic_update_slice", dynamic_update_slice_rule},
                              {"pad", pad_rule},
                              {"roll", roll_rule}};
  return rules;
}

}  // namespace braintrace::codegen
