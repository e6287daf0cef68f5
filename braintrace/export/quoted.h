// SPDX-License-Identifier: Apache-2.0
// Names that users chose, inside C text.
#pragma once

#include <string>
#include <string_view>

namespace braintrace::exporting {

// Any bytes as a string literal, and inside a comment (where what could end it becomes '_').
std::string c_string(std::string_view text);
std::string c_comment(std::string_view text);

}  // namespace braintrace::exporting
