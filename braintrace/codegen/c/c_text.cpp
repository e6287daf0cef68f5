// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/c/c_text.h"

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

std::string_view value_type(DType t) { return t == DType::F16 || t == DType::BF16 ? "float" : storage_type(t); }

std::string loaded(DType t, const std::string& element) {
  if (t == DType::F16) return "bt_load_f16(" + element + ")";
  if (t == DType::BF16) return "bt_load_bf16(" + element + ")";
  return element;
}

std::string stored(DType t, const std::string& value) {
  if (t == DType::F16) return "bt_store_f16(" + value + ")";
  if (t == DType::BF16) return "bt_store_bf16(" + value + ")";
  return value;
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

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '?')  // two question marks can begin a trigraph
      out += {'\\', c};
    else if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return out + '"';
}

std::string c_comment(std::string_view text) {
  std::string out;
  for (char c : text) out += c >= ' ' && c <= '~' && c != '*' && c != '/' && c != '\\' && c != '?' ? c : '_';
  return out;
}

std::string filled(std::string_view text, const Words& words) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    size_t end = ++i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view name  = text.substr(i, end - i);
    bool                   found = false;
    for (const auto& [key, value] : words)
      if (key == name) {
        out += value;
        found = true;
        break;
      }
    ensure(found, "codegen: no word for ${} in '{}'", name, text);
    i = end;
  }
  return out;
}

}  // namespace braintrace::codegen
