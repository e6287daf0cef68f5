// SPDX-License-Identifier: Apache-2.0
// The drawing shared by the SVG file and the interactive page.
#pragma once

#include <string_view>

#include "braintrace/viz/band_layout.h"

namespace braintrace {

// The <svg> element. If interactive, boxes are focusable and have names for screen readers.
std::string svg_picture(const Picture& picture, bool interactive);
// Colors for light and dark themes, and the style of boxes and arrows.
std::string_view picture_css();  // picture.css
// A path with rounded corners, and the arrow head at its end.
std::string rounded_path(const std::vector<Point>& points, double radius);
std::string arrow_head(const std::vector<Point>& points);

std::string number(double value);  // as short as possible, two decimals

}  // namespace braintrace
