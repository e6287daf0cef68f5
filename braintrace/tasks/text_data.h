// SPDX-License-Identifier: Apache-2.0
// Texts that come with the library.
#pragma once

#include <string_view>

namespace braintrace::tasks {

extern const std::string_view pangrams;  // three sentences
extern const std::string_view story;     // a page of simple English

}  // namespace braintrace::tasks
