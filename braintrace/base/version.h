// SPDX-License-Identifier: Apache-2.0
// The version of this library; the build reads it from here.
#pragma once

#include <string_view>

namespace braintrace {

inline constexpr std::string_view version = "0.2.0";

}  // namespace braintrace
