// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/relation_finder.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace braintrace {

RelationFinder::RelationFinder(const ModuleInfo& info, const std::vector<HiddenGroup>& groups,
                               const CompileOptions& options, Diagnostics& log)
    : info(info),
      groups(groups),
      options(options),
      log(log),
      flow(info.program(), info.entries()),
      group_of_exit(info.program().types.size(), -1),
      weight_of(info.program().types.size(), -1),
      varies(info.program().types.size()) {
  for (const HiddenGroup& g : groups)
    for (Var v : g.exits()) group_of_exit[v] = g.index;
  for (size_t i = 0; i < info.weights.size(); ++i) weight_of[info.weights[i].var] = static_cast<int>(i);
  for (Var v : info.program().args) varies[v] = weight_of[v] < 0;
  for (const Eqn& e : info.program().eqns)
    for (Var v : e.out) varies[v] = std::any_of(e.in.begin(), e.in.end(), [&](Var in) { return varies[in]; });
}

bool RelationFinder::ends_chain(const Eqn& e) const {
  if (e.op->etp) return options.as_reference || varies[e.out[0]];
  return !options.as_reference && is_plain_product(*e.op);
}

Vars RelationFinder::behind(Var operand, const std::function<bool(const Eqn&)>& ends) const {
  Vars          found{operand};
  std::set<Var> seen{operand};
  for (size_t i = 0; i < found.size(); ++i) {
    const int32_t e = flow.producer[found[i]];
    if (e < 0 || ends(flow.program.eqns[e])) continue;
    for (Var in : flow.program.eqns[e].in)
      if (seen.insert(in).second) found.push_back(in);
  }
  return found;
}

bool RelationFinder::passes_varying(Var operand) const {
  const Vars values = behind(operand, [this](const Eqn& e) { return ends_chain(e); });
  return std::any_of(values.begin(), values.end(), [this](Var v) {
    const int32_t e = flow.producer[v];
    return e >= 0 && flow.program.eqns[e].op->etp && ends_chain(flow.program.eqns[e]);
  });
}

bool RelationFinder::blocks(const Eqn& e) const {
  return options.as_reference ? is_mixing_etp(*e.op) : flow.is_product(e);
}

bool RelationFinder::cuts(const Eqn& e) const { return !options.as_reference && is_stop_gradient(*e.op); }

Stops RelationFinder::inside(int group, bool through_products) const {
  Stops s;
  s.value = [this, group](Var v) { return group_of_exit[v] >= 0 && group_of_exit[v] != group; };
  s.eqn   = [this, through_products](const Eqn& e) { return cuts(e) || (!through_products && blocks(e)); };
  return s;
}

std::optional<Shape> RelationFinder::layout_by_shape(const EtpCall& call, const HiddenGroup& group) {
  const Shape &y = call.y.shape, &h = group.varshape;
  if (size_of(y) == size_of(h)) return h;
  if (call.op->etp->mixes || y.size() > h.size()) return std::nullopt;
  Shape laid(h.size() - y.size(), 1);
  laid.insert(laid.end(), y.begin(), y.end());
  for (size_t i = 0; i < h.size(); ++i)
    if (laid[i] != 1 && laid[i] != h[i]) return std::nullopt;
  return laid;
}

void RelationFinder::record(DiagnosticKind kind, DiagnosticLevel level, const HiddenParamOpRelation& r,
                            std::string message, std::vector<Path> hidden) {
  log.push_back({kind, level, std::move(message), r.primitive(), r.weight_path, std::move(hidden)});
}

Trainable RelationFinder::trainable(const EtpWeight& w, int index, Var operand) const {
  Trainable  t{std::string(w.key), index, operand, w.operand, {}, {}, {}};
  const bool alone = passes_varying(operand);
  const auto ends  = [&](const Eqn& e) { return ends_chain(e) || (alone && e.op->etp); };
  Vars       leaves;
  for (Var v : behind(operand, ends))
    if (weight_of[v] >= 0) t.leaves.push_back(weight_of[v]);
  if (options.as_reference && t.leaves.size() > 1) t.leaves.resize(1);  // the first parameter found
  std::sort(t.leaves.begin(), t.leaves.end());
  for (int l : t.leaves) leaves.push_back(info.weights[l].var);
  t.chain = cut_region(flow, leaves, {operand}, {.eqn = ends});
  for (const Eqn& e : t.chain.program.eqns)
    if (std::find(t.chain_ops.begin(), t.chain_ops.end(), e.op->name) == t.chain_ops.end())
      t.chain_ops.emplace_back(e.op->name);
  return t;
}

std::optional<HiddenParamOpRelation> RelationFinder::relation_of(int eqn) {
  const Eqn&            e = flow.program.eqns[eqn];
  HiddenParamOpRelation r;
  r.eqn  = eqn;
  r.call = {e.op, e.attrs, flow.program.types_of(e.in), flow.program.type(e.out[0])};
  r.x    = e.op->etp->x >= 0 ? e.in[e.op->etp->x] : -1;
  r.y    = e.out[0];
  if (e.out.size() > 1) {
    CompilationRecord many{DiagnosticKind::MultiOutputPrimitiveDetected, DiagnosticLevel::Info,
                           fmt::format("the operation has {} results; its trace follows the first", e.out.size())};
    many.primitive = r.primitive();
    log.push_back(std::move(many));
  }
  const auto weights = e.op->etp->weights(r.call);
  for (size_t k = 0; k < weights.size(); ++k) {
    Trainable t = trainable(weights[k], static_cast<int>(k), e.in[weights[k].operand]);
    if (!t.leaves.empty()) {
      r.trainables.push_back(std::move(t));
      continue;
    }
    CompilationRecord record{DiagnosticKind::TrainableInvarNotParamState, DiagnosticLevel::Info,
                             fmt::format("operand '{}' does not come from a parameter", weights[k].key)};
    record.primitive      = r.primitive();
    record.context["key"] = weights[k].key;
    log.push_back(std::move(record));
  }
  if (r.trainables.empty()) {
    record(DiagnosticKind::RelationExcludedNoParamState, DiagnosticLevel::Warning, r,
           "no operand of this operation comes from a parameter, so nothing learns through it");
    return std::nullopt;
  }
  r.weight_path = info.weights[r.trainables[0].leaves[0]].path;
  return r;
}

}  // namespace braintrace
