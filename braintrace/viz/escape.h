// SPDX-License-Identifier: Apache-2.0
// Text from a model inside other languages. Names may hold anything, also bytes that are not text.
#pragma once

#include <string>
#include <string_view>

namespace braintrace {

std::string utf8(std::string_view text);         // invalid bytes and control characters become U+FFFD; \n and \t stay
std::string xml_text(std::string_view text);     // for element content and quoted attributes
std::string dot_string(std::string_view text);   // with its quotes
std::string script_json(std::string_view json);  // JSON that may stand inside <script>

}  // namespace braintrace
