// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/viz/chart.h"
#include "braintrace/viz/chart_scale.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

namespace {

constexpr int columns    = static_cast<int>(Frame::plot_width);
constexpr int num_colors = 8;

// The points in one pixel.
struct Column {
  double x = 0, lo = INFINITY, hi = -INFINITY, mean = 0;
  double running    = 0;  // mean over earlier values too
  int    count      = 0;  // of finite values
  bool   not_finite = false;
  bool   has_value() const { return count > 0; }
};

std::vector<Column> columns_of(const Curve& c, const Scale& x) {
  std::vector<Column> out;
  const bool          all    = c.x.size() <= static_cast<size_t>(columns);
  const double        memory = std::max(1.0, static_cast<double>(c.y.size()) / 40);
  double              mean = 0, weight = 0;
  int                 pixel = -1;
  for (size_t i = 0; i < c.x.size(); ++i) {
    const int p = static_cast<int>(x(c.x[i]));
    if (all || p != pixel) {
      out.push_back({});
      out.back().x = c.x[i];
    }
    pixel     = p;
    Column& k = out.back();
    if (!std::isfinite(c.y[i])) {
      k.not_finite = true;
      continue;
    }
    weight = std::min(weight + 1, memory);
    mean += (c.y[i] - mean) / weight;
    k.lo = std::min(k.lo, c.y[i]), k.hi = std::max(k.hi, c.y[i]);
    k.mean += (c.y[i] - k.mean) / ++k.count;
    k.running = mean;
  }
  return out;
}

// A path through the columns with a value, broken where one has none.
template <class Value>
std::string path(const std::vector<Column>& ks, const Scale& x, const Scale& y, Value value) {
  std::string d;
  bool        open = false;
  for (const Column& k : ks) {
    if (k.has_value()) d += fmt::format("{}{} {}", open ? "L" : "M", number(x(k.x)), number(y(value(k))));
    open = k.has_value();
  }
  return d;
}

// Minimum and maximum, as one area per stretch without gaps.
std::string band(const std::vector<Column>& ks, const Scale& x, const Scale& y) {
  std::string d;
  for (size_t i = 0; i < ks.size();) {
    size_t end = i;
    while (end < ks.size() && ks[end].has_value()) ++end;
    for (size_t j = i; j < end; ++j)
      d += fmt::format("{}{} {}", j == i ? "M" : "L", number(x(ks[j].x)), number(y(ks[j].hi)));
    for (size_t j = end; j-- > i;) d += fmt::format("L{} {}", number(x(ks[j].x)), number(y(ks[j].lo)));
    if (end > i) d += "Z";
    i = std::max(end, i + 1);
  }
  return d;
}

std::string draw_curve(const Curve& c, const std::vector<Column>& ks, size_t color, const Scale& x, const Scale& y) {
  std::string out    = fmt::format("<g class=\"s{}\">", color % num_colors);
  const bool  spread = std::any_of(ks.begin(), ks.end(), [](const Column& k) { return k.count > 1; });
  if (spread) out += fmt::format("<path class=\"band\" d=\"{}\"/>", band(ks, x, y));
  const auto mean = path(ks, x, y, [](const Column& k) { return k.mean; });
  if (!(spread && c.smooth))
    out += fmt::format("<path class=\"{}{}\" d=\"{}\"/>", c.smooth ? "raw" : "line", c.dashed ? " dashed" : "", mean);
  if (c.smooth)
    out += fmt::format("<path class=\"line\" d=\"{}\"/>", path(ks, x, y, [](const Column& k) { return k.running; }));
  const auto values = std::count_if(ks.begin(), ks.end(), [](const Column& k) { return k.has_value(); });
  if ((c.points && values <= 80) || values == 1)
    for (const Column& k : ks)
      if (k.has_value()) out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\"/>", number(x(k.x)), number(y(k.mean)));
  return out + "</g>\n";
}

std::string draw_not_finite(const std::vector<std::vector<Column>>& all, const Scale& x) {
  std::set<int> where;
  for (const auto& ks : all)
    for (const Column& k : ks)
      if (k.not_finite) where.insert(static_cast<int>(x(k.x)));
  std::string d;
  for (int at : where) d += fmt::format("M{} {}v7", at, number(Frame::top));
  return d.empty() ? "" : fmt::format("<path class=\"alarm\" d=\"{}\"><title>not finite</title></path>\n", d);
}

std::string legend(const std::vector<Curve>& curves) {
  if (curves.size() < 2) return "";
  std::string out = "<span class=\"legend\">";
  for (size_t i = 0; i < curves.size(); ++i)
    out += fmt::format("<span class=\"s{}{}\">{}</span>", i % num_colors, curves[i].dashed ? " dashed" : "",
                       xml_text(curves[i].name));
  return out + "</span>";
}

// Four digits are enough for a tooltip.
nlohmann::json rounded(double v) {
  if (!std::isfinite(v)) return nullptr;
  return read_json(fmt::format("{:.4g}", v), "number");
}

std::string data_of(const LineChart& chart, const std::vector<std::vector<Column>>& all, const Scale& x,
                    const Scale& y) {
  nlohmann::ordered_json curves = nlohmann::ordered_json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    nlohmann::json xs = nlohmann::json::array(), ys = xs, los = xs, his = xs;
    bool           spread = false;
    for (const Column& k : all[i]) {
      xs.push_back(k.x);
      ys.push_back(k.has_value() ? rounded(k.mean) : nullptr);
      los.push_back(k.has_value() ? rounded(k.lo) : nullptr), his.push_back(k.has_value() ? rounded(k.hi) : nullptr);
      spread = spread || k.count > 1;
    }
    nlohmann::ordered_json c = {{"name", utf8(chart.curves[i].name)}, {"x", xs}, {"y", ys}};
    if (spread) c.update({{"lo", los}, {"hi", his}});
    curves.push_back(c);
  }
  const nlohmann::ordered_json j = {{"kind", "lines"},
                                    {"plot", {x.from, x.to, y.to, y.from}},
                                    {"x_name", utf8(chart.x_name)},
                                    {"percent", chart.percent},
                                    {"x", {x.lo, x.hi}},
                                    {"y", {y.lo, y.hi}},
                                    {"log", y.log},
                                    {"curves", curves}};
  return j.dump();
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  double x_lo = INFINITY, x_hi = -INFINITY, y_lo = INFINITY, y_hi = -INFINITY;
  for (const Curve& c : chart.curves)
    for (size_t i = 0; i < c.x.size(); ++i) {
      x_lo = std::min(x_lo, c.x[i]), x_hi = std::max(x_hi, c.x[i]);
      if (std::isfinite(c.y[i])) y_lo = std::min(y_lo, c.y[i]), y_hi = std::max(y_hi, c.y[i]);
    }
  const bool log = chart.allow_log && y_lo > 0 && y_hi > 30 * y_lo && std::isfinite(y_hi);
  if (chart.y_range) std::tie(y_lo, y_hi) = *chart.y_range;
  const double bottom = Frame::height - Frame::bottom;
  const Scale  x      = scale_for(x_lo, x_hi, Frame::left, Frame::width - Frame::right);
  Scale        y      = scale_for(y_lo, y_hi, bottom, Frame::top, log);
  if (!chart.y_range && !log) {
    const double room = 0.04 * (y.hi - y.lo);
    y.lo -= y.lo >= 0 && y.lo < room ? y.lo : room, y.hi += room;
  }

  std::vector<std::vector<Column>> all;
  for (const Curve& c : chart.curves) all.push_back(columns_of(c, x));
  std::string               out     = figure_begin(chart.title, "lines", legend(chart.curves));
  const std::vector<double> labeled = y_lo == y_hi ? std::vector<double>{y_lo} : ticks(y, 4);
  for (double v : labeled) {
    out += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>", number(Frame::left), number(y(v)),
                       number(Frame::width - Frame::right));
    out += label("tick end", Frame::left - 7, y(v) + 4, chart.percent ? short_number(100 * v) + "%" : short_number(v));
  }
  const bool empty =
      std::none_of(chart.curves.begin(), chart.curves.end(), [](const Curve& c) { return !c.x.empty(); });
  if (empty)
    out += label("empty mid", Frame::width / 2, Frame::height / 2, "nothing recorded");
  else
    out += x_axis(x, chart.x_name);
  for (size_t i = 0; i < all.size(); ++i) out += draw_curve(chart.curves[i], all[i], i, x, y);
  out += draw_not_finite(all, x);
  return out + figure_end(empty ? "" : data_of(chart, all, x, y));
}

}  // namespace braintrace
