// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braintrace {

// The known name closest to `word`, if it is close enough.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& known);
// "; did you mean 'x'?" or ".", the end of a sentence about an unknown name.
std::string hint(const std::string& word, const std::vector<std::string>& known);

// The index of a name among the known names. Throws a UserError for an unknown name:
//   "{complaint} '{name}'; did you mean 'x'?\n  {list}: x, y."
size_t known_index(const std::string& name, const std::vector<std::string>& known, std::string_view complaint,
                   std::string_view list = "Known");

}  // namespace braintrace
