// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace braintrace {

// Numbers over their index, one line for each name, as an SVG file.
std::string svg_curves(const std::vector<std::pair<std::string, std::vector<double>>>& curves,
                       const std::string& x_label, const std::string& y_label);

}  // namespace braintrace
