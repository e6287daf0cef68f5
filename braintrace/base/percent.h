// SPDX-License-Identifier: Apache-2.0
// A part of a whole as people read it everywhere here: 87.5%. Files for machines keep the number, 0.875.
#pragma once

#include <string>

#include <fmt/format.h>

namespace braintrace {

inline std::string percent(double part, int digits = 1) { return fmt::format("{:.{}f}%", 100 * part, digits); }

}  // namespace braintrace
