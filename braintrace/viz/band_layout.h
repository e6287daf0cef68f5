// SPDX-License-Identifier: Apache-2.0
// Layout of the boxes and arrows of a graph picture.
//
// The picture is a stack of bands: inputs, one band per hidden group in the order of data flow, outputs. Inside a band,
// columns run from left to right: weights, operations, the group. An operation has its own row with its weights, so a
// straight line from a weight to its operation, or from an operation to the groups, never crosses another box. All
// other arrows run in the channels between columns and bands, each on its own track; arrows from the same box share a
// track until they fork.
#pragma once

#include "braintrace/viz/picture.h"

namespace braintrace {

struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, w = 0, h = 0;
};

struct Layout {
  struct Band {
    std::string title;
    Box         box;
  };
  struct Fork {
    Point  at;
    size_t edge;  // one of the arrows
  };
  double                          width = 0, height = 0;
  std::vector<Band>               bands;
  std::vector<Box>                boxes;   // of each node
  std::vector<std::vector<Point>> routes;  // of each edge, from its source to its target; segments are axis parallel
  std::vector<Fork>               forks;   // where arrows of one source fork
};

Layout band_layout(const Picture& picture);

// Sizes that drawing and layout share.
namespace metrics {
inline constexpr double title_size = 13, line_size = 11, title_height = 18, line_height = 15;
inline constexpr double row_height = 20, pad_x = 12, pad_y = 9;
}  // namespace metrics

double                  text_width(std::string_view text, double size, bool mono);  // an upper bound
std::string             shortened(const std::string& text, size_t max_characters);  // with an ellipsis in the middle
inline constexpr size_t longest_title = 34;

}  // namespace braintrace
