// SPDX-License-Identifier: Apache-2.0
// Relations: which weights reach which hidden groups through which trainable operation.
//
//   direct     y reaches the group without passing another product or another group
//   mixed      it does so, and also through another product
//   windowed   only through another product, or at positions that do not align with the group: credit flows inside a
//              window, no trace is kept
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "braintrace/base/lists.h"
#include "braintrace/base/pack.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/compiler/relation_finder.h"

namespace braintrace {

namespace {

// Groups whose exits y reaches first, in order of discovery; paths may pass products.
std::vector<int> candidate_groups(const RelationFinder& find, Var y, bool past_cuts = false) {
  std::vector<int> out;
  const Stops      stops{.eqn   = [&](const Eqn& e) { return !past_cuts && find.cuts(e); },
                         .value = [&](Var u) { return find.group_of_exit[u] >= 0; }};
  for (Var v : reach_forward(find.flow, {y}, stops)) {
    const int g = find.group_of_exit[v];
    if (g >= 0 && std::find(out.begin(), out.end(), g) == out.end()) out.push_back(g);
  }
  return out;
}

std::vector<Path> reached_members(const RelationFinder& find, Var y, const HiddenGroup& g, bool through_products) {
  std::vector<Path> out;
  for (Var v : reach_forward(find.flow, {y}, find.inside(g.index, through_products)))
    for (const HiddenVar& h : g.hidden)
      if (h.out == v) out.push_back(h.path);
  return out;
}

// The layout of y on the axes of the group, as the tail shows it: the same for every member that y reaches, and shared
// along an axis only by an operation that does not mix positions. None if that is not proven.
std::optional<Shape> proven_layout(const EtpCall& call, const HiddenGroup& g, const Program& tail) {
  const PositionMap    map = follow_positions(tail, 0);
  std::optional<Shape> all;
  for (size_t k = 0; k < g.members.size(); ++k) {
    if (!map.reached[tail.results[k]]) continue;
    const auto laid = layout_on(map, tail, 0, k, call.y.rank(), static_cast<int>(g.varshape.size()));
    if (!laid || (all && all != laid) || (call.op->etp->mixes && laid != g.varshape)) return std::nullopt;
    all = laid;
  }
  return all;
}

Connection connect(const RelationFinder& find, const HiddenParamOpRelation& r, const HiddenGroup& g) {
  Connection c{.group = g.index, .path = PathClass::Windowed};
  c.hidden_paths        = reached_members(find, r.y, g, false);
  c.tail                = cut_region(find.flow, {r.y}, g.exits(), find.inside(g.index, false));
  const auto proven     = proven_layout(r.call, g, c.tail.program);
  c.position_preserving = proven.has_value();
  c.y_layout            = proven ? proven : RelationFinder::layout_by_shape(r.call, g);
  c.has_direct_path     = !c.hidden_paths.empty();
  if (!c.has_direct_path || !c.y_layout) {
    c.hidden_paths = reached_members(find, r.y, g, true);
  } else {
    const Region all          = cut_region(find.flow, {r.y}, g.exits(), find.inside(g.index, true));
    const bool   also_through = std::any_of(all.eqns.begin(), all.eqns.end(),
                                            [&](int32_t e) { return find.blocks(find.flow.program.eqns[e]); });
    c.path                    = also_through ? PathClass::Mixed : PathClass::Direct;
  }
  c.path_classification.assign(c.hidden_paths.size(), c.path);
  return c;
}

// Weights of the products between y and the groups it reaches through products only: leaves from which operands of
// these products are computed, except those from y, without passing other products.
std::vector<Path> weights_passed(const RelationFinder& find, const HiddenParamOpRelation& r) {
  std::vector<Path> out;
  for (const Connection& c : r.connections) {
    if (c.has_direct_path) continue;
    const Stops             stops = find.inside(c.group, true);
    const Vars              after = reach_forward(find.flow, {r.y}, stops);
    std::unordered_set<Var> seen(after.begin(), after.end());
    const Region            way = cut_region(find.flow, {r.y}, find.groups[c.group].exits(), stops);
    Vars                    queue;
    for (int32_t e : way.eqns)
      if (find.blocks(find.flow.program.eqns[e]))
        queue.insert(queue.end(), find.flow.program.eqns[e].in.begin(), find.flow.program.eqns[e].in.end());
    for (size_t i = 0; i < queue.size(); ++i) {
      const Var v = queue[i];
      if (!seen.insert(v).second) continue;
      if (find.weight_of[v] >= 0) {
        const Path& p = find.info.weights[find.weight_of[v]].path;
        if (std::find(out.begin(), out.end(), p) == out.end() && p != r.weight_path) out.push_back(p);
      }
      const int32_t e = find.flow.producer[v];
      if (e < 0 || find.blocks(find.flow.program.eqns[e])) continue;
      const Vars& in = find.flow.program.eqns[e].in;
      queue.insert(queue.end(), in.begin(), in.end());
    }
  }
  return out;
}

// Why the group has no trace, or a trace of only its direct part.
void explain_connection(RelationFinder& find, const HiddenParamOpRelation& r, const Connection& c) {
  if (c.path == PathClass::Mixed)
    find.record(DiagnosticKind::RelationPartialPath, DiagnosticLevel::Warning, r,
                "part of its path to the state passes through another product: the trace covers the direct part, a "
                "window the rest",
                c.hidden_paths);
  if (c.path != PathClass::Windowed && !c.position_preserving)
    find.record(
        DiagnosticKind::RelationTailMovesPositions, DiagnosticLevel::Warning, r,
        "positions are moved or mixed between the operation and the state: the trace keeps the true diagonal blocks",
        c.hidden_paths);
  if (c.path == PathClass::Windowed && c.has_direct_path)
    find.record(
        DiagnosticKind::RelationWindowed, DiagnosticLevel::Warning, r,
        fmt::format("its result {} does not match the positions {} of the state: exact inside a window, no trace "
                    "across windows",
                    to_string(r.call.y.shape), to_string(find.groups[c.group].varshape)),
        c.hidden_paths);
}

void explain(RelationFinder& find, const HiddenParamOpRelation& r) {
  std::vector<Path> traced, beyond;  // states along a trace, states after another product
  for (const Connection& c : r.connections) {
    explain_connection(find, r, c);
    if (c.path != PathClass::Windowed) traced.insert(traced.end(), c.hidden_paths.begin(), c.hidden_paths.end());
    if (!c.has_direct_path) beyond.insert(beyond.end(), c.hidden_paths.begin(), c.hidden_paths.end());
  }
  if (r.carries_trace())
    find.record(DiagnosticKind::RelationIncluded, DiagnosticLevel::Info, r,
                fmt::format("{} of {} carries an eligibility trace", r.primitive(), r.weight_path.tuple()), traced);
  if (beyond.empty()) return;
  std::string through;
  for (const Path& p : r.through) through += (through.empty() ? "" : ", ") + p.str();
  find.record(DiagnosticKind::RelationWindowed, DiagnosticLevel::Info, r,
              fmt::format("it reaches {} only through another product ({}): exact inside a window, no trace across "
                          "windows",
                          r.carries_trace() ? "these states" : "hidden states",
                          through.empty() ? "one without a parameter" : through),
              beyond);
}

// Trainable operations that only compute weights of others (W = f(matmul(c, V)), then matmul(x, W)): the relation of
// the operation that reads W has V among its leaves.
std::set<int> operations_in_chains(const RelationFinder& find) {
  const Program&               p = find.flow.program;
  std::map<int, std::set<int>> readers;  // of each operation in a chain: those whose weights it computes
  std::map<int, std::set<Var>> made;     // of each of these: the operands that a chain computes
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    const Eqn& e = p.eqns[i];
    if (!e.op->etp) continue;
    const EtpCall call{e.op, e.attrs, p.types_of(e.in), p.type(e.out[0])};
    for (const EtpWeight& w : e.op->etp->weights(call))
      for (int32_t in_chain : find.trainable(w, 0, e.in[w.operand]).chain.eqns)
        if (p.eqns[in_chain].op->etp) {
          readers[in_chain].insert(static_cast<int>(i));
          made[static_cast<int>(i)].insert(e.in[w.operand]);
        }
  }
  std::set<int> out;
  for (const auto& [eqn, by] : readers) {
    const auto is_reader = [&, &by = by](const Eqn& e) { return by.contains(static_cast<int>(&e - p.eqns.data())); };
    bool       elsewhere = false;  // it reaches a state, or an operand of a reader that is not a weight
    for (Var v : reach_forward(find.flow, {p.eqns[eqn].out[0]}, {.eqn = is_reader})) {
      elsewhere = elsewhere || find.group_of_exit[v] >= 0;
      for (int reader : by)
        elsewhere =
            elsewhere || (std::find(p.eqns[reader].in.begin(), p.eqns[reader].in.end(), v) != p.eqns[reader].in.end() &&
                          !made[reader].contains(v));
    }
    if (!elsewhere) out.insert(eqn);
  }
  return out;
}

// Whether y affects a state that the step leaves behind.
bool reaches_later_steps(const RelationFinder& find, Var y) {
  const Vars kept = split(find.info.program().results, find.info.step.result_sizes()).writes;
  const Vars met  = reach_forward(find.flow, {y});
  return std::any_of(kept.begin(), kept.end(), [&](Var v) { return contains(met, v); });
}

std::string why_without_trace(const RelationFinder& find, Var y) {
  if (!candidate_groups(find, y, true).empty())
    return "stop_gradient cuts all its paths to hidden states; it gets the same-step gradient only";
  if (reaches_later_steps(find, y))
    return "it does not affect any hidden state in the same step; it gets the same-step gradient only";
  return "it affects no later step and needs no trace; its same-step gradient is exact";
}

// Fills r.connections; returns false and records the reason if the weight reaches no hidden state.
bool connect_all(RelationFinder& find, HiddenParamOpRelation& r) {
  for (int g : candidate_groups(find, r.y)) r.connections.push_back(connect(find, r, find.groups[g]));
  if (r.connections.empty()) {
    find.record(DiagnosticKind::RelationExcludedNonTemporal, DiagnosticLevel::Warning, r, why_without_trace(find, r.y));
    return false;
  }
  r.through = weights_passed(find, r);
  explain(find, r);
  return r.carries_trace() || find.options.tail == TailPolicy::Window;
}

}  // namespace

std::string_view name_of(PathClass c) {
  constexpr std::string_view names[] = {"all_direct", "mixed", "windowed"};
  return names[static_cast<size_t>(c)];
}

bool HiddenParamOpRelation::carries_trace() const {
  return std::any_of(connections.begin(), connections.end(),
                     [](const Connection& c) { return c.path != PathClass::Windowed; });
}

std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_minfo(const ModuleInfo&               info,
                                                                             const std::vector<HiddenGroup>& groups,
                                                                             const CompileOptions&           options,
                                                                             Diagnostics&                    log) {
  RelationFinder                     find(info, groups, options, log);
  std::vector<HiddenParamOpRelation> relations;
  const std::set<int>                in_chains = operations_in_chains(find);
  for (size_t i = 0; i < find.flow.program.eqns.size(); ++i) {
    if (!find.flow.program.eqns[i].op->etp || in_chains.contains(static_cast<int>(i))) continue;
    auto r = find.relation_of(static_cast<int>(i));
    if (r && (options.as_reference ? connect_as_reference(find, *r) : connect_all(find, *r)))
      relations.push_back(std::move(*r));
  }
  return relations;
}

}  // namespace braintrace
