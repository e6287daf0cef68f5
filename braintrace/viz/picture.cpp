// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/picture.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/compiler/report.h"

namespace braintrace {

namespace {

std::string plural(size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string op_id(int i) { return fmt::format("op:{}", i); }
std::string group_id(int i) { return fmt::format("group:{}", i); }

std::string subtitle(const GraphView& view) {
  size_t traced = 0, windowed = 0;
  for (const GraphView::Weight& w : view.weights) {
    traced += w.learns == Learns::Trace;
    windowed += w.learns == Learns::Window;
  }
  std::string out = fmt::format("{}  ·  {} of {} {} a trace", plural(view.groups.size(), "hidden group"), traced,
                                plural(view.weights.size(), "weight"), traced == 1 ? "has" : "have");
  if (windowed) out += fmt::format("; {} {} inside windows", windowed, windowed == 1 ? "learns" : "learn");
  return out + fmt::format("  ·  {} of traces", human_bytes(view.trace_bytes()));
}

PictureNode weight_node(const GraphView& view, const GraphView::Weight& w) {
  PictureNode node{"weight:" + w.path, NodeKind::Weight, w.path, {}};
  node.learns = w.learns;
  for (const GraphView::Value& leaf : w.leaves)
    node.lines.push_back((leaf.name.empty() ? "" : leaf.name + " ") + to_string(leaf.type));
  int64_t bytes = 0;
  for (const GraphView::Relation& r : view.relations)
    for (const GraphView::Trainable& t : r.trainables) {
      const bool mine = std::any_of(t.leaves.begin(), t.leaves.end(), [&](const std::string& leaf) {
        return leaf == w.path || leaf.starts_with(w.path + ".");
      });
      for (const GraphView::Trace& trace : t.traces) bytes += mine ? trace.bytes : 0;
    }
  if (w.learns == Learns::Trace) node.lines.push_back("trace " + human_bytes(bytes));
  return node;
}

std::vector<PictureNode> nodes_of(const GraphView& view) {
  std::vector<PictureNode> nodes;
  for (size_t i = 0; i < view.inputs.size(); ++i)
    nodes.push_back(
        {fmt::format("input:{}", i), NodeKind::Input, view.inputs[i].name, {to_string(view.inputs[i].type)}});
  for (const GraphView::State& s : view.states)
    if (s.group < 0) nodes.push_back({"state:" + s.path, NodeKind::State, s.path, {s.kind, to_string(s.type)}});
  for (const GraphView::Weight& w : view.weights) nodes.push_back(weight_node(view, w));
  for (size_t i = 0; i < view.operations.size(); ++i) {
    PictureNode node{
        op_id(static_cast<int>(i)), NodeKind::Operation, view.operations[i].name, {to_string(view.operations[i].y)}};
    node.learns = Learns::SameStep;
    for (const GraphView::Relation& r : view.relations) {
      if (r.operation != static_cast<int>(i)) continue;
      const bool trace = std::any_of(r.connections.begin(), r.connections.end(),
                                     [](const auto& c) { return c.path != PathClass::Windowed; });
      node.learns      = trace ? Learns::Trace : Learns::Window;
    }
    nodes.push_back(std::move(node));
  }
  for (size_t i = 0; i < view.groups.size(); ++i) {
    const GraphView::Group& g = view.groups[i];
    PictureNode             node{group_id(static_cast<int>(i)), NodeKind::Group, fmt::format("Hidden group {}", i), {}};
    for (const std::string& path : g.hidden_paths) node.rows.push_back({"state:" + path, path});
    node.lines.push_back(
        fmt::format("{} × {}", to_string(g.varshape), plural(static_cast<size_t>(g.num_state), "state")));
    if (!g.diagonal) node.lines.push_back("positions mix");
    nodes.push_back(std::move(node));
  }
  for (size_t i = 0; i < view.outputs.size(); ++i)
    nodes.push_back(
        {fmt::format("output:{}", i), NodeKind::Output, view.outputs[i].name, {to_string(view.outputs[i].type)}});
  std::map<NodeKind, int> count;
  for (PictureNode& n : nodes) n.index = count[n.kind]++;
  return nodes;
}

std::set<std::string> reached(const GraphView& view, std::vector<std::string> open, bool backward) {
  std::set<std::string> found;
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    for (const GraphView::Edge& e : view.edges) {
      const std::string &from = backward ? e.to : e.from, &to = backward ? e.from : e.to;
      if (from == at && e.kind == EdgeKind::Data && to.starts_with("op:") && found.insert(to).second)
        open.push_back(to);
    }
  }
  return found;
}

// The operations on the way from one operation to the groups its relation reaches other than directly.
std::set<std::string> operations_between(const GraphView& view, int op, const GraphView::Relation& r) {
  std::vector<std::string> groups;
  for (const GraphView::Connection& c : r.connections)
    if (c.path != PathClass::Direct) groups.push_back(group_id(c.group));
  std::set<std::string>       between;
  const std::set<std::string> after = reached(view, {op_id(op)}, false), before = reached(view, groups, true);
  std::set_intersection(after.begin(), after.end(), before.begin(), before.end(),
                        std::inserter(between, between.end()));
  return between;
}

// What an operation reaches, with its weights: either the groups and states its relation names and the operations it
// passes on the way, or, without a relation, whatever its result reaches before the next group.
std::set<std::string> lit_by_operation(const GraphView& view, int op) {
  std::set<std::string> lit{op_id(op)};
  for (const std::string& w : view.operations[static_cast<size_t>(op)].weights) lit.insert("weight:" + w);
  bool related = false;
  for (const GraphView::Relation& r : view.relations) {
    if (r.operation != op) continue;
    related = true;
    for (const GraphView::Connection& c : r.connections) {
      lit.insert(group_id(c.group));
      for (const std::string& path : c.hidden_paths) lit.insert("state:" + path);
    }
    const auto passes = operations_between(view, op, r);
    lit.insert(passes.begin(), passes.end());
  }
  std::vector<std::string> open{op_id(op)};
  while (!related && !open.empty()) {
    const std::string from = open.back();
    open.pop_back();
    for (const GraphView::Edge& e : view.edges)
      if (e.from == from && e.kind == EdgeKind::Data && lit.insert(e.to).second && e.to.starts_with("op:"))
        open.push_back(e.to);
  }
  return lit;
}

std::map<std::string, std::set<std::string>> lights_of(const GraphView& view, const Picture& picture) {
  std::map<std::string, std::set<std::string>> lights;
  for (const PictureNode& n : picture.nodes) {
    lights[n.id].insert(n.id);
    for (const PictureNode::Row& row : n.rows) lights[row.id] = {row.id, n.id};
  }
  // Forward: an operation and its weights highlight what the operation reaches. Reverse: what is reached highlights
  // them.
  for (size_t i = 0; i < view.operations.size(); ++i) {
    const auto  lit = lit_by_operation(view, static_cast<int>(i));
    const auto& own = view.operations[i].weights;
    lights[op_id(static_cast<int>(i))].insert(lit.begin(), lit.end());
    for (const std::string& w : own) lights["weight:" + w].insert(lit.begin(), lit.end());
    for (const std::string& id : lit) {
      if (id.starts_with("weight:") || id.starts_with("op:")) continue;
      auto& back = lights[id];
      back.insert(op_id(static_cast<int>(i)));
      for (const std::string& w : own) back.insert("weight:" + w);
      if (id.starts_with("group:"))
        for (const std::string& path : view.groups[static_cast<size_t>(std::stoi(id.substr(6)))].hidden_paths)
          back.insert("state:" + path);
    }
  }
  // An operation also highlights everything it reads.
  for (const GraphView::Edge& e : view.edges)
    if (e.to.starts_with("op:")) lights[e.to].insert(e.from);
  // Inputs, outputs and other states highlight their neighbors.
  for (const GraphView::Edge& e : view.edges) {
    const auto loose = [](const std::string& id) { return id.starts_with("input:") || id.starts_with("state:"); };
    if (loose(e.from) || loose(e.to) || e.to.starts_with("output:")) {
      lights[e.from].insert(e.to);
      lights[e.to].insert(e.from);
    }
  }
  return lights;
}

}  // namespace

std::string_view name_of(NodeKind kind) {
  constexpr std::string_view names[] = {"input", "state", "weight", "operation", "group", "output"};
  return names[static_cast<size_t>(kind)];
}

Picture picture_of(const GraphView& view) {
  Picture                       picture{view.model, subtitle(view), nodes_of(view), {}, {}};
  std::map<std::string, size_t> at;
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    at[picture.nodes[i].id] = i;
    for (const PictureNode::Row& row : picture.nodes[i].rows) at[row.id] = i;
  }
  for (const GraphView::Edge& e : view.edges) {
    const PictureNode &from = picture.nodes[at.at(e.from)], &to = picture.nodes[at.at(e.to)];
    const bool         into_op  = to.kind == NodeKind::Operation;
    const bool         windowed = (from.kind == NodeKind::Weight && into_op && to.learns == Learns::Window) ||
                          (from.kind == NodeKind::Operation && from.learns == Learns::Window && into_op);
    picture.edges.push_back({at.at(e.from), at.at(e.to), e.kind, windowed});
  }
  picture.lights = lights_of(view, picture);
  return picture;
}

}  // namespace braintrace
