// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/chart_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

double Scale::operator()(double value) const {
  const double part = log ? std::log(value / lo) / std::log(hi / lo) : (value - lo) / (hi - lo);
  return from + std::clamp(part, 0.0, 1.0) * (to - from);
}

Scale scale_for(double lo, double hi, double from, double to, bool log) {
  if (!std::isfinite(lo) || !std::isfinite(hi) || lo > hi) return {0, 1, from, to, false};
  if (log) return {lo / 1.15, hi * 1.15, from, to, true};
  if (hi - lo <= 1e-12 * std::max(std::abs(lo), std::abs(hi)) || hi == lo) {
    const double pad = lo == 0 ? 1 : 0.5 * std::abs(lo);
    lo -= pad, hi += pad;
  }
  return {lo, hi, from, to, false};
}

std::vector<double> ticks(const Scale& s, int count) {
  std::vector<double> out;
  if (s.log) {
    const double              decades   = std::log10(s.hi / s.lo);
    const int                 every     = std::max(1, static_cast<int>(decades / count));
    const std::vector<double> mantissas = decades < 2.5 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
    for (int e = static_cast<int>(std::floor(std::log10(s.lo))); e <= std::log10(s.hi); e += every)
      for (double m : mantissas)
        if (const double v = m * std::pow(10, e); v >= s.lo && v <= s.hi) out.push_back(v);
    return out;
  }
  const double rough = (s.hi - s.lo) / count, power = std::pow(10, std::floor(std::log10(rough)));
  double       step = 10 * power;
  for (double m : {5.0, 2.0, 1.0})
    if (m * power >= 0.999 * rough) step = m * power;
  for (double k = std::ceil(s.lo / step - 1e-9); k * step <= s.hi + 1e-9 * step && out.size() < 50; ++k)
    out.push_back(k == 0 ? 0 : k * step);
  return out;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-3)) {
    std::string  s = fmt::format("{:.3g}", value);
    const size_t e = s.find("e-0");
    return e == std::string::npos ? s : s.replace(e, 3, "e-");
  }
  for (const auto& [unit, name] : {std::pair(1e12, "T"), {1e9, "G"}, {1e6, "M"}, {1e4, "k"}})
    if (size >= unit) return fmt::format("{:.4g}{}", value / (unit == 1e4 ? 1e3 : unit), name);
  return fmt::format("{:.4g}", value);
}

std::string label(const char* css, double x, double y, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", css, number(x), number(y), xml_text(text));
}

std::string figure_begin(const std::string& title, const std::string& kind, const std::string& legend, double height) {
  return fmt::format(
      "<figure class=\"chart {0}\"><figcaption><b>{1}</b>{2}</figcaption>\n"
      "<svg viewBox=\"0 0 {3} {4}\" role=\"img\" aria-label=\"{1}\">\n",
      kind, xml_text(title), legend, number(Frame::width), number(height));
}

std::string figure_end(const std::string& json, const std::string& note) {
  std::string out = "</svg>";
  if (!note.empty()) out += fmt::format("<p class=\"note\">{}</p>", xml_text(note));
  if (!json.empty()) out += fmt::format("<script type=\"application/json\">{}</script>", script_json(json));
  return out + "</figure>\n";
}

std::string x_axis(const Scale& x, const std::string& name, double bottom) {
  std::string out;
  for (double v : ticks(x, 6)) out += label("tick mid", x(v), bottom + 15, short_number(v));
  return out + label("axis mid", (x.from + x.to) / 2, bottom + 31, name) + "\n";
}

}  // namespace braintrace
