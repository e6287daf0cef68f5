// SPDX-License-Identifier: Apache-2.0
// Characters and numbers in machine-readable text. Unlike the functions of the C library, these do not depend on the
// locale (setlocale, std::locale::global).
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

namespace braintrace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char to_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// The exact value of a finite number in a form that C accepts: 0x1.8p+1.
inline std::string hex_float(double value) {
  char       text[64];
  const auto end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(text, end);
}

}  // namespace braintrace
