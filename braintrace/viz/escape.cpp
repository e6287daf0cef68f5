// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/escape.h"

#include <cstdint>

namespace braintrace {

namespace {

// Length of the UTF-8 character at the head of `s`, or 0 when there is none.
size_t character_length(std::string_view s) {
  const auto   byte   = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const size_t length = byte(0) < 0x80       ? 1
                        : byte(0) >> 5 == 6  ? 2
                        : byte(0) >> 4 == 14 ? 3
                        : byte(0) >> 3 == 30 ? 4
                                             : 0;
  if (length == 0 || length > s.size()) return 0;
  uint32_t code = length == 1 ? byte(0) : byte(0) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t least[]      = {0, 0, 0x80, 0x800, 0x10000};
  const bool         control      = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
  const bool         no_character = (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF || (code & 0xFFFE) == 0xFFFE;
  return code < least[length] || control || no_character ? 0 : length;
}

}  // namespace

std::string utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t n = character_length(text);
    out += n ? text.substr(0, n) : "\xEF\xBF\xBD";
    text.remove_prefix(n ? n : 1);
  }
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (char c : utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (char c : utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

std::string script_json(std::string_view json) {
  std::string out;
  for (char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace braintrace
