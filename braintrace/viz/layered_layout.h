// SPDX-License-Identifier: Apache-2.0
// Layout of any directed acyclic graph: boxes in layers, with all edges pointing down. An edge that spans several
// layers passes between the boxes of each.
#pragma once

#include <utility>
#include <vector>

#include "braintrace/viz/band_layout.h"

namespace braintrace {

struct LayeredLayout {
  double                          width = 0, height = 0;
  std::vector<Box>                boxes;
  std::vector<std::vector<Point>> routes;  // from the bottom of the source through each layer to the top of the target
};

// Edges must run from lower to higher indices.
LayeredLayout layered_layout(const std::vector<Box>& sizes, const std::vector<std::pair<size_t, size_t>>& edges);

}  // namespace braintrace
