// SPDX-License-Identifier: Apache-2.0
// Tile sizes of tiles.cu and persistent.cu. They follow from the matrix instructions, not from a particular device.
#pragma once

#include <cstdint>

namespace braintrace::codegen {

// bt_tile: square tiles of C, and terms per iteration.
inline constexpr int64_t tile_side = 32, tile_terms = 16;
// What one warp multiplies at a time: rows and columns of C, and terms of their sums.
inline constexpr int64_t warp_rows = 16, warp_columns = 8, warp_terms = 16;
// Partial sums per result that bt_join leaves to its reader.
inline constexpr int64_t sums_left = 4;

}  // namespace braintrace::codegen
