// SPDX-License-Identifier: Apache-2.0
// Escapes text from a model for other languages. Names may contain anything, including bytes that are not text.
#pragma once

#include <string>
#include <string_view>

namespace braintrace {

std::string utf8(std::string_view text);         // invalid bytes and control characters become U+FFFD; \n and \t stay
std::string xml_text(std::string_view text);     // for element content and quoted attributes
std::string dot_string(std::string_view text);   // including quotes
std::string script_json(std::string_view json);  // JSON for use inside <script>

}  // namespace braintrace
