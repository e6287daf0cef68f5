// SPDX-License-Identifier: Apache-2.0
// Sliding windows: y[p] = ⊕_k x[p·stride + k].
#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"

namespace braintrace::codegen {

namespace {

constexpr Key<Ints> stride_key{"stride"}, window_key{"window"};

std::string loops(const std::string& name, const Shape& shape, std::string body) {
  for (size_t i = shape.size(); i-- > 0;)
    body = fmt::format("for (int64_t {0}{1} = 0; {0}{1} < {2}; ++{0}{1}) {{\n{3}}}\n", name, i, shape[i], body);
  return body;
}
std::string dot(const std::string& name, const Ints& strides) {
  std::string out = "0";
  for (size_t i = 0; i < strides.size(); ++i) out += fmt::format(" + {}{} * {}", name, i, strides[i]);
  return out;
}

// `each` handles the element at offset `at`; `finish` stores at y[p].
Kernel windows(Site& s, const std::string& start, const std::string& each, const std::string& finish) {
  const Ints strides = strides_of(s.in_type(0).shape);
  Ints       steps   = strides;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] *= s.e.attrs[stride_key][i];
  Kernel k;
  k.body =
      "int64_t p = 0;\n" + loops("p", s.out_type(0).shape,
                                 fmt::format("const int64_t base = {};\n{}", dot("p", steps), start) +
                                     loops("k", s.e.attrs[window_key],
                                           fmt::format("const int64_t at = base + {};\n{}", dot("k", strides), each)) +
                                     finish + "++p;\n");
  return k;
}

Kernel sum_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  return windows(s, fmt::format("{} sum = 0;\n", sum_type(t)), fmt::format("sum += {}[at];\n", s.in(0)),
                 fmt::format("{}[p] = ({})sum;\n", s.out(0), storage_type(t)));
}

// Keeps the offset of the first largest element; NaN counts as largest.
Kernel largest(Site& s, const std::string& finish) {
  if (!is_plain(s.in_type(0).dtype)) return {};
  return windows(
      s, "int64_t best = base;\n",
      fmt::format("if ({0}[at] > {0}[best] || ({0}[at] != {0}[at] && {0}[best] == {0}[best])) best = at;\n", s.in(0)),
      finish);
}
Kernel max_rule(Site& s) { return largest(s, fmt::format("{}[p] = {}[best];\n", s.out(0), s.in(0))); }
Kernel argmax_rule(Site& s) {
  const Shape& shape = s.in_type(0).shape;
  std::string  text  = "int64_t flat = 0, scale = 1;\n";
  for (size_t i = shape.size(); i-- > 0;) {
    if (s.e.attrs[window_key][i] != 1 || s.e.attrs[stride_key][i] != 1)
      text += fmt::format("flat += best % {0} * scale;\nscale *= {0};\n", shape[i]);
    text += fmt::format("best /= {};\n", shape[i]);
  }
  return largest(s, text + fmt::format("{}[p] = flat;\n", s.out(0)));
}

}  // namespace

const Rules& window_rules() {
  static const Rules rules = {{"window_argmax", argmax_rule}, {"window_max", max_rule}, {"window_sum", sum_rule}};
  return rules;
}

}  // namespace braintrace::codegen
