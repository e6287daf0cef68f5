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

struct Finder {
  const ModuleInfo&               info;
  const Flow&                     flow;
  const std::vector<HiddenGroup>& groups;
  Diagnostics&                    log;
  std::vector<int>                group_of_exit;  // of each value: group index, or -1

  Mask exits_of_others(int g) const {
    Mask held(flow.program.types.size());
    for (size_t v = 0; v < held.size(); ++v) held[v] = group_of_exit[v] >= 0 && group_of_exit[v] != g;
    return held;
  }
  Vars exits(const HiddenGroup& g) const {
    Vars out;
    for (int m : g.members) out.push_back(info.hidden[m].out);
    return out;
  }

  // Leaves behind an operand, not looking through trainable operations.
  Trainable trainable(const EtpWeight& w, int index, Var operand) const {
    Trainable     t{std::string(w.key), index, operand, {}, {}};
    const auto    etp_result = [](const Eqn& e) { return e.op->etp != nullptr; };
    Vars          stack{operand}, leaves;
    std::set<Var> seen{operand};
    while (!stack.empty()) {
      const Var v = stack.back();
      stack.pop_back();
      for (size_t i = 0; i < info.weights.size(); ++i)
        if (info.weights[i].var == v) t.leaves.push_back(static_cast<int>(i));
      const int32_t e = flow.producer[v];
      if (e < 0 || etp_result(flow.program.eqns[e])) continue;
      for (Var in : flow.program.eqns[e].in)
        if (seen.insert(in).second) stack.push_back(in);
    }
    std::sort(t.leaves.begin(), t.leaves.end());
    for (int l : t.leaves) leaves.push_back(info.weights[l].var);
    t.chain = cut_region(flow, leaves, {operand}, {.eqn = etp_result});
    return t;
  }

  Connection connect(const HiddenParamOpRelation& r, const HiddenGroup& g) const {
    const Mask held    = exits_of_others(g.index);
    const auto mixing  = [](const Eqn& e) { return is_mixing_etp(*e.op); };
    const auto to      = exits(g);
    auto       reaches = [&](const Vars& reached) {
      return std::any_of(to.begin(), to.end(),
                               [&](Var v) { return std::find(reached.begin(), reached.end(), v) != reached.end(); });
    };
    Connection c{g.index, PathClass::Direct, {}, true};
    const Vars all = reach_forward(flow, {r.y}, {.value = &held});
    if (!reaches(all)) {
      c.group = -1;
      return c;
    }
    c.tail                   = cut_region(flow, {r.y}, to, {.eqn = mixing, .value = &held});
    const bool through_plain = std::any_of(c.tail.program.eqns.begin(), c.tail.program.eqns.end(),
                                           [](const Eqn& e) { return is_plain_product(*e.op); });
    const bool direct        = reaches(reach_forward(flow, {r.y}, {.eqn = mixing, .value = &held})) && !through_plain &&
                        (size_of(r.call.y.shape) == size_of(g.varshape) || !r.call.op->etp->mixes);
    if (!direct) {
      c.path = PathClass::Windowed;
      return c;
    }
    const Region everything = cut_region(flow, {r.y}, to, {.value = &held});
    const bool   also_mixed = std::any_of(everything.program.eqns.begin(), everything.program.eqns.end(), mixing);
    c.path                  = also_mixed ? PathClass::Mixed : PathClass::Direct;
    const PositionMap map   = follow_positions(c.tail.program, 0);
    for (size_t k = 0; k < to.size(); ++k)
      c.position_preserving &= keeps_positions(map, c.tail.program, 0, k, r.call.y.rank(),
                                               static_cast<int>(g.varshape.size()), !r.call.op->etp->mixes);
    return c;
  }

  void record(DiagnosticKind kind, DiagnosticLevel level, const HiddenParamOpRelation& r, std::string message) const {
    std::vector<Path> hidden;
    for (const Connection& c : r.connections)
      for (const Path& p : groups[c.group].hidden_paths) hidden.push_back(p);
    log.push_back({kind, level, std::move(message), r.primitive(), r.weight_path, std::move(hidden)});
  }
};

}  // namespace

bool HiddenParamOpRelation::carries_trace() const {
  return std::any_of(connections.begin(), connections.end(),
                     [](const Connection& c) { return c.path != PathClass::Windowed; });
}

std::vector<HiddenParamOpRelation> find_relations(const ModuleInfo& info, const Flow& flow,
                                                  const std::vector<HiddenGroup>& groups, Diagnostics& log) {
  Finder find{info, flow, groups, log, std::vector<int>(flow.program.types.size(), -1)};
  for (const HiddenGroup& g : groups)
    for (Var v : find.exits(g)) find.group_of_exit[v] = g.index;

  std::vector<HiddenParamOpRelation> relations;
  for (size_t i = 0; i < flow.program.eqns.size(); ++i) {
    const Eqn& e = flow.program.eqns[i];
    if (!e.op->etp) continue;
    HiddenParamOpRelation r;
    r.eqn              = static_cast<int>(i);
    r.call             = {e.op, &e.attrs, flow.program.types_of(e.in), flow.program.type(e.out[0])};
    r.x                = e.op->etp->x >= 0 ? e.in[e.op->etp->x] : -1;
    r.y                = e.out[0];
    const auto weights = e.op->etp->weights(r.call);
    for (size_t k = 0; k < weights.size(); ++k) {
      Trainable t = find.trainable(weights[k], static_cast<int>(k), e.in[weights[k].operand]);
      if (!t.leaves.empty()) r.trainables.push_back(std::move(t));
    }
    if (r.trainables.empty()) {
      find.record(DiagnosticKind::RelationExcludedNoParamState, DiagnosticLevel::Warning, r,
                  "no operand comes from a parameter");
      continue;
    }
    r.weight_path = info.weights[r.trainables[0].leaves[0]].path;
    for (const HiddenGroup& g : groups)
      if (Connection c = find.connect(r, g); c.group >= 0) {
        r.connections.push_back(std::move(c));
        r.hidden_groups.push_back(g.index);
      }
    if (r.connections.empty()) {
      find.record(DiagnosticKind::RelationExcludedNonTemporal, DiagnosticLevel::Warning, r,
                  "it reaches no hidden state in the same step and gets the same-step gradient");
      continue;
    }
    if (r.carries_trace())
      find.record(DiagnosticKind::RelationIncluded, DiagnosticLevel::Info, r, "it carries an eligibility trace");
    else
      find.record(
          DiagnosticKind::RelationExcludedWeightToWeight, DiagnosticLevel::Info, r,
          "it reaches hidden states only through another product: exact inside a window, no trace across windows");
    relations.push_back(std::move(r));
  }
  return relations;
}

}  // namespace braintrace
