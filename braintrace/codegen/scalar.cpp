// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/scalar.h"

#include <unordered_map>

#include <fmt/format.h>

#include "braintrace/codegen/c_text.h"
#include "braintrace/ir/op.h"

namespace braintrace::codegen {

namespace {

// $a $b $c are the operands, $f is the suffix of the function for the type: nothing for double, f for float.
// Floats of 16 bits are computed in double. Integers are computed as int64_t, which wraps.
struct Rule {
  std::string_view real, integer;
};

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"abs", {"fabs$f($a)", "($a < 0 ? -$a : $a)"}},
      {"acos", {"bt_acos$f($a)", ""}},
      {"acosh", {"bt_acosh$f($a)", ""}},
      {"add", {"($a + $b)", "($a + $b)"}},
      {"and", {"", "($a & $b)"}},
      {"asin", {"bt_asin$f($a)", ""}},
      {"asinh", {"bt_asinh$f($a)", ""}},
      {"atan", {"bt_atan$f($a)", ""}},
      {"atan2", {"bt_atan2$f($a, $b)", ""}},
      {"atanh", {"bt_atanh$f($a)", ""}},
      {"cbrt", {"bt_cbrt$f($a)", ""}},
      {"ceil", {"ceil$f($a)", ""}},
      {"clamp", {"bt_min$f(bt_max$f($a, $b), $c)", "bt_min_i(bt_max_i($a, $b), $c)"}},
      {"copy", {"$a", "$a"}},
      {"cos", {"bt_cos$f($a)", ""}},
      {"cosh", {"bt_cosh$f($a)", ""}},
      {"div", {"($a / $b)", "bt_div_i($a, $b)"}},
      {"equal", {"($a == $b)", "($a == $b)"}},
      {"erf", {"bt_erf$f($a)", ""}},
      {"erfc", {"bt_erfc$f($a)", ""}},
      {"exp", {"bt_exp$f($a)", ""}},
      {"exp2", {"bt_exp2$f($a)", ""}},
      {"expm1", {"bt_expm1$f($a)", ""}},
      {"floor", {"floor$f($a)", ""}},
      {"greater", {"($a > $b)", "($a > $b)"}},
      {"greater_equal", {"($a >= $b)", "($a >= $b)"}},
      {"is_finite", {"(fabs$f($a) < INFINITY)", "1"}},
      {"is_inf", {"(fabs$f($a) == INFINITY)", "0"}},
      {"is_nan", {"($a != $a)", "0"}},
      {"less", {"($a < $b)", "($a < $b)"}},
      {"less_equal", {"($a <= $b)", "($a <= $b)"}},
      {"lgamma", {"bt_lgamma$f($a)", ""}},
      {"log", {"bt_log$f($a)", ""}},
      {"log1p", {"bt_log1p$f($a)", ""}},
      {"log2", {"bt_log2$f($a)", ""}},
      {"max", {"bt_max$f($a, $b)", "bt_max_i($a, $b)"}},
      {"min", {"bt_min$f($a, $b)", "bt_min_i($a, $b)"}},
      {"mod", {"bt_mod$f($a, $b)", "bt_mod_i($a, $b)"}},
      {"mul", {"($a * $b)", "($a * $b)"}},
      {"neg", {"(-$a)", "(-$a)"}},
      {"not_equal", {"($a != $b)", "($a != $b)"}},
      {"or", {"", "($a | $b)"}},
      {"pow", {"bt_pow$f($a, $b)", "bt_pow_i($a, $b)"}},
      {"reciprocal", {"(1 / $a)", ""}},
      {"relu", {"($a < 0 ? 0 : $a)", "($a < 0 ? 0 : $a)"}},
      {"rem", {"bt_fmod$f($a, $b)", "bt_rem_i($a, $b)"}},
      {"round", {"rint$f($a)", ""}},
      {"rsqrt", {"bt_rsqrt$f($a)", ""}},
      {"select", {"($a ? $b : $c)", "($a ? $b : $c)"}},
      {"sigmoid", {"bt_sigmoid$f($a)", ""}},
      {"sign", {"bt_sign$f($a)", "(($a > 0) - ($a < 0))"}},
      {"sin", {"bt_sin$f($a)", ""}},
      {"sinh", {"bt_sinh$f($a)", ""}},
      {"softplus", {"bt_softplus$f($a)", ""}},
      {"spike", {"($a >= 0 ? ($t)1 : ($t)0)", "($a >= 0)"}},
      {"sqrt", {"sqrt$f($a)", ""}},
      {"square", {"($a * $a)", "($a * $a)"}},
      {"stop_gradient", {"$a", "$a"}},
      {"sub", {"($a - $b)", "($a - $b)"}},
      {"tan", {"bt_tan$f($a)", ""}},
      {"tanh", {"bt_tanh$f($a)", ""}},
      {"xor", {"", "($a ^ $b)"}},
  };
  return table;
}

constexpr Key<DType> dtype_key{"dtype"};

bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }

// A double rounded once to the type, held as its value type.
std::string rounded(DType t, const std::string& x) {
  if (t == DType::F16) return "bt_load_f16(bt_store_f16(" + x + "))";
  if (t == DType::BF16) return "bt_load_bf16(bt_store_bf16(" + x + "))";
  return x;
}

}  // namespace

bool has_expression(const Op& op) { return op.name == "convert" || rules().contains(op.name); }

bool is_cheap(const Op& op) {
  const auto rule = rules().find(op.name);
  return op.name == "convert" || op.name == "max" || op.name == "min" ||
         (rule != rules().end() && !rule->second.real.starts_with("bt_"));
}

std::string converted(DType from, DType to, const std::string& x) {
  if (from == to) return x;
  if (to == DType::Bool) return fmt::format("((uint8_t)({} != 0))", x);
  if (is_float(to)) {
    if (is_half(to)) return rounded(to, fmt::format("(double){}", x));
    return fmt::format("(({}){})", value_type(to), x);
  }
  if (!is_float(from)) return fmt::format("(({}){})", value_type(to), x);
  return fmt::format("bt_to_{}((double){})", name_of(to), x);
}

std::string expression(const Eqn& e, const Program& p, const std::vector<std::string>& operands) {
  const DType out = p.type(e.out[0]).dtype;
  if (e.op->name == "convert") return converted(p.type(e.in[0]).dtype, e.attrs[dtype_key], operands[0]);
  const Rule& rule = rules().at(e.op->name);
  // select moves values: nothing is computed, so nothing is widened.
  if (e.op->name == "select") return filled(rule.real, {{"a", operands[0]}, {"b", operands[1]}, {"c", operands[2]}});
  const DType              in   = p.type(e.in[0]).dtype;
  const bool               real = is_float(in), half = is_half(in);
  std::vector<std::string> x = operands;
  for (std::string& s : x)
    if (half || !real) s = fmt::format("(({}){})", half ? "double" : "int64_t", s);
  x.resize(3);
  const std::string y = filled(real ? rule.real : rule.integer, {{"a", x[0]},
                                                                 {"b", x[1]},
                                                                 {"c", x[2]},
                                                                 {"f", in == DType::F32 ? "f" : ""},
                                                                 {"t", half ? "double" : std::string(value_type(in))}});
  if (out == DType::Bool) return fmt::format("((uint8_t)({} != 0))", y);
  if (is_float(out)) return half ? rounded(out, y) : y;
  return fmt::format("(({}){})", value_type(out), y);
}

}  // namespace braintrace::codegen
