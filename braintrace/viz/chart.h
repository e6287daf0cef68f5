// SPDX-License-Identifier: Apache-2.0
// Charts for pages: each is a <figure> with a caption, an SVG drawing and, for the tooltip, its data as JSON. A page
// with charts must contain picture_css(), chart_css() and, for tooltips, chart_script().
//
// The number of points is not limited: a drawing has at most one column per pixel, which shows the minimum, the maximum
// and the mean of its points. Non-finite values are marked at the upper edge.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/base/array.h"

namespace braintrace {

struct Curve {
  std::string         name;
  std::vector<double> x, y;            // x ascends
  bool                points = false;  // marks single points, if they are few
  bool                dashed = false;
  bool                smooth = false;  // faint values with a running mean over them
};
struct LineChart {
  std::string                              title, x_name;
  std::vector<Curve>                       curves;
  std::optional<std::pair<double, double>> y_range   = {};     // default: the range of the values
  bool                                     percent   = false;  // shown as 100 y %
  bool                                     allow_log = false;  // logarithmic y if positive values span decades
};
std::string line_chart(const LineChart& chart);

// values : [columns, rows], such as [T, n]; column 0 is at the left, row 0 at the top.
struct GridChart {
  std::string title, column_name, row_name;
  Array       values;
  // Classes to mark, one row per column; empty: none.
  std::vector<int64_t> marks = {};
  // Labels instead of numbers, if there is room for all of them.
  std::vector<std::string> row_names = {};
};
std::string heat_map(const GridChart& chart);
// A tick wherever a value is not zero.
std::string spike_raster(const GridChart& chart);

// counts : [rows, columns]; shaded by the fraction of the row.
std::string confusion_matrix(const std::string& title, const Array& counts, const std::vector<std::string>& names);

std::string_view chart_css();     // chart.css
std::string_view chart_script();  // chart.js

}  // namespace braintrace
