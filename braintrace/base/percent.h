// SPDX-License-Identifier: Apache-2.0
// A fraction as text for people: 87.5%. Machine-readable files use the number, 0.875.
#pragma once

#include <string>

#include <fmt/format.h>

namespace braintrace {

inline std::string percent(double part, int digits = 1) { return fmt::format("{:.{}f}%", 100 * part, digits); }

}  // namespace braintrace
