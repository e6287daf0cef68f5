// SPDX-License-Identifier: Apache-2.0
// Charts on a grid: neurons over time, classes against classes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/percent.h"
#include "braintrace/viz/chart.h"
#include "braintrace/viz/chart_scale.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/png.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

namespace {

constexpr int64_t most_columns = static_cast<int64_t>(Frame::plot_width), most_rows = 96;

struct Color {
  double r, g, b;
};
Palette palette_of(const std::vector<Color>& anchors) {
  Palette out{};
  for (size_t i = 0; i < out.size(); ++i) {
    const double at   = static_cast<double>(i) / 255 * static_cast<double>(anchors.size() - 1);
    const size_t k    = std::min(static_cast<size_t>(at), anchors.size() - 2);
    const double part = at - static_cast<double>(k);
    const auto   mix  = [&](double a, double b) { return static_cast<uint8_t>(std::lround(a + part * (b - a))); };
    const Color  a = anchors[k], b = anchors[k + 1];
    out[i] = {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)};
  }
  return out;
}
// Readable in print and by color-blind people: dark to light, and blue over white to red.
const Palette& sequential() {
  static const Palette p =
      palette_of({{24, 18, 60}, {59, 60, 135}, {33, 120, 140}, {60, 178, 125}, {180, 222, 80}, {253, 240, 120}});
  return p;
}
const Palette& diverging() {
  static const Palette p = palette_of({{12, 72, 140},
                                       {60, 140, 195},
                                       {168, 206, 228},
                                       {246, 246, 246},
                                       {250, 196, 150},
                                       {226, 120, 70},
                                       {150, 25, 40}});
  return p;
}

// A grid that is small enough to draw: evenly chosen rows, means over neighboring columns.
struct Grid {
  int64_t             columns = 0, rows = 0, all_columns = 0, all_rows = 0;
  std::vector<double> values;  // [rows, columns]
  double  at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * columns + column)]; }
  int64_t row_id(int64_t row) const { return row * all_rows / rows; }
  int64_t first_column(int64_t column) const { return column * all_columns / columns; }

  std::string note(const std::string& row_name, const std::string& column_name) const {
    std::string out;
    if (rows < all_rows) out += fmt::format("{} of {} {}s, evenly chosen. ", rows, all_rows, row_name);
    if (columns < all_columns)
      out += fmt::format("Each column covers {:.3g} {}s.",
                         static_cast<double>(all_columns) / static_cast<double>(columns), column_name);
    return out;
  }
};

Grid small_grid(const Array& values, bool any_in_column) {
  ensure(values.shape().size() == 2, "grid chart: expected [columns, rows], got {}", to_string(values.type()));
  Grid g;
  g.all_columns = values.shape()[0], g.all_rows = values.shape()[1];
  g.columns = std::min(g.all_columns, most_columns), g.rows = std::min(g.all_rows, most_rows);
  g.values.resize(static_cast<size_t>(g.columns * g.rows));
  const Doubles v(values);
  for (int64_t r = 0; r < g.rows; ++r)
    for (int64_t c = 0; c < g.columns; ++c) {
      const int64_t begin = g.first_column(c), end = std::max(begin + 1, g.first_column(c + 1));
      double        sum = 0;
      for (int64_t t = begin; t < end; ++t) {
        const double x = v[t * g.all_rows + g.row_id(r)];
        sum += any_in_column ? static_cast<double>(x != 0) : x;
      }
      g.values[static_cast<size_t>(r * g.columns + c)] = sum / static_cast<double>(end - begin);
    }
  return g;
}

// The height follows the rows, within reason.
double grid_height(const Grid& g) {
  return Frame::top + std::clamp(static_cast<double>(g.rows) * 9, 60.0, 260.0) + Frame::bottom;
}

// At most eight letters.
std::string short_name(const std::string& name) {
  const std::string all = utf8(name);
  size_t            end = 0;
  for (int letters = 0; end < all.size() && letters < 8; ++letters) do
      ++end;
    while (end < all.size() && (all[end] & 0xC0) == 0x80);
  return end < all.size() ? all.substr(0, end) + "…" : all;
}

std::string row_axis(const GridChart& chart, const Grid& g, double bottom) {
  std::string  out;
  const double cell = (bottom - Frame::top) / static_cast<double>(std::max<int64_t>(g.rows, 1));
  const auto   tick = [&](int64_t row, const std::string& text) {
    out += label("tick end", Frame::left - 7, Frame::top + (static_cast<double>(row) + 0.5) * cell + 4, text);
  };
  if (std::ssize(chart.row_names) == g.rows && g.rows == g.all_rows && cell >= 9) {
    for (int64_t r = 0; r < g.rows; ++r) tick(r, short_name(chart.row_names[static_cast<size_t>(r)]));
    return out;  // names need no name
  }
  for (double v : ticks({.lo = 0, .hi = static_cast<double>(g.all_rows)}, 6))
    if (const auto id = static_cast<int64_t>(v); static_cast<double>(id) == v && id < g.all_rows)
      tick(id * g.rows / g.all_rows, fmt::format("{}", id));
  return out + fmt::format("<text class=\"axis mid\" transform=\"translate(14 {}) rotate(-90)\">{}</text>",
                           number((Frame::top + bottom) / 2), xml_text(chart.row_name));
}

nlohmann::ordered_json grid_data(const GridChart& chart, const Grid& g, double bottom) {
  nlohmann::json rows = nlohmann::json::array();
  for (int64_t r = 0; r < g.rows; ++r) rows.push_back(g.row_id(r));
  return {{"kind", "grid"},
          {"column_name", utf8(chart.column_name)},
          {"row_name", utf8(chart.row_name)},
          {"columns", g.columns},
          {"all_columns", g.all_columns},
          {"rows", rows},
          {"plot", {Frame::left, Frame::width - Frame::right, Frame::top, bottom}}};
}

std::string nothing(const std::string& title, const char* kind) {
  return figure_begin(title, kind, "", 80) + label("empty mid", Frame::width / 2, 44, "nothing recorded") +
         figure_end("");
}

Scale column_scale(const Grid& g) {
  return {0, static_cast<double>(g.all_columns), Frame::left, Frame::width - Frame::right, false};
}

}  // namespace

std::string heat_map(const GridChart& chart) {
  if (chart.values.size() == 0 || chart.values.shape().size() != 2) return nothing(chart.title, "heat");
  const Grid g  = small_grid(chart.values, false);
  double     lo = INFINITY, hi = -INFINITY;
  for (double v : g.values)
    if (std::isfinite(v)) lo = std::min(lo, v), hi = std::max(hi, v);
  if (lo > hi) lo = hi = 0;
  const bool two_sided = lo < 0 && hi > 0;
  if (two_sided) lo = -std::max(-lo, hi), hi = -lo;
  std::vector<uint8_t> pixels;
  for (double v : g.values)
    pixels.push_back(hi > lo && std::isfinite(v) ? static_cast<uint8_t>(std::lround(255 * (v - lo) / (hi - lo))) : 0);
  const Palette&    palette = two_sided ? diverging() : sequential();
  const double      height = grid_height(g), bottom = height - Frame::bottom;
  const std::string picture = base64(png(static_cast<int>(g.columns), static_cast<int>(g.rows), pixels, palette));
  std::string       stops;
  for (int i = 0; i <= 8; ++i) {
    const auto& c = palette[static_cast<size_t>(std::min(255, 32 * i))];
    stops += fmt::format(",rgb({} {} {})", c[0], c[1], c[2]);
  }
  std::string out =
      figure_begin(chart.title, two_sided ? "heat two-sided" : "heat",
                   fmt::format("<span class=\"ramp\">{}<i style=\"background:linear-gradient(90deg{})\"></i>{}</span>",
                               xml_text(short_number(lo)), stops, xml_text(short_number(hi))),
                   height);
  out += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "href=\"data:image/png;base64,{}\"/>\n",
      number(Frame::left), number(Frame::top), number(Frame::plot_width), number(bottom - Frame::top), picture);
  const Scale x = column_scale(g);
  if (!chart.marks.empty() && g.rows == g.all_rows) {
    const double cell  = (bottom - Frame::top) / static_cast<double>(g.rows),
                 width = Frame::plot_width / static_cast<double>(g.all_columns);
    std::string d;
    for (size_t t = 0; t < chart.marks.size(); ++t)
      if (chart.marks[t] >= 0 && chart.marks[t] < g.rows)
        d += fmt::format("M{} {}h{}", number(x(static_cast<double>(t))),
                         number(Frame::top + (static_cast<double>(chart.marks[t]) + 0.5) * cell), number(width));
    out += fmt::format("<path class=\"mark-under\" d=\"{0}\"/><path class=\"mark\" d=\"{0}\"/>\n", d);
  }
  out += row_axis(chart, g, bottom) + x_axis(x, chart.column_name, bottom);
  nlohmann::ordered_json data = grid_data(chart, g, bottom);
  data.update(
      {{"lo", lo}, {"hi", hi}, {"values", base64({reinterpret_cast<const char*>(pixels.data()), pixels.size()})}});
  return out + figure_end(data.dump(), g.note(chart.row_name, chart.column_name));
}

std::string spike_raster(const GridChart& chart) {
  if (chart.values.size() == 0 || chart.values.shape().size() != 2) return nothing(chart.title, "raster");
  const Grid   g      = small_grid(chart.values, true);
  const double height = grid_height(g), bottom = height - Frame::bottom;
  const double cell  = (bottom - Frame::top) / static_cast<double>(g.rows),
               width = Frame::plot_width / static_cast<double>(g.columns);
  std::string d;
  for (int64_t r = 0; r < g.rows; ++r)
    for (int64_t c = 0; c < g.columns; ++c)
      if (g.at(r, c) > 0)
        d += fmt::format("M{} {}v{}", number(Frame::left + (static_cast<double>(c) + 0.5) * width),
                         number(Frame::top + (static_cast<double>(r) + 0.1) * cell), number(0.8 * cell));
  std::string out = figure_begin(chart.title, "raster", "", height);
  out +=
      fmt::format("<path class=\"grid\" d=\"M{0} {1}H{2}\"/><path class=\"spikes\" stroke-width=\"{3}\" d=\"{4}\"/>\n",
                  number(Frame::left), number(bottom), number(Frame::width - Frame::right),
                  number(std::clamp(0.6 * width, 0.8, 2.2)), d);
  out += row_axis(chart, g, bottom) + x_axis(column_scale(g), chart.column_name, bottom);
  std::string note = g.note(chart.row_name, chart.column_name);
  if (d.empty()) note += " Nothing fired.";
  return out + figure_end(grid_data(chart, g, bottom).dump(), note);
}

std::string confusion_matrix(const std::string& title, const Array& counts, const std::vector<std::string>& names) {
  if (counts.size() == 0 || counts.shape().size() != 2) return nothing(title, "matrix");
  const int64_t  C = counts.shape()[0];
  const Integers n(counts);
  const auto     name = [&](int64_t c) {
    return c < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(c)] : fmt::format("{}", c);
  };
  constexpr double left = 78, top = 40, side = 300;
  const double     cell  = side / static_cast<double>(C);
  const int64_t    every = std::max<int64_t>(1, C / 24);
  std::string      out   = figure_begin(title, "matrix", "", top + side + 14);
  out += label("axis mid", left + side / 2, 12, "prediction");
  out += fmt::format("<text class=\"axis mid\" transform=\"translate(14 {}) rotate(-90)\">target</text>\n",
                     number(top + side / 2));
  for (int64_t r = 0; r < C; ++r) {
    int64_t total = 0;
    for (int64_t c = 0; c < C; ++c) total += n[r * C + c];
    const double y = top + static_cast<double>(r) * cell;
    if (r % every == 0) {
      if (total)
        out += label("tick", left + side + 8, y + cell / 2 + 4,
                     percent(static_cast<double>(n[r * C + r]) / static_cast<double>(total)));
      out += label("tick end", left - 7, y + cell / 2 + 4, short_name(name(r)));
      if (C <= 12 || C / every <= 12)
        out += label("tick mid", left + (static_cast<double>(r) + 0.5) * cell, top - 5, short_name(name(r)));
    }
    for (int64_t c = 0; c < C; ++c) {
      const int64_t k     = n[r * C + c];
      const double  share = total ? static_cast<double>(k) / static_cast<double>(total) : 0;
      if (k == 0 && C > 30 && r != c) continue;
      const double x = left + static_cast<double>(c) * cell, gap = C <= 30 ? 1 : 0;
      out += fmt::format("<g><title>{} classified as {}: {} of {} ({})</title>", xml_text(name(r)), xml_text(name(c)),
                         k, total, percent(share));
      out += fmt::format(
          "<rect class=\"cell{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill-opacity=\"{:.3f}\"/>",
          r == c ? " hit" : "", number(x), number(y), number(cell - gap), number(cell - gap), C <= 12 ? 4 : 0,
          k ? 0.12 + 0.88 * share : 0.05);
      if (C <= 12 && k)
        out += label(share > 0.55 ? "count on mid" : "count mid", x + (cell - gap) / 2, y + (cell - gap) / 2 + 4.5,
                     short_number(static_cast<double>(k)));
      out += "</g>";
    }
    out += "\n";
  }
  return out + figure_end("");
}

}  // namespace braintrace
