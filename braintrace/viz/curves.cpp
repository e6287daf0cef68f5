// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/curves.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

namespace {

constexpr double width = 640, height = 360, left = 64, right = 16, top = 16, bottom = 48;
constexpr int    ticks = 4;

const char* const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

// The lowest and highest finite value and the length of the longest curve.
struct Extent {
  double lo = INFINITY, hi = -INFINITY;
  size_t length = 2;

  explicit Extent(const std::vector<std::pair<std::string, std::vector<double>>>& curves) {
    for (const auto& [name, values] : curves) {
      length = std::max(length, values.size());
      for (double v : values)
        if (std::isfinite(v)) {
          lo = std::min(lo, v);
          hi = std::max(hi, v);
        }
    }
    if (lo > hi) lo = hi = 0;
    if (lo == hi) hi = lo + 1;
  }
  double x(size_t i) const {
    return left + (width - left - right) * static_cast<double>(i) / static_cast<double>(length - 1);
  }
  double y(double v) const { return top + (height - top - bottom) * (hi - v) / (hi - lo); }
};

std::string text(double x, double y, const char* anchor, const std::string& s) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", number(x), number(y), anchor,
                     xml_text(s));
}

}  // namespace

std::string svg_curves(const std::vector<std::pair<std::string, std::vector<double>>>& curves,
                       const std::string& x_label, const std::string& y_label) {
  const Extent e(curves);
  std::string  out = fmt::format(
       "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
       width, height);
  for (int i = 0; i <= ticks; ++i) {
    const double v = e.lo + (e.hi - e.lo) * i / ticks, y = e.y(v);
    out += fmt::format("<path d=\"M{} {}H{}\" stroke=\"#dddddd\"/>\n", left, number(y), width - right);
    out += text(left - 6, y + 4, "end", fmt::format("{:.3g}", v));
  }
  out += text(left, height - bottom + 18, "middle", "1") +
         text(width - right, height - bottom + 18, "end", std::to_string(e.length)) +
         text((left + width - right) / 2, height - 10, "middle", x_label) + text(6, top + 10, "start", y_label);
  for (size_t c = 0; c < curves.size(); ++c) {
    const char* colour = colours[c % std::size(colours)];
    std::string path;
    for (size_t i = 0; i < curves[c].second.size(); ++i) {
      const double v = curves[c].second[i];
      if (std::isfinite(v)) path += fmt::format("{}{} {}", path.empty() ? "M" : "L", number(e.x(i)), number(e.y(v)));
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
    out += fmt::format("<g fill=\"{}\">{}</g>\n", colour,
                       text(width - right - 8, top + 18 + 16 * static_cast<double>(c), "end", curves[c].first));
  }
  return out + "</svg>\n";
}

}  // namespace braintrace
