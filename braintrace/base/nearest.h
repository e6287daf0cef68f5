// SPDX-License-Identifier: Apache-2.0
// What a mistyped name may have meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace braintrace {

// The known name closest to `word`, when it is close enough to be meant.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& known);
// "; did you mean 'x'?" or ".", the end of a sentence about an unknown name.
std::string hint(const std::string& word, const std::vector<std::string>& known);

}  // namespace braintrace
