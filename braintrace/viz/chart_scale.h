// SPDX-License-Identifier: Apache-2.0
// Axes of charts: mapping of values to positions, round tick values, numbers as short text.
#pragma once

#include <string>
#include <vector>

namespace braintrace {

struct Scale {
  double lo = 0, hi = 1;    // values at the ends, lo < hi
  double from = 0, to = 1;  // their positions
  bool   log = false;

  double operator()(double value) const;
};

// A scale for [lo, hi]; an empty range is widened, and a non-finite range is replaced by [0, 1].
Scale scale_for(double lo, double hi, double from, double to, bool log = false);

// About `count` round values inside the scale.
std::vector<double> ticks(const Scale& scale, int count);

std::string short_number(double value);  // 1.2k, 0.05, 3e-7

// The frame of a drawing, in its own units: the plot is inside the margins.
struct Frame {
  static constexpr double width = 480, height = 232, left = 54, right = 20, top = 10, bottom = 36;
  static constexpr double plot_width = width - left - right, plot_height = height - top - bottom;
};
// <figure>, caption and <svg> up to the drawing; figure_end closes them.
std::string figure_begin(const std::string& title, const std::string& kind, const std::string& legend = "",
                         double height = Frame::height);
// `json` is for the tooltip; empty for none.
std::string figure_end(const std::string& json, const std::string& note = "");
std::string x_axis(const Scale& x, const std::string& name, double bottom = Frame::height - Frame::bottom);
std::string label(const char* css, double x, double y, const std::string& text);

}  // namespace braintrace
