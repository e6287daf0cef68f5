// SPDX-License-Identifier: Apache-2.0
#include "braintrace/export/quoted.h"

#include <fmt/format.h>

namespace braintrace::exporting {

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

}  // namespace braintrace::exporting
