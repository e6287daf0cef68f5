// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

std::string number(double value) {
  std::string s = fmt::format("{:.2f}", value);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

std::string rounded_path(const std::vector<Point>& points, double radius) {
  const auto toward = [](Point a, Point b, double d) {
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    return length == 0 ? a : Point{a.x + (b.x - a.x) * d / length, a.y + (b.y - a.y) * d / length};
  };
  const auto  text = [](Point p) { return number(p.x) + " " + number(p.y); };
  std::string d    = "M" + text(points[0]);
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const Point  a = points[i - 1], b = points[i], c = points[i + 1];
    const double r = std::min({radius, std::hypot(b.x - a.x, b.y - a.y) / 2, std::hypot(c.x - b.x, c.y - b.y) / 2});
    d += " L" + text(toward(b, a, r)) + " Q" + text(b) + " " + text(toward(b, c, r));
  }
  return d + " L" + text(points.back());
}

std::string arrow_head(const std::vector<Point>& points) {
  const Point  tip = points.back(), before = points[points.size() - 2];
  const double length = std::hypot(tip.x - before.x, tip.y - before.y);
  if (length == 0) return "";
  const double dx = (tip.x - before.x) / length, dy = (tip.y - before.y) / length;
  const auto   at = [&](double back, double side) {
    return number(tip.x - back * dx - side * dy) + " " + number(tip.y - back * dy + side * dx);
  };
  return "M" + at(0, 0) + " L" + at(7.5, 3.6) + " L" + at(6, 0) + " L" + at(7.5, -3.6) + " Z";
}

namespace {

std::string text_element(const char* css, double x, double y, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>", css, number(x), number(y), xml_text(text));
}

std::string rect(const char* css, const Box& b, double radius) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>", css, number(b.x),
                     number(b.y), number(b.w), number(b.h), number(radius));
}

// The upper part of a card, its lower corners square.
std::string header_path(const Box& b, double height, double r) {
  return fmt::format(
      "<path class=\"head\" d=\"M{0} {1} v{2} a{3} {3} 0 0 1 {3} -{3} h{4} a{3} {3} 0 0 1 {3} {3} v{5} z\"/>",
      number(b.x), number(b.y + height), number(r - height), number(r), number(b.w - 2 * r), number(height - r));
}

std::string description(const PictureNode& n) {
  std::string out = fmt::format("{} {}", name_of(n.kind), n.title);
  if (n.kind == NodeKind::Group) out = n.title;
  if (n.kind == NodeKind::Weight || n.kind == NodeKind::Operation) {
    constexpr const char* how[] = {"learns along a trace", "learns inside a window", "learns from the current step",
                                   "not read"};
    out += fmt::format(", {}", how[static_cast<size_t>(n.learns)]);
  }
  for (const auto& row : n.rows) out += ", state " + row.text;
  for (const std::string& line : n.lines) out += ", " + line;
  return out;
}

std::string handle(const std::string& id, const std::string& label, bool interactive) {
  std::string out = fmt::format(" data-id=\"{}\"", xml_text(id));
  if (interactive)
    out += fmt::format(" tabindex=\"-1\" role=\"button\" aria-pressed=\"false\" aria-label=\"{}\"", xml_text(label));
  return out;
}

std::string draw_node(const PictureNode& n, const Box& b, bool interactive) {
  using namespace metrics;
  const char*  radius_of = n.kind == NodeKind::Operation ? "op" : "box";
  const double r         = n.kind == NodeKind::Operation ? 16 : n.kind == NodeKind::Group ? 10 : 7;
  std::string  css       = fmt::format("node {}", name_of(n.kind));
  if (n.kind == NodeKind::Weight || n.kind == NodeKind::Operation) css += fmt::format(" {}", name_of(n.learns));
  std::string out = fmt::format("<g class=\"{}\"{}>", css, handle(n.id, description(n), interactive));
  out += fmt::format("<title>{}</title>", xml_text(n.title));
  out += rect(radius_of, b, r);
  const bool centered = n.kind == NodeKind::Operation;
  double     x = centered ? b.x + b.w / 2 : b.x + pad_x, y = b.y + pad_y + 13;
  if (centered) y = b.y + b.h / 2 - (line_height * static_cast<double>(n.lines.size())) / 2 + 4.5;
  if (n.kind == NodeKind::Weight) {
    out += fmt::format("<path class=\"bar\" d=\"M{} {} v{}\"/>", number(b.x + 4), number(b.y + 8), number(b.h - 16));
    x += 2;
  }
  if (n.kind == NodeKind::Group) out += header_path(b, pad_y + title_height + 1, r);
  out += text_element("title", x, y, shortened(n.title, longest_title));
  y += title_height;
  if (!n.rows.empty()) {
    y += 6;
    for (const auto& row : n.rows) {
      const Box area{b.x + 5, y - 13, b.w - 10, row_height - 2};
      out += fmt::format("<g class=\"row\"{}><title>{}</title>", handle(row.id, "state " + row.text, interactive),
                         xml_text(row.text));
      out += rect("slot", area, 5);
      out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3.5\"/>", number(b.x + 15), number(y - 4));
      out += text_element("mono", b.x + 25, y, shortened(row.text, longest_title)) + "</g>";
      y += row_height;
    }
    y -= 1;
  }
  for (const std::string& line : n.lines) {
    out += text_element("line", x, y, shortened(line, 40));
    y += line_height;
  }
  return out + "</g>\n";
}

std::string edge_class(const Picture& p, const PictureEdge& e) {
  if (e.windowed) return "window";
  if (e.kind == EdgeKind::Weight) return std::string(name_of(p.nodes[e.from].learns));
  return std::string(name_of(e.kind));
}

std::string draw_edge(const Picture& p, const Layout& layout, size_t k) {
  const PictureEdge& e      = p.edges[k];
  const auto&        path   = layout.routes[k];
  std::string        out    = fmt::format("<g class=\"edge {}\" data-from=\"{}\" data-to=\"{}\">", edge_class(p, e),
                                          xml_text(p.nodes[e.from].id), xml_text(p.nodes[e.to].id));
  std::vector<Point> shaft  = path;  // ends inside the head, so that its tip stays sharp
  const Point        before = path[path.size() - 2];
  const double       length = std::hypot(path.back().x - before.x, path.back().y - before.y);
  if (length > 5) {
    shaft.back().x -= 5 * (path.back().x - before.x) / length;
    shaft.back().y -= 5 * (path.back().y - before.y) / length;
  }
  out += fmt::format("<path class=\"shaft\" d=\"{}\"/>", rounded_path(shaft, 8));
  out += fmt::format("<path class=\"tip\" d=\"{}\"/>", arrow_head(path));
  for (const Layout::Fork& f : layout.forks)
    if (f.edge == k)
      out += fmt::format("<circle class=\"fork\" cx=\"{}\" cy=\"{}\" r=\"2.6\"/>", number(f.at.x), number(f.at.y));
  return out + "</g>\n";
}

struct LegendItem {
  std::string swatch, text;
};

// Only what the picture shows.
std::vector<LegendItem> legend_items(const Picture& p) {
  std::vector<LegendItem> items;
  const auto              box = [&](const char* css, const char* shape, const char* text) {
    items.push_back({fmt::format("<g class=\"node {}\">{}</g>", css, rect(shape, {0, -11, 22, 14}, 4)), text});
  };
  const auto arrow = [&](const char* css, const char* text) {
    items.push_back({fmt::format("<g class=\"edge {}\"><path class=\"shaft\" d=\"M0 -4 L24 -4\"/><path class=\"tip\" "
                                 "d=\"{}\"/></g>",
                                 css, arrow_head({{0, -4}, {28, -4}})),
                     text});
  };
  const auto has_weight = [&](Learns l) {
    return std::any_of(p.nodes.begin(), p.nodes.end(),
                       [&](const PictureNode& n) { return n.kind == NodeKind::Weight && n.learns == l; });
  };
  const auto has_edge = [&](EdgeKind k, bool loop) {
    return std::any_of(p.edges.begin(), p.edges.end(),
                       [&](const PictureEdge& e) { return e.kind == k && (!loop || e.from == e.to); });
  };
  if (has_weight(Learns::Trace)) box("weight trace", "box", "weight with a trace");
  if (has_weight(Learns::Window)) box("weight window", "box", "learns inside a window");
  if (has_weight(Learns::SameStep)) box("weight same_step", "box", "learns from the current step");
  if (has_weight(Learns::Unused)) box("weight unused", "box", "not read");
  if (has_edge(EdgeKind::Data, false)) arrow("data", "this step");
  if (has_edge(EdgeKind::Recurrent, false)) arrow("recurrent", "state of the previous step");
  return items;
}

std::string draw_legend(const Picture& p, double width, double& y) {
  std::string out = "<g class=\"legend\">";
  double      x   = 44;
  for (const LegendItem& item : legend_items(p)) {
    const double wide = 34 + 0.92 * text_width(item.text, metrics::line_size, false) + 16;
    if (x > 44 && x + wide > width - 28) x = 44, y += 22;
    out += fmt::format("<g transform=\"translate({} {})\">{}{}</g>", number(x), number(y), item.swatch,
                       text_element("note", 34, 0, item.text));
    x += wide;
  }
  y += 24;
  return out + "</g>\n";
}

}  // namespace

std::string svg_picture(const Picture& picture, bool interactive) {
  Layout       layout = band_layout(picture);
  const double width  = std::max(
       {layout.width, 56 + text_width(picture.title, 20, false), 56 + text_width(picture.subtitle, 12.5, false)});
  double      y      = layout.height + 14;
  std::string legend = draw_legend(picture, width, y);
  // The page has the heading in its own header.
  const double top = interactive ? 58 : 0;
  std::string  out = fmt::format(
       "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {0} {1} {2}\" width=\"{1}\" "
        "height=\"{2}\" role=\"{3}\" aria-label=\"{4}\">\n",
       number(top), number(width), number(y - top), interactive ? "group" : "img",
       xml_text("Compiled graph of " + picture.title));
  if (!interactive) {
    out +=
        "<style>" + std::string(picture_css()) + "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    out += text_element("heading", 28, 46, picture.title) + text_element("subheading", 28, 68, picture.subtitle) + "\n";
  }
  out += "<g class=\"bands\">\n";
  for (const Layout::Band& band : layout.bands)
    out += rect("band", band.box, 14) +
           text_element("band-title", band.box.x + 16, band.box.y + 20, shortened(band.title, 40)) + "\n";
  out += "</g>\n<g class=\"edges\">\n";
  for (size_t k = 0; k < picture.edges.size(); ++k) out += draw_edge(picture, layout, k);
  out += "</g>\n<g class=\"nodes\">\n";
  for (size_t i = 0; i < picture.nodes.size(); ++i) out += draw_node(picture.nodes[i], layout.boxes[i], interactive);
  return out + "</g>\n" + legend + "</svg>\n";
}

std::string graph_svg(const GraphView& view) { return svg_picture(picture_of(view), false); }

}  // namespace braintrace
