// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/tasks/task.h"

namespace braintrace::tasks {

namespace {

constexpr double  left = 52, width = 300, inputs_top = 8, inputs_height = 96, targets_top = 114;
constexpr int64_t max_columns = 120, max_rows = 48;
constexpr int     levels = 4;

// Up to two channels as curves.
std::string curves(const Array& a, int64_t T, int64_t n, double top, double height) {
  double low = 0, high = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    low  = std::min(low, at(a, i));
    high = std::max(high, at(a, i));
  }
  if (high == low) high = low + 1;
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    out += fmt::format("<polyline class=\"c{}\" points=\"", i);
    for (int64_t t = 0; t < T; ++t)
      out += fmt::format("{:.1f},{:.1f} ", left + width * (double(t) + 0.5) / double(T),
                         top + height - 2 - (height - 4) * (at(a, t * n + i) - low) / (high - low));
    out += "\"/>";
  }
  return out;
}

// Many channels as a raster: the largest magnitude of the steps and channels that share a cell, in a few levels.
std::string raster(const Array& a, int64_t T, int64_t n, double top, double height) {
  const int64_t       columns = std::min(T, max_columns), rows = std::min(n, max_rows);
  std::vector<double> cell(static_cast<size_t>(columns * rows));
  double              largest = 0;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < n; ++i) {
      double& c = cell[static_cast<size_t>((t * columns / T) * rows + i * rows / n)];
      c         = std::max(c, std::abs(at(a, t * n + i)));
      largest   = std::max(largest, c);
    }
  const double w = width / double(columns), h = height / double(rows);
  std::string  path[levels];
  for (int64_t k = 0; k < columns * rows; ++k)
    if (const double c = cell[static_cast<size_t>(k)]; c > 0)
      path[std::min(levels - 1, int(levels * c / largest))] += fmt::format(
          "M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", left + double(k / rows) * w, top + double(k % rows) * h, w, h, w);
  std::string out;
  for (int l = 0; l < levels; ++l)
    if (!path[l].empty())
      out += fmt::format("<path class=\"cell\" fill-opacity=\"{:.2f}\" d=\"{}\"/>", double(l + 1) / levels, path[l]);
  return out;
}

// Classes as boxes with their names, one for each run of scored steps with the same class.
std::string classes(const Batch& batch, const TaskFacts& facts, double top, double height) {
  std::string out;
  for (int64_t from = 0, to; from < facts.length; from = to) {
    for (to = from + 1; to < facts.length && at(batch.targets, to) == at(batch.targets, from) &&
                        at(batch.mask, to) == at(batch.mask, from);)
      ++to;
    if (at(batch.mask, from) == 0) continue;
    const auto   c    = static_cast<size_t>(at(batch.targets, from));
    const double x    = left + width * double(from) / double(facts.length);
    const double w    = width * double(to - from) / double(facts.length);
    std::string  name = facts.class_names.empty() ? fmt::format("{}", c) : facts.class_names[c];
    if (name == "<" || name == "&") name = "";
    out += fmt::format("<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", x, top, w,
                       height);
    // A name that does not fit stands before its box if nothing is asked there.
    const bool fits = w > 5.5 * double(name.size());
    if (fits || (from > 0 && at(batch.mask, from - 1) == 0))
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", fits ? x + w / 2 : x - 3,
                         top + height / 2 + 3.5, fits ? "middle" : "end", name);
  }
  return out;
}

std::string frame(double top, double height) {
  return fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", left, top, width, height);
}

}  // namespace

std::string picture(const Task& task) {
  const TaskFacts& f     = task.facts();
  const Batch      batch = task.batch(Part::Train, 0, 1);
  const int64_t    T = f.length, n = batch.inputs.size() / T;
  const bool       numbers        = f.targets == TargetKind::Values;
  const double     targets_height = numbers ? 48 : 20, bottom = targets_top + targets_height;
  const auto       panel = [&](const Array& a, int64_t channels, double top, double height) {
    return (channels <= 2 ? curves : raster)(a, T, channels, top, height);
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 360 {:.0f}\" width=\"360\"><style>text{{font:9px "
      "sans-serif;fill:#444}}.frame{{fill:none;stroke:#999;stroke-width:.5}}.cell{{fill:#1f5fa8}}.box{{fill:#f2b56b;"
      "stroke:#fff;stroke-width:.4}}.quiet{{fill:#888;fill-opacity:.15}}polyline{{fill:none;stroke-width:1.2}}.c0{{"
      "stroke:#1f5fa8}}.c1{{stroke:#c2571a}}</style><rect width=\"360\" height=\"{:.0f}\" fill=\"#fff\"/>",
      bottom + 18, bottom + 18);
  out += panel(batch.inputs, n, inputs_top, inputs_height) + frame(inputs_top, inputs_height);
  for (int64_t from = 0, to; from < T; from = to) {
    for (to = from + 1; to < T && at(batch.mask, to) == at(batch.mask, from);) ++to;
    if (at(batch.mask, from) == 0)
      out += fmt::format("<rect class=\"quiet\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                         left + width * double(from) / double(T), targets_top, width * double(to - from) / double(T),
                         targets_height);
  }
  out += numbers ? panel(batch.targets, f.outputs, targets_top, targets_height)
                 : classes(batch, f, targets_top, targets_height);
  out += frame(targets_top, targets_height);
  out += fmt::format(
      "<text x=\"46\" y=\"{}\" text-anchor=\"end\">shown</text><text x=\"46\" y=\"{}\" text-anchor=\"end\">asked</text>"
      "<text x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} steps</text></svg>\n",
      inputs_top + inputs_height / 2, targets_top + targets_height / 2 + 3, left, bottom + 12,
      n == 1 ? "1 channel" : fmt::format("{} channels", n), left + width, bottom + 12, T);
  return out;
}

}  // namespace braintrace::tasks
