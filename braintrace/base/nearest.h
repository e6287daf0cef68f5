// SPDX-License-Identifier: Apache-2.0
// What a mistyped name may have meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braintrace {

// The known name closest to `word`, when it is close enough to be meant.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& known);
// "; did you mean 'x'?" or ".", the end of a sentence about an unknown name.
std::string hint(const std::string& word, const std::vector<std::string>& known);

// The place of a name among those that are known. A UserError for any other:
//   "{complaint} '{name}'; did you mean 'x'?\n  {list}: x, y."
size_t known_index(const std::string& name, const std::vector<std::string>& known, std::string_view complaint,
                   std::string_view list = "Known");

}  // namespace braintrace
