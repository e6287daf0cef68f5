// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/fold.h"

#include "braintrace/codegen/c/context.h"

namespace braintrace::codegen {

FoldText fold_text(const Reduction& r) {
  const bool        real = is_float(r.dtype), single = r.dtype == DType::F32;
  const std::string sum(sum_type(r.dtype)), value(real ? value_type(r.dtype) : "int64_t");
  if (r.b >= 0) {
    if (!real) return {sum, "0", "$s + (int64_t)$a * (int64_t)$b", "$s + $a"};
    const std::string wide = single ? "float" : "double";
    return {wide, "0", fmt::format("bt_fma{0}(({1})$a, ({1})$b, $s)", single ? "f" : "", wide), "$s + $a"};
  }
  if (r.fold == Fold::Sum) return {sum, "0", "$s + $a", "$s + $a"};
  if (r.fold == Fold::Prod) return {sum, "1", "$s * $a", "$s * $a"};
  if (r.fold == Fold::Any) return {"int64_t", "0", "$s | $a", "$s | $a"};
  if (r.fold == Fold::All) return {"int64_t", "1", "$s & $a", "$s & $a"};
  const bool        max  = r.fold == Fold::Max;
  const std::string pick = fmt::format("@bt_{}{}($s, $a)", max ? "max" : "min",
                                       !real                   ? "_i"
                                       : r.dtype != DType::F64 ? "f"
                                                               : "");
  return {value, real ? (max ? "-INFINITY" : "INFINITY") : (max ? "INT64_MIN" : "INT64_MAX"), pick, pick};
}

}  // namespace braintrace::codegen
