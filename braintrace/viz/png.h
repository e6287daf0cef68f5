// SPDX-License-Identifier: Apache-2.0
// Small pictures inside a page.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace braintrace {

using Palette = std::array<std::array<uint8_t, 3>, 256>;

// One byte per pixel, an entry of the palette; row by row from the top.
std::string png(int width, int height, const std::vector<uint8_t>& pixels, const Palette& palette);

std::string base64(std::string_view bytes);

}  // namespace braintrace
