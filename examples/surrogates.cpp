// SPDX-License-Identifier: Apache-2.0
// Draws the slope s(x) of every surrogate gradient, as one SVG picture on standard output (docs/img/surrogates.svg).
#include <algorithm>

#include "braintrace/braintrace.h"

namespace {

constexpr int    columns = 4, width = 230, height = 150, margin = 16;
constexpr double reach  = 2;  // x from -reach to reach
constexpr int    points = 201;

std::vector<double> doubles(const bt::Tensor& t) {
  const bt::Array     a = t.array();
  std::vector<double> out;
  for (int64_t i = 0; i < a.size(); ++i) out.push_back(bt::at(a, i));
  return out;
}

// One panel: the curve between its smallest value (zero at most) and its largest, which is written next to the axis.
std::string panel(const bt::SurrogateKind& kind, int left, int top) {
  std::vector<double> x;
  for (int i = 0; i < points; ++i) x.push_back(reach * (2.0 * i / (points - 1) - 1));
  const std::vector<double> s      = doubles(bt::Surrogate(kind.name).slope(bt::Array::of<double>(x, {points})));
  const double              high   = *std::max_element(s.begin(), s.end());
  const double              low    = std::min(0.0, *std::min_element(s.begin(), s.end()));
  const double              bottom = top + height - margin, tall = height - 4 * margin, wide = width - 2 * margin;
  auto                      at_x = [&](double v) { return left + margin + wide * (v + reach) / (2 * reach); };
  auto                      at_y = [&](double v) { return bottom - tall * (v - low) / (high - low); };

  std::string curve, numbers;
  for (int i = 0; i < points; ++i) curve += fmt::format("{:.1f},{:.1f} ", at_x(x[i]), at_y(s[i]));
  for (const auto& p : kind.params)
    numbers += fmt::format("{}{} = {:.3g}", numbers.empty() ? "" : ", ", p.name, p.value);
  return fmt::format(
      "<g><text class='name' x='{0}' y='{1}'>{2}</text><text class='small' x='{0}' y='{3}'>{4}</text>"
      "<path class='axis' d='M{0} {5:.1f}H{6}M{7:.1f} {8}V{9:.1f}'/><text class='small' x='{10:.1f}' "
      "y='{13}'>{11:.3g}</text>"
      "<polyline class='curve' points='{12}'/></g>\n",
      left + margin, top + margin, kind.name, top + 2 * margin, numbers, at_y(0), left + width - margin, at_x(0),
      top + 3 * margin, bottom, at_x(0) + 4, high, curve, top + 3 * margin - 3);
}

}  // namespace

int main() {
  const std::vector<bt::SurrogateKind> kinds = bt::surrogates();
  const int                            rows  = (static_cast<int>(kinds.size()) + columns - 1) / columns;
  fmt::print(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}'>\n"
      "<title>Surrogate gradients: s(x) for x from -{2} to {2}</title>\n"
      "<style>svg{{background:#fcfdfb;font-family:sans-serif}} .name{{font-size:13px;font-weight:600;fill:#1a1f2b}}"
      " .small{{font-size:10px;fill:#5a6478}} .axis{{stroke:#b9c0cc;fill:none}}"
      " .curve{{stroke:#0067a5;stroke-width:2;fill:none}}"
      " @media(prefers-color-scheme:dark){{svg{{background:#14171d}} .name{{fill:#e8ebf2}} .small{{fill:#9aa4b8}}"
      " .axis{{stroke:#4a5262}} .curve{{stroke:#5db4f0}}}}</style>\n",
      columns * width, rows * height, reach);
  for (size_t i = 0; i < kinds.size(); ++i)
    fmt::print("{}", panel(kinds[i], static_cast<int>(i) % columns * width, static_cast<int>(i) / columns * height));
  fmt::print("</svg>\n");
}
