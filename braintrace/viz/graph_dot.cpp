// SPDX-License-Identifier: Apache-2.0
// The graph in the language of Graphviz.
#include <fmt/format.h>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/picture.h"

namespace braintrace {

namespace {

struct Style {
  const char *shape, *color, *fill, *line;
};

Style style_of(const PictureNode& n) {
  constexpr Style by_learning[] = {{"box", "#b56a00", "#fff3dc", "solid"},
                                   {"box", "#8a4b94", "#f7eaf8", "dashed"},
                                   {"box", "#8793a3", "#f6f7f8", "dotted"},
                                   {"box", "#8793a3", "#f6f7f8", "dotted"}};
  Style           s             = by_learning[static_cast<size_t>(n.learns)];
  switch (n.kind) {
    case NodeKind::Weight:
      return s;
    case NodeKind::Operation:
      s.shape = "ellipse", s.fill = "#ffffff";
      return s;
    case NodeKind::Group:
      return {"box", "#0067a5", "#e3f0f9", "solid,bold"};
    case NodeKind::State:
      return {"box", "#0067a5", "#e3f0f9", "solid"};
    default:
      return {"box", "#007a5a", "#e0f4ed", "solid"};
  }
}

}  // namespace

std::string graph_dot(const GraphView& view) {
  const Picture picture = picture_of(view);
  std::string out = fmt::format("digraph {} {{\n  rankdir=LR;\n  label={};\n  labelloc=t;\n", dot_string(picture.title),
                                dot_string(picture.title + "\n" + picture.subtitle));
  out += "  fontname=\"Helvetica\";\n  node [fontname=\"Helvetica\", fontsize=11, style=\"rounded,filled\"];\n";
  out += "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#5a6675\"];\n";
  for (const PictureNode& n : picture.nodes) {
    std::string label = n.title;
    for (const auto& row : n.rows) label += "\n" + row.text;
    for (const std::string& line : n.lines) label += "\n" + line;
    const Style s = style_of(n);
    out += fmt::format("  {} [label={}, shape={}, color=\"{}\", fillcolor=\"{}\", style=\"{}filled,{}\"];\n",
                       dot_string(n.id), dot_string(label), s.shape, s.color, s.fill,
                       n.kind == NodeKind::Operation ? "" : "rounded,", s.line);
  }
  for (const PictureEdge& e : picture.edges) {
    std::string attributes;
    if (e.windowed)
      attributes = " [style=dashed, color=\"#8a4b94\"]";
    else if (e.kind == EdgeKind::Recurrent)
      attributes = " [color=\"#0067a5\", label=\"t-1\", constraint=false]";
    out += fmt::format("  {} -> {}{};\n", dot_string(picture.nodes[e.from].id), dot_string(picture.nodes[e.to].id),
                       attributes);
  }
  return out + "}\n";
}

}  // namespace braintrace
