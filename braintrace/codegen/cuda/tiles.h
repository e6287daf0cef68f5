// SPDX-License-Identifier: Apache-2.0
// The sizes that tiles.cu and persistent.cu are written for. They follow from the matrix instructions, not from a
// device.
#pragma once

#include <cstdint>

namespace braintrace::codegen {

// bt_tile: C by squares, some terms at a time.
inline constexpr int64_t tile_side = 32, tile_terms = 16;
// What a warp multiplies at a time: rows and columns of C, and terms of their sums.
inline constexpr int64_t warp_rows = 16, warp_columns = 8, warp_terms = 16;
// Sums of one result by different warps, which bt_join leaves to the reader.
inline constexpr int64_t sums_left = 4;

}  // namespace braintrace::codegen
