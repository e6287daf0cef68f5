// SPDX-License-Identifier: Apache-2.0
// One row per rule and window, one cell per parameter: color is the cosine with the exact gradient, the mark inside is
// the norm ratio. Next to the rows: memory of the traces.
#include "braintrace/viz/svg.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/compiler/report.h"
#include "braintrace/fidelity/fidelity.h"
#include "braintrace/viz/escape.h"

namespace braintrace {

std::string_view fidelity_css();  // fidelity.css

namespace {

constexpr double left = 266, top = 132, cell_w = 74, cell_h = 30, gap = 14, bar_w = 130, foot = 74;

std::string text(const char* css, double x, double y, const std::string& s, const char* more = "") {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>", css, number(x), number(y), more, xml_text(s));
}

// Columns: the parameters, layer by layer with a gap between layers.
struct Columns {
  std::vector<double>      x;
  std::vector<std::string> names;
  double                   right = left;

  explicit Columns(const FidelityReport& r) {
    std::string layer;
    for (const std::string& p : r.parameters) {
      const std::string mine = p.substr(0, p.find('.'));
      if (!x.empty()) right += mine == layer ? 0 : gap;
      layer = mine;
      x.push_back(right);
      names.push_back(short_name(p));
      right += cell_w;
    }
  }
  // rnn.Wz.weight.bias → Wz bias
  static std::string short_name(const std::string& parameter) {
    const size_t dot  = parameter.find('.');
    std::string  rest = dot == std::string::npos ? parameter : parameter.substr(dot + 1);
    for (const char* inner : {".weight.", "weight."})
      if (const size_t at = rest.find(inner); at != std::string::npos)
        rest.replace(at, std::string(inner).size(), at == 0 ? "" : " ");
    return rest;
  }
};

// The norm ratio as a mark on an axis from ¼ to 4, 1 in the middle.
std::string ratio_mark(double x, double y, double ratio) {
  const double at  = ratio <= 0 ? -1 : std::clamp(std::log2(ratio) / 2, -1.0, 1.0);
  const double mid = x + cell_w / 2, half = cell_w / 2 - 12;
  return fmt::format("<path class=\"axis\" d=\"M{} {} h{}\"/><circle class=\"mark\" cx=\"{}\" cy=\"{}\" r=\"2.6\"/>",
                     number(mid - half), number(y), number(2 * half), number(mid + at * half), number(y));
}

std::string cell(double x, double y, const Closeness& c, const std::string& title) {
  const double strength = std::clamp(std::abs(c.cosine), 0.0, 1.0);
  std::string  out      = fmt::format("<g><title>{}</title>", xml_text(title));
  out +=
      fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\" fill-opacity=\"{:.2f}\"/>",
                  c.cosine < 0 ? "against" : "along", number(x + 1.5), number(y + 1.5), number(cell_w - 3),
                  number(cell_h - 3), 0.06 + 0.6 * strength * strength);
  out += text("value", x + cell_w / 2, y + 15, fmt::format("{:.2f}", c.cosine));
  return out + ratio_mark(x, y + 22.5, c.norm_ratio) + "</g>";
}

// A rule and the windows whose numbers look the same in the picture.
struct Row {
  const RuleFidelity*  rule;
  std::vector<int64_t> windows;

  bool same_as(const RuleFidelity& f) const {
    if (rule->rule != f.rule) return false;
    for (size_t p = 0; p < f.parameters.size(); ++p)
      if (std::abs(rule->parameters[p].cosine - f.parameters[p].cosine) > 0.005 ||
          std::abs(rule->parameters[p].norm_ratio / f.parameters[p].norm_ratio - 1) > 0.01)
        return false;
    return true;
  }
  std::string label(int64_t steps) const {
    std::vector<std::string> names;
    for (int64_t w : windows) names.push_back(w == 1 ? "step" : w == steps ? "all" : std::to_string(w));
    return fmt::format("{}", fmt::join(names, ", "));
  }
};
std::vector<Row> rows_of(const FidelityReport& r) {
  std::vector<Row> rows;
  for (const RuleFidelity& f : r.rules) {
    if (!f.left_out.empty()) continue;
    if (rows.empty() || !rows.back().same_as(f)) rows.push_back({&f, {}});
    rows.back().windows.push_back(f.window);
  }
  return rows;
}

// Layers and names above the columns.
std::string column_titles(const FidelityReport& r, const Columns& columns, double bars) {
  std::string out, layer;
  for (size_t p = 0; p < columns.x.size(); ++p) {
    const std::string mine = r.parameters[p].substr(0, r.parameters[p].find('.'));
    if (mine != layer) out += text("band-title", columns.x[p] + 4, top - 32, mine);
    layer = mine;
    out += text(r.windowed[p] ? "column windowed" : "column", columns.x[p] + cell_w / 2, top - 10,
                shortened(columns.names[p], 12), " text-anchor=\"middle\"");
  }
  out += text("band-title", bars, top - 32, "traces");
  return out + text("column", bars, top - 10, "bytes, log scale");
}

// The name of a rule, before the first of its rows.
std::string rule_title(const RuleFidelity& f, double y) {
  std::string out = text("rule", 28, y + (f.setting.empty() ? 20 : 12.5), f.rule);
  if (!f.setting.empty()) out += text("note", 28, y + 24, f.setting);
  return out;
}

std::string memory_bar(int64_t bytes, int64_t most, double x, double y) {
  const double w =
      bytes == 0 ? 0
                 : bar_w * std::log10(1.0 + static_cast<double>(bytes)) / std::log10(1.0 + static_cast<double>(most));
  return fmt::format("<rect class=\"memory\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" rx=\"3\"/>", number(x),
                     number(y + 9), number(w)) +
         text("note", x + w + 6, y + 19, human_bytes(bytes));
}

std::string legend(const FidelityReport& r, double y) {
  std::string out;
  const auto  swatch = [&](double x, const char* css, double opacity, const std::string& label) {
    out += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"22\" height=\"14\" rx=\"4\" fill-opacity=\"{}\"/>",
                        css, number(x), number(y - 11), number(opacity));
    out += text("note", x + 30, y, label);
  };
  swatch(28, "along", 0.66, "same direction");
  swatch(160, "along", 0.06, "orthogonal");
  swatch(270, "against", 0.66, "opposite");
  if (std::find(r.windowed.begin(), r.windowed.end(), true) != r.windowed.end())
    out += text("note", 370, y, "purple: weights without a trace, which learn inside windows");
  return out +
         text(
             "note", 28, y + 22,
             "rows: step by step, in windows of some steps, in one window over all of them; equal rows are shown once");
}

}  // namespace

std::string fidelity_svg(const FidelityReport& r) {
  const Columns          columns(r);
  const std::vector<Row> rows = rows_of(r);
  int64_t                most = 1;
  for (const Row& row : rows) most = std::max(most, row.rule->trace_bytes);
  const double bars = columns.right + 26, width = std::max(bars + bar_w + 70, 640.0);
  const double height = top + cell_h * static_cast<double>(rows.size()) + foot;

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture fidelity\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"gradients of learning rules beside the exact gradient\">\n<style>{2}{3}"
      "</style>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
      number(width), number(height), picture_css(), fidelity_css());
  out += text("heading", 28, 40, r.model);
  out +=
      text("subheading", 28, 62,
           fmt::format("gradients over {} steps, cosine with BPTT; the mark below is the norm ratio, ¼ to 4", r.steps));
  out += column_titles(r, columns, bars);

  double y = top;
  for (size_t i = 0; i < rows.size(); ++i, y += cell_h) {
    const RuleFidelity& f     = *rows[i].rule;
    const bool          first = i == 0 || rows[i - 1].rule->rule != f.rule;
    if (first && i > 0)
      out += fmt::format("<path class=\"line-between\" d=\"M28 {} H{}\"/>", number(y), number(bars + bar_w + 44));
    if (first) out += rule_title(f, y);
    out += text("line", left - 16, y + 19.5, rows[i].label(r.steps), " text-anchor=\"end\"");
    for (size_t p = 0; p < columns.x.size(); ++p)
      out += cell(columns.x[p], y, f.parameters[p],
                  fmt::format("{} of {}, window {}: cosine {:.4f}, norm ratio {:.3f}", r.parameters[p], f.rule,
                              f.window, f.parameters[p].cosine, f.parameters[p].norm_ratio));
    if (first) out += memory_bar(f.trace_bytes, most, bars, y);
  }
  return out + legend(r, y + 30) + "</svg>\n";
}

}  // namespace braintrace
