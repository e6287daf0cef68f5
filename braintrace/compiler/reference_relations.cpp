// SPDX-License-Identifier: Apache-2.0
// Relations by the rules of braintrace 0.2.6, to compare with graphs recorded from it. It differs from relations.cpp in
// four ways: a plain product does not block; a path may run through the states of every group the operation feeds
// directly; shapes must broadcast (a stacked state fails); a weight that passes another product on *any* path is called
// weight-to-weight, even if that path leads to no state.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/relation_finder.h"

namespace braintrace {

namespace {

bool broadcasts(const Shape& a, const Shape& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

const HiddenVar& state_ending_at(const HiddenGroup& g, Var exit) {
  return *std::find_if(g.hidden.begin(), g.hidden.end(), [&](const HiddenVar& h) { return h.out == exit; });
}

// Exits reached from y without passing a trainable product: those reached before any other exit determine the direct
// groups; then all exits of these groups, also through their states.
Vars connected_exits(const RelationFinder& find, Var y) {
  const auto    product = [](const Eqn& e) { return is_mixing_etp(*e.op); };
  std::set<int> direct;
  for (Var v :
       reach_forward(find.flow, {y}, {.eqn = product, .value = [&](Var u) { return find.group_of_exit[u] >= 0; }}))
    if (find.group_of_exit[v] >= 0) direct.insert(find.group_of_exit[v]);
  Vars       out;
  const auto other_group = [&](Var v) { return find.group_of_exit[v] >= 0 && !direct.count(find.group_of_exit[v]); };
  for (Var v : reach_forward(find.flow, {y}, {.eqn = product, .value = other_group}))
    if (find.group_of_exit[v] >= 0 && !other_group(v)) out.push_back(v);
  return out;
}

// Whether y reaches a product, directly or indirectly.
bool meets_product(const RelationFinder& find, Var y) {
  const auto product = [](const Eqn& e) { return is_mixing_etp(*e.op); };
  for (Var v : reach_forward(find.flow, {y}, {.eqn = product}))
    for (int32_t e : find.flow.consumers[v])
      if (product(find.flow.program.eqns[e])) return true;
  return false;
}

PathClass classify(const RelationFinder& find, const HiddenParamOpRelation& r, Var exit) {
  const Region all = cut_region(find.flow, {r.y}, {exit});
  return std::any_of(all.program.eqns.begin(), all.program.eqns.end(),
                     [](const Eqn& e) { return is_mixing_etp(*e.op); })
             ? PathClass::Mixed
             : PathClass::Direct;
}

}  // namespace

bool connect_as_reference(RelationFinder& find, HiddenParamOpRelation& r) {
  for (Var exit : connected_exits(find, r.y)) {
    const HiddenGroup& g     = find.groups[find.group_of_exit[exit]];
    const Path         path  = state_ending_at(g, exit).path;
    const Shape&       shape = find.flow.program.type(exit).shape;
    if (!broadcasts(r.call.y.shape, shape)) {
      find.record(DiagnosticKind::RelationExcludedShapeMismatch, DiagnosticLevel::Warning, r,
                  fmt::format("the result {} does not broadcast with the state {}", to_string(r.call.y.shape),
                              to_string(shape)),
                  {path});
      continue;
    }
    auto c = std::find_if(r.connections.begin(), r.connections.end(),
                          [&](const Connection& k) { return k.group == g.index; });
    if (c == r.connections.end()) {
      Connection fresh{.group = g.index, .path = PathClass::Direct};
      fresh.tail     = cut_region(find.flow, {r.y}, g.exits(), find.inside(g.index, false));
      fresh.y_layout = RelationFinder::layout_by_shape(r.call, g);
      c              = r.connections.insert(r.connections.end(), std::move(fresh));
    }
    const PathClass how = classify(find, r, exit);
    c->hidden_paths.push_back(path);
    c->path_classification.push_back(how);
    if (how == PathClass::Mixed) c->path = PathClass::Mixed;
  }
  if (r.connections.empty()) {
    const bool product = meets_product(find, r.y);
    find.record(product ? DiagnosticKind::RelationExcludedWeightToWeight : DiagnosticKind::RelationExcludedNonTemporal,
                DiagnosticLevel::Warning, r,
                product ? "it reaches hidden states only through another trainable product"
                        : "it does not affect any hidden state");
    return false;
  }
  std::vector<Path> hidden;
  for (const Connection& c : r.connections)
    for (size_t i = 0; i < c.hidden_paths.size(); ++i) {
      hidden.push_back(c.hidden_paths[i]);
      if (c.path_classification[i] == PathClass::Mixed)
        find.record(DiagnosticKind::RelationPartialPath, DiagnosticLevel::Warning, r,
                    "part of its path to the state passes through another trainable product", {c.hidden_paths[i]});
    }
  find.record(DiagnosticKind::RelationIncluded, DiagnosticLevel::Info, r, "it carries an eligibility trace", hidden);
  return true;
}

}  // namespace braintrace
