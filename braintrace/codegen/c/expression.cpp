// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/expression.h"

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/ir/op.h"
#include "braintrace/ops/math.h"

namespace braintrace::codegen {

namespace {

// Rounds a double once to type t; the result has the value type of t.
std::string rounded(DType t, const std::string& x) { return loaded(t, stored(t, x)); }

}  // namespace

std::string converted(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (to == DType::Bool) return fmt::format("((uint8_t)({} != 0))", x);
  if (is_float(to)) {
    if (is_half(to)) return rounded(to, fmt::format("(double){}", x));
    return fmt::format("(({}){})", value_type(to), x);
  }
  if (!is_float(from)) return fmt::format("(({}){})", value_type(to), x);
  return fmt::format("@bt_to_{}((double){})", name_of(to), x);
}

std::string expression(const Op& op, DType in, DType out, const std::vector<std::string>& operands) {
  if (&op == &convert_op) return converted(in, out, operands[0]);
  // select only moves values, so its operands are not widened.
  if (&op == &select_op) return filled(op.code.real, {{"a", operands[0]}, {"b", operands[1]}, {"c", operands[2]}});
  const bool               real = is_float(in), half = is_half(in);
  std::vector<std::string> x = operands;
  for (std::string& s : x)
    if (half || !real) s = fmt::format("(({}){})", half ? "double" : "int64_t", s);
  x.resize(3);
  const std::string y =
      filled(real ? op.code.real : op.code.integer, {{"a", x[0]},
                                                     {"b", x[1]},
                                                     {"c", x[2]},
                                                     {"f", in == DType::F32 ? "f" : ""},
                                                     {"t", half ? "double" : std::string(value_type(in))}});
  if (out == DType::Bool) return fmt::format("((uint8_t)({} != 0))", y);
  if (is_float(out)) return half ? rounded(out, y) : y;
  return fmt::format("(({}){})", value_type(out), y);
}

}  // namespace braintrace::codegen
