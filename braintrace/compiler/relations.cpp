// SPDX-License-Identifier: Apache-2.0
// Relations: which weights reach which hidden groups through which trainable operation.
//
//   direct     y reaches the group without passing another product or another group
//   mixed      it does so, and also through another product
//   windowed   only through another product: credit flows inside a window, no trace is kept
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/graph.h"
#include "braintrace/compiler/positions.h"

namespace braintrace {

namespace {

struct RelationFinder {
  const ModuleInfo&               info;
  const std::vector<HiddenGroup>& groups;
  const CompileOptions&           options;
  Diagnostics&                    log;
  Flow                            flow{info.program()};
  std::vector<int>                group_of_exit = std::vector<int>(info.program().types.size(), -1);
  std::vector<int>                weight_of     = std::vector<int>(info.program().types.size(), -1);

  void index_values() {
    for (const HiddenGroup& g : groups)
      for (Var v : g.exits()) group_of_exit[v] = g.index;
    for (size_t i = 0; i < info.weights.size(); ++i) weight_of[info.weights[i].var] = static_cast<int>(i);
  }

  // What a tail does not pass.
  bool blocks(const Eqn& e) const { return is_mixing_etp(*e.op) || (!options.as_reference && is_plain_product(*e.op)); }
  Stops inside(int group, bool through_products) const {
    Stops s;
    s.value = [this, group](Var v) { return group_of_exit[v] >= 0 && group_of_exit[v] != group; };
    if (!through_products) s.eqn = [this](const Eqn& e) { return blocks(e); };
    return s;
  }

  // Leaves behind an operand, not looking through trainable operations.
  Trainable trainable(const EtpWeight& w, int index, Var operand) const {
    Trainable     t{std::string(w.key), index, operand, {}, {}, {}};
    const auto    etp_result = [](const Eqn& e) { return e.op->etp != nullptr; };
    Vars          queue{operand}, leaves;
    std::set<Var> seen{operand};
    for (size_t i = 0; i < queue.size(); ++i) {
      if (weight_of[queue[i]] >= 0) t.leaves.push_back(weight_of[queue[i]]);
      const int32_t e = flow.producer[queue[i]];
      if (e < 0 || etp_result(flow.program.eqns[e])) continue;
      for (Var in : flow.program.eqns[e].in)
        if (seen.insert(in).second) queue.push_back(in);
    }
    if (options.as_reference && t.leaves.size() > 1) t.leaves.resize(1);
    std::sort(t.leaves.begin(), t.leaves.end());
    for (int l : t.leaves) leaves.push_back(info.weights[l].var);
    t.chain = cut_region(flow, leaves, {operand}, {.eqn = etp_result});
    for (const Eqn& e : t.chain.program.eqns)
      if (std::find(t.chain_ops.begin(), t.chain_ops.end(), e.op->name) == t.chain_ops.end())
        t.chain_ops.emplace_back(e.op->name);
    return t;
  }

  // Groups whose exits are the first that y meets, in order of discovery; products may be passed.
  std::vector<int> candidate_groups(Var y) const {
    std::vector<int> out;
    Stops            stops;
    stops.value = [this](Var v) { return group_of_exit[v] >= 0; };
    for (Var v : reach_forward(flow, {y}, stops))
      if (group_of_exit[v] >= 0 && std::find(out.begin(), out.end(), group_of_exit[v]) == out.end())
        out.push_back(group_of_exit[v]);
    return out;
  }

  std::vector<Path> reached_members(Var y, const HiddenGroup& g, bool through_products) const {
    std::vector<Path> out;
    for (Var v : reach_forward(flow, {y}, inside(g.index, through_products)))
      for (const HiddenVar& h : g.hidden)
        if (h.out == v) out.push_back(h.path);
    return out;
  }

  Connection connect(const HiddenParamOpRelation& r, const HiddenGroup& g) const {
    Connection c{g.index, PathClass::Windowed, {}, {}, true};
    c.hidden_paths         = reached_members(r.y, g, false);
    const bool   same_size = size_of(r.call.y.shape) == size_of(g.varshape) || !r.call.op->etp->mixes;
    const Region all       = cut_region(flow, {r.y}, g.exits(), inside(g.index, true));
    c.tail                 = cut_region(flow, {r.y}, g.exits(), inside(g.index, false));
    if (c.hidden_paths.empty() || !same_size) {
      c.hidden_paths = reached_members(r.y, g, true);
      return c;
    }
    const bool also_through =
        std::any_of(all.program.eqns.begin(), all.program.eqns.end(), [&](const Eqn& e) { return blocks(e); });
    c.path                = also_through ? PathClass::Mixed : PathClass::Direct;
    const PositionMap map = follow_positions(c.tail.program, 0);
    for (size_t k = 0; k < g.members.size(); ++k)
      c.position_preserving &= keeps_positions(map, c.tail.program, 0, k, r.call.y.rank(),
                                               static_cast<int>(g.varshape.size()), !r.call.op->etp->mixes);
    return c;
  }

  // Weights of the products between y and the groups it reaches.
  std::vector<Path> weights_passed(const HiddenParamOpRelation& r) const {
    std::vector<Path> out;
    for (const Connection& c : r.connections) {
      const Region all = cut_region(flow, {r.y}, groups[c.group].exits(), inside(c.group, true));
      for (size_t k = 0; k < all.program.constants.size(); ++k)
        for (Var v : reach_backward(flow, {all.constants[k]})) {
          if (weight_of[v] < 0) continue;
          const Path& p = info.weights[weight_of[v]].path;
          if (std::find(out.begin(), out.end(), p) == out.end() && p != r.weight_path) out.push_back(p);
        }
    }
    return out;
  }

  void record(DiagnosticKind kind, DiagnosticLevel level, const HiddenParamOpRelation& r, std::string message,
              std::vector<Path> hidden = {}) {
    log.push_back({kind, level, std::move(message), r.primitive(), r.weight_path, std::move(hidden)});
  }

  bool resolve_weights(HiddenParamOpRelation& r, const Eqn& e) {
    const auto weights = e.op->etp->weights(r.call);
    for (size_t k = 0; k < weights.size(); ++k) {
      Trainable t = trainable(weights[k], static_cast<int>(k), e.in[weights[k].operand]);
      if (!t.leaves.empty()) {
        r.trainables.push_back(std::move(t));
        continue;
      }
      log.push_back({DiagnosticKind::TrainableInvarNotParamState,
                     DiagnosticLevel::Info,
                     fmt::format("operand '{}' does not come from a parameter", weights[k].key),
                     r.primitive(),
                     {},
                     {},
                     {{"key", std::string(weights[k].key)}}});
    }
    if (!r.trainables.empty()) {
      r.weight_path = info.weights[r.trainables[0].leaves[0]].path;
      return true;
    }
    record(DiagnosticKind::RelationExcludedNoParamState, DiagnosticLevel::Warning, r,
           "no operand of this operation comes from a parameter, so nothing learns through it");
    return false;
  }

  // Records of an accepted or windowed relation.
  void explain(const HiddenParamOpRelation& r) {
    std::vector<Path> hidden;
    for (const Connection& c : r.connections) {
      hidden.insert(hidden.end(), c.hidden_paths.begin(), c.hidden_paths.end());
      if (c.path == PathClass::Mixed)
        record(
            DiagnosticKind::RelationPartialPath, DiagnosticLevel::Warning, r,
            "part of its way to the state passes another product: the trace follows the direct part, a window the rest",
            c.hidden_paths);
      if (c.path != PathClass::Windowed && !c.position_preserving)
        record(DiagnosticKind::RelationTailMovesPositions, DiagnosticLevel::Warning, r,
               "positions are moved or mixed between the operation and the state: the trace keeps the true diagonal "
               "blocks",
               c.hidden_paths);
    }
    if (r.carries_trace()) {
      record(DiagnosticKind::RelationIncluded, DiagnosticLevel::Info, r,
             fmt::format("{} of {} carries an eligibility trace", r.primitive(), r.weight_path.tuple()), hidden);
      return;
    }
    std::string through;
    for (const Path& p : r.through) through += (through.empty() ? "" : ", ") + p.tuple();
    record(DiagnosticKind::RelationExcludedWeightToWeight, DiagnosticLevel::Info, r,
           fmt::format("it reaches hidden states only through another product ({}): exact inside a window, no trace "
                       "across windows",
                       through.empty() ? "a plain one" : through),
           hidden);
  }
};

}  // namespace

std::string_view name_of(PathClass c) {
  constexpr std::string_view names[] = {"all_direct", "mixed", "windowed"};
  return names[static_cast<size_t>(c)];
}

bool HiddenParamOpRelation::carries_trace() const {
  return std::any_of(connections.begin(), connections.end(),
                     [](const Connection& c) { return c.path != PathClass::Windowed; });
}

std::vector<HiddenParamOpRelation> find_relations(const ModuleInfo& info, const std::vector<HiddenGroup>& groups,
                                                  const CompileOptions& options, Diagnostics& log) {
  RelationFinder find{info, groups, options, log};
  find.index_values();
  std::vector<HiddenParamOpRelation> relations;
  for (size_t i = 0; i < find.flow.program.eqns.size(); ++i) {
    const Eqn& e = find.flow.program.eqns[i];
    if (!e.op->etp) continue;
    HiddenParamOpRelation r;
    r.eqn  = static_cast<int>(i);
    r.call = {e.op, &e.attrs, find.flow.program.types_of(e.in), find.flow.program.type(e.out[0])};
    r.x    = e.op->etp->x >= 0 ? e.in[e.op->etp->x] : -1;
    r.y    = e.out[0];
    if (!find.resolve_weights(r, e)) continue;
    for (int g : find.candidate_groups(r.y)) {
      r.connections.push_back(find.connect(r, groups[g]));
      r.hidden_groups.push_back(g);
    }
    if (r.connections.empty()) {
      find.record(DiagnosticKind::RelationExcludedNonTemporal, DiagnosticLevel::Warning, r,
                  "it reaches no hidden state in the same step; its gradient is the same-step one");
      continue;
    }
    if (!r.carries_trace()) r.through = find.weights_passed(r);
    find.explain(r);
    if (r.carries_trace() || options.tail == TailPolicy::Window) relations.push_back(std::move(r));
  }
  return relations;
}

}  // namespace braintrace
