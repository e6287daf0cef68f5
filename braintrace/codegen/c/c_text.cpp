// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/c_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/base/ascii.h"
#include "braintrace/base/error.h"

namespace braintrace::codegen {

bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

std::string_view storage_type(DType t) {
  constexpr std::string_view names[] = {"float",   "double",  "uint16_t", "uint16_t",
                                        "int32_t", "int64_t", "uint32_t", "uint8_t"};
  return names[static_cast<size_t>(t)];
}

bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }

std::string_view value_type(DType t) { return is_half(t) ? "float" : storage_type(t); }

std::string loaded(DType t, const std::string& element) {
  return is_half(t) ? fmt::format("@bt_load_{}({})", name_of(t), element) : element;
}

std::string stored(DType t, const std::string& value) {
  return is_half(t) ? fmt::format("@bt_store_{}({})", name_of(t), value) : value;
}

std::string literal(DType t, double value) {
  if (!is_float(t)) {
    if (value >= 0x1p63) return "INT64_MAX";
    if (value <= -0x1p63) return "INT64_MIN";
    return fmt::format("(({}){}LL)", storage_type(t), static_cast<int64_t>(value));
  }
  if (std::isnan(value)) return fmt::format("(({})NAN)", value_type(t));
  if (std::isinf(value)) return fmt::format("(({}){}INFINITY)", value_type(t), value < 0 ? "-" : "");
  return hex_float(value) + (t == DType::F64 ? "" : "f");
}

std::string_view word(const Words& words, std::string_view name) {
  const auto word = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == name; });
  ensure(word != words.end(), "codegen: no word for the placeholder {}", name);
  return word->second;
}

std::string filled(std::string_view text, const Words& words) {
  return filled(
      text, [&](std::string_view name) { return word(words, name); }, '$');
}

std::string filled(std::string_view text, const std::function<std::string_view(std::string_view)>& value, char mark) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != mark) {
      out += text[i++];
      continue;
    }
    size_t end = ++i;
    while (end < text.size() && is_word(text[end])) ++end;
    out += value(text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace braintrace::codegen
