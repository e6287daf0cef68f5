// SPDX-License-Identifier: Apache-2.0
// A sample in the style of reports: inputs over time, and below them, on the same axis, targets. Inputs are curves,
// channels in rows, or frames; an image that is read row by row is upright, with time running down.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "braintrace/tasks/task.h"
#include "braintrace/viz/chart_scale.h"
#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

std::string_view task_picture_css();  // task_picture.css

namespace tasks {

namespace {

constexpr double  left = 58, width = 402, inputs_top = 74, inputs_height = 112, gap = 30, bottom_margin = 40;
constexpr int64_t max_columns = 120, max_rows = 48, max_frames = 6, max_cells = 32;
constexpr int     levels = 4;

struct Area {
  double x = 0, y = 0, w = 0, h = 0;
};

std::string rect(const char* css, const Area& a) {
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", css, a.x, a.y,
                     a.w, a.h);
}

// Up to two channels as curves, with the values they take.
std::string curves(const Array& a, int64_t T, int64_t n, const Area& area) {
  double low = 0, high = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    low  = std::min(low, at(a, i));
    high = std::max(high, at(a, i));
  }
  const Scale y = scale_for(low, high == low ? low + 1 : high, area.y + area.h - 3, area.y + 3);
  std::string out;
  for (double v : ticks(y, 3)) out += label("tick end", area.x - 8, y(v) + 4, short_number(v));
  for (int64_t i = 0; i < n; ++i) {
    out += fmt::format("<polyline class=\"curve c{}\" points=\"", i);
    for (int64_t t = 0; t < T; ++t)
      out += fmt::format("{:.1f},{:.1f} ", area.x + area.w * (double(t) + 0.5) / double(T), y(at(a, t * n + i)));
    out += "\"/>";
  }
  return out;
}

// Cells [columns, rows], shaded by magnitude in a few levels.
std::string shades(const std::vector<double>& cell, int64_t columns, int64_t rows, double largest, const Area& area) {
  const double w = area.w / double(columns), h = area.h / double(rows);
  std::string  path[levels];
  for (int64_t k = 0; k < columns * rows; ++k)
    if (const double c = cell[static_cast<size_t>(k)]; c > 0)
      path[std::min(levels - 1, int(levels * c / largest))] +=
          fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", area.x + double(k / rows) * w,
                      area.y + double(k % rows) * h, w, h, w);
  std::string out;
  for (int l = 0; l < levels; ++l)
    if (!path[l].empty())
      out += fmt::format("<path class=\"cell\" fill-opacity=\"{:.2f}\" d=\"{}\"/>", double(l + 1) / levels, path[l]);
  return out;
}

// Many channels, one row each: the largest magnitude of the steps and channels that share a cell.
std::string channels(const Array& a, int64_t T, int64_t n, const Area& area) {
  const int64_t       columns = std::min(T, max_columns), rows = std::min(n, max_rows);
  std::vector<double> cell(static_cast<size_t>(columns * rows));
  double              largest = 0;
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < n; ++i) {
      double& c = cell[static_cast<size_t>((t * columns / T) * rows + i * rows / n)];
      c         = std::max(c, std::abs(at(a, t * n + i)));
      largest   = std::max(largest, c);
    }
  return label("tick end", area.x - 8, area.y + 10, "0") +
         label("tick end", area.x - 8, area.y + area.h - 1, fmt::format("{}", n - 1)) +
         shades(cell, columns, rows, largest, area);
}

// Frames side by side, each the summed magnitude over its part of the time and over the pixels that share a cell.
std::string frames(const Array& a, int64_t T, const ImageLayout& image, const Area& area) {
  const int64_t tiles = std::min(T, max_frames), pixels = image.height * image.width, n = image.channels * pixels;
  const int64_t columns = std::min(image.width, max_cells), rows = std::min(image.height, max_cells);
  std::vector<std::vector<double>> shown(static_cast<size_t>(tiles));  // [columns, rows] each
  double                           largest = 0;
  for (int64_t k = 0; k < tiles; ++k) {
    std::vector<double>& cell = shown[static_cast<size_t>(k)];
    cell.resize(static_cast<size_t>(columns * rows));
    for (int64_t t = k * T / tiles; t < (k + 1) * T / tiles; ++t)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t pixel = image.channels_last ? i / image.channels : i % pixels;
        const int64_t x = pixel % image.width * columns / image.width, y = pixel / image.width * rows / image.height;
        cell[static_cast<size_t>(x * rows + y)] += std::abs(at(a, t * n + i));
      }
    largest = std::max(largest, *std::max_element(cell.begin(), cell.end()));
  }
  const double slot = area.w / double(tiles), side = std::min(slot - 6, area.h);
  std::string  out;
  for (int64_t k = 0; k < tiles; ++k) {
    const Area tile{area.x + (double(k) + 0.5) * slot - side / 2, area.y, side, side};
    out += shades(shown[static_cast<size_t>(k)], columns, rows, largest, tile) + rect("frame", tile);
  }
  return out;
}

// Calls f(from, to) for each longest run of steps with one value.
void for_runs(int64_t T, const std::function<bool(int64_t, int64_t)>& same,
              const std::function<void(int64_t, int64_t)>& f) {
  for (int64_t from = 0, to; from < T; from = to) {
    for (to = from + 1; to < T && same(from, to);) ++to;
    f(from, to);
  }
}

// Steps without loss, and classes as boxes with their names, along x or, upright, along y.
std::string scored(const Batch& batch, const TaskFacts& facts, const Area& area, bool upright) {
  const int64_t T    = facts.length;
  const auto    part = [&](int64_t from, int64_t to) {
    const double begin = double(from) / double(T), extent = double(to - from) / double(T);
    return upright ? Area{area.x, area.y + area.h * begin, area.w, area.h * extent}
                      : Area{area.x + area.w * begin, area.y, area.w * extent, area.h};
  };
  const auto  same_loss = [&](int64_t s, int64_t t) { return (at(batch.mask, s) == 0) == (at(batch.mask, t) == 0); };
  std::string out;
  for_runs(T, same_loss, [&](int64_t from, int64_t to) {
    if (at(batch.mask, from) == 0) out += rect("quiet", part(from, to));
  });
  if (facts.targets == TargetKind::Values) return out;
  const auto same_class = [&](int64_t s, int64_t t) {
    return same_loss(s, t) && at(batch.targets, s) == at(batch.targets, t);
  };
  for_runs(T, same_class, [&](int64_t from, int64_t to) {
    if (at(batch.mask, from) == 0) return;
    const auto        c    = static_cast<size_t>(at(batch.targets, from));
    const std::string name = facts.class_names.empty() ? fmt::format("{}", c) : facts.class_names[c];
    const Area        box  = part(from, to);
    out += rect("box", box);
    if (upright) {
      out += label("name", box.x + box.w + 8, box.y + box.h / 2 + 4, name);
      return;
    }
    // A name that does not fit is drawn before its box if the step there has no loss.
    const bool fits = box.w > 7.5 * double(name.size());
    if (fits || (from > 0 && at(batch.mask, from - 1) == 0))
      out += label(fits ? "name mid" : "name end", fits ? box.x + box.w / 2 : box.x - 4, box.y + box.h / 2 + 4, name);
  });
  return out;
}

// An image that is read row by row: step t is row t, and its target is next to it.
std::string upright(const Batch& batch, const TaskFacts& f, double& bottom) {
  constexpr double    side = 168;
  const int64_t       T = f.length, n = f.image->width;
  const Area          area{left, inputs_top, side, side}, targets{left + side + 24, inputs_top, 20, side};
  std::vector<double> cell(static_cast<size_t>(T * n));  // [width, height]
  for (int64_t i = 0; i < T * n; ++i) cell[static_cast<size_t>(i % n * T + i / n)] = std::abs(at(batch.inputs, i));
  bottom = inputs_top + side;
  return shades(cell, n, T, *std::max_element(cell.begin(), cell.end()), area) + rect("frame", area) +
         scored(batch, f, targets, true) + rect("frame", targets) + label("name", left, inputs_top - 8, "inputs") +
         label("name", targets.x, inputs_top - 8, "targets") + label("tick end", left - 8, area.y + 10, "0") +
         label("tick end", left - 8, bottom - 1, fmt::format("{}", T - 1)) +
         label("tick end", left - 8, area.y + side / 2 + 4, "step") + label("tick", left, bottom + 16, "0") +
         label("tick end", left + side, bottom + 16, fmt::format("{}", n - 1)) +
         label("tick mid", left + side / 2, bottom + 16, "channel");
}

std::string over_time(const Batch& batch, const TaskFacts& f, double& bottom) {
  const int64_t T = f.length, n = batch.inputs.size() / T;
  const bool    values = f.targets == TargetKind::Values;
  const auto    panel  = [&](const Array& a, int64_t count, const Area& area) {
    return (count <= 2 ? curves : channels)(a, T, count, area);
  };
  const double tiles = double(std::min(T, max_frames));
  const Area   inputs{left, inputs_top, width, f.image ? std::min(width / tiles - 6, inputs_height) : inputs_height};
  const Area   targets{left, inputs.y + inputs.h + gap, width, values ? 56.0 : 24.0};
  bottom = targets.y + targets.h;
  std::string out =
      f.image ? frames(batch.inputs, T, *f.image, inputs) : panel(batch.inputs, n, inputs) + rect("frame", inputs);
  out += scored(batch, f, targets, false);
  if (values) out += panel(batch.targets, f.outputs, targets);
  out += rect("frame", targets) + label("name", left, inputs.y - 8, "inputs") +
         label("name", left, targets.y - 8, "targets");
  return out + x_axis(scale_for(0, double(T), left, left + width), "step", bottom);
}

}  // namespace

std::string picture(const Task& task, const std::string& title) {
  const TaskFacts& f     = task.facts();
  const Batch      batch = task.batch(Part::Train, 0, 1);
  const int64_t    n     = batch.inputs.size() / f.length;
  const bool       rests = [&] {
    for (int64_t t = 0; t < f.length; ++t)
      if (at(batch.mask, t) == 0) return true;
    return false;
  }();
  double            bottom = 0;
  const std::string drawn  = (f.image && f.image->by_row ? upright : over_time)(batch, f, bottom);
  return fmt::format(
             "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 {0:.0f}\" width=\"480\" "
             "height=\"{0:.0f}\" role=\"img\" aria-label=\"{1}\"><style>{2}{3}</style><rect class=\"paper\" "
             "width=\"100%\" height=\"100%\"/>",
             bottom + bottom_margin, xml_text("A sample of the task " + title), picture_css(), task_picture_css()) +
         label("title", 16, 26, title) +
         label("note", 16, 44,
               fmt::format("{} channel{}, {} steps, {} {}{}", n, n == 1 ? "" : "s", f.length, f.outputs,
                           f.targets == TargetKind::Classes ? "classes"
                           : f.outputs == 1                 ? "value"
                                                            : "values",
                           rests ? "; gray steps have no loss" : "")) +
         drawn + "</svg>\n";
}

}  // namespace tasks

}  // namespace braintrace
