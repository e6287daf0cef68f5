// SPDX-License-Identifier: Apache-2.0
// Escapes user-defined names in C text.
#pragma once

#include <string>
#include <string_view>

namespace braintrace::exporting {

// Any bytes as a string literal, and for a comment (where characters that could end it become '_').
std::string c_string(std::string_view text);
std::string c_comment(std::string_view text);

}  // namespace braintrace::exporting
