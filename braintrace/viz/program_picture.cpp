// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/program_picture.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/viz/escape.h"
#include "braintrace/viz/layered_layout.h"
#include "braintrace/viz/svg.h"

namespace braintrace {

std::string_view program_css();  // program.css

namespace {

struct ProgramNode {
  std::string id, css, title, line, tooltip;
};

// Inputs, equations in order, results; arrows carry values.
struct ProgramGraph {
  std::vector<ProgramNode>               nodes;
  std::vector<std::pair<size_t, size_t>> edges;

  ProgramGraph(const Program& p, const ProgramNames& names) {
    std::map<Var, size_t> at;
    std::set<Var>         used(p.results.begin(), p.results.end());
    for (const Eqn& e : p.eqns) used.insert(e.in.begin(), e.in.end());
    const auto input = [&](Var v, const char* css) {
      if (!used.count(v)) return;
      const auto        name  = names.inputs.find(v);
      const std::string title = name == names.inputs.end() ? fmt::format("%{}", v) : name->second;
      at[v]                   = nodes.size();
      nodes.push_back({fmt::format("v{}", v), css, title, to_string(p.type(v)), title});
    };
    for (Var v : p.constants) input(v, "constant");
    for (Var v : p.args) input(v, "input");
    for (size_t i = 0; i < p.eqns.size(); ++i) {
      const Eqn& e = p.eqns[i];
      connect(e.in, at);
      for (Var v : e.out) at[v] = nodes.size();
      nodes.push_back({fmt::format("e{}", i), e.op->etp ? "trainable" : "equation", std::string(e.op->name),
                       e.out.empty() ? "" : to_string(p.type(e.out[0])), describe(p, i)});
    }
    for (size_t i = 0; i < p.results.size(); ++i) {
      connect({p.results[i]}, at);
      const std::string title = i < names.results.size() ? names.results[i] : fmt::format("result {}", i);
      nodes.push_back({fmt::format("r{}", i), "result", title, to_string(p.type(p.results[i])), title});
    }
  }

 private:
  // Arrows into the node that comes next.
  void connect(const Vars& in, const std::map<Var, size_t>& at) {
    std::set<size_t> sources;
    for (Var v : in)
      if (const auto s = at.find(v); s != at.end() && sources.insert(s->second).second)
        edges.emplace_back(s->second, nodes.size());
  }
};

Box size_of_node(const ProgramNode& n) {
  const double w = std::max(text_width(shortened(n.title, 30), 12, false), text_width(n.line, 10.5, true));
  return {0, 0, std::max(44.0, w + 20), 40};
}

// Smooth from bend to bend, vertical at both ends.
std::string curve(const std::vector<Point>& points) {
  std::string d = fmt::format("M{} {}", number(points[0].x), number(points[0].y));
  for (size_t i = 1; i < points.size(); ++i) {
    const Point  a = points[i - 1], b = points[i];
    const double bend = (b.y - a.y) * 0.5;
    d += fmt::format(" C{} {} {} {} {} {}", number(a.x), number(a.y + bend), number(b.x), number(b.y - bend),
                     number(b.x), number(b.y));
  }
  return d;
}

}  // namespace

ProgramNames names_of(const ModuleInfo& info) {
  const StatefulProgram& step = info.step;
  ProgramNames           names;
  const auto             numbered = [](const char* letter, size_t i, size_t n) {
    return n == 1 ? std::string(letter) : fmt::format("{}{}", letter, i);
  };
  const auto path = [&](const StateLeaf& leaf) { return leaf_name(info.path_of(leaf.state), leaf.leaf); };
  for (size_t i = 0; i < step.num_args; ++i) names.inputs[step.program.args[i]] = numbered("x", i, step.num_args);
  for (size_t i = 0; i < step.reads.size(); ++i)
    names.inputs[step.program.args[step.num_args + i]] = path(step.reads[i]);
  for (size_t i = 0; i < step.num_results; ++i) names.results.push_back(numbered("y", i, step.num_results));
  for (const StateLeaf& leaf : step.writes) names.results.push_back("new " + path(leaf));
  return names;
}

std::string program_dot(const Program& program, const ProgramNames& names) {
  const ProgramGraph graph(program, names);
  std::string out = "digraph program {\n  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11];\n";
  for (const ProgramNode& n : graph.nodes)
    out += fmt::format("  {} [label={}{}];\n", n.id, dot_string(n.title + "\n" + n.line),
                       n.css == "trainable"  ? ", color=\"#b56a00\""
                       : n.css == "equation" ? ""
                                             : ", color=\"#007a5a\"");
  for (const auto& [u, v] : graph.edges) out += fmt::format("  {} -> {};\n", graph.nodes[u].id, graph.nodes[v].id);
  return out + "}\n";
}

std::string program_svg(const Program& program, const ProgramNames& names) {
  const ProgramGraph graph(program, names);
  std::vector<Box>   sizes;
  for (const ProgramNode& n : graph.nodes) sizes.push_back(size_of_node(n));
  const LayeredLayout layout = layered_layout(sizes, graph.edges);
  std::string         out    = fmt::format(
                 "<svg class=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                            "height=\"{1}\" "
                            "role=\"img\" aria-label=\"program\">\n<style>{2}{3}</style>\n<rect class=\"paper\" width=\"100%\" "
                            "height=\"100%\"/>\n",
                 number(layout.width), number(layout.height), picture_css(), program_css());
  for (const auto& route : layout.routes) {
    std::vector<Point> end{{route.back().x, route.back().y - 10}, route.back()};
    out += fmt::format("<path class=\"flow\" d=\"{}\"/><path class=\"flow-tip\" d=\"{}\"/>\n", curve(route),
                       arrow_head(end));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ProgramNode& n = graph.nodes[i];
    const Box&         b = layout.boxes[i];
    out += fmt::format(
        "<g class=\"p p-{}\"><title>{}</title><rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"8\"/>"
        "<text class=\"title\" x=\"{}\" y=\"{}\">{}</text><text class=\"line\" x=\"{}\" y=\"{}\">{}</text></g>\n",
        n.css, xml_text(n.tooltip), number(b.x), number(b.y), number(b.w), number(b.h), number(b.x + b.w / 2),
        number(b.y + 17), xml_text(shortened(n.title, 30)), number(b.x + b.w / 2), number(b.y + 31), xml_text(n.line));
  }
  return out + "</svg>\n";
}

}  // namespace braintrace
