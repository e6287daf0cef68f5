// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/step.h"

#include <algorithm>
#include <set>

#include "braintrace/compiler/trace_type.h"
#include "braintrace/control/scan.h"
#include "braintrace/executor/blocks.h"
#include "braintrace/executor/check_finite.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

Tensor last_row(const Tensor& t) { return row(t, t.shape()[0] - 1); }
Tensor but_last_row(const Tensor& t) { return slice_axis(t, 0, 0, t.shape()[0] - 1); }

void scatter_ids(const Vars& at, const Vars& ids, Vars& all) {
  for (size_t i = 0; i < at.size(); ++i) all[at[i]] = ids[i];
}

bool passes_trainable(const Region& chain) {
  return std::any_of(chain.program.eqns.begin(), chain.program.eqns.end(), [](const Eqn& e) { return e.op->etp; });
}

}  // namespace

std::vector<TraceSite> trace_sites(const ETraceGraph& graph) {
  std::vector<TraceSite> out;
  for (size_t r = 0; r < graph.hidden_param_op_relations.size(); ++r) {
    const auto& relation = graph.hidden_param_op_relations[r];
    for (size_t c = 0; c < relation.connections.size(); ++c) {
      const Connection& connection = relation.connections[c];
      if (connection.path == PathClass::Windowed) continue;
      const EtpCall call = call_at_group(relation, connection, graph.hidden_groups[connection.group]);
      for (size_t k = 0; k < relation.trainables.size(); ++k)
        out.push_back({static_cast<int>(r), static_cast<int>(c), static_cast<int>(k), connection.group,
                       relation.trainables[k].weight, call});
    }
  }
  return out;
}

Mask traced_inputs(const ETraceGraph& graph) {
  const ModuleInfo& info = graph.module_info;
  Mask              out(info.program().args.size());
  for (const HiddenParamOpRelation& r : graph.hidden_param_op_relations)
    if (r.carries_trace())
      for (const Trainable& t : r.trainables)
        for (int leaf : t.leaves) out[input_index(info, info.weights[leaf].var)] = true;
  return out;
}

DType state_dtype(const ETraceGraph& graph, const HiddenGroup& g) {
  return graph.module_info.program().type(g.hidden[0].out).dtype;
}

Tensor row(const Tensor& t, int64_t i) { return squeeze(slice_axis(t, 0, i, i + 1), {0}); }
Tensor repeated(const Tensor& t, int64_t n) { return broadcast_to(expand_dims(t, 0), stacked(t.type(), n).shape); }
Type   stacked(Type type, int64_t n) {
    type.shape.insert(type.shape.begin(), n);
    return type;
}

Tensors per_group(const ETraceGraph& graph, const std::function<Tensor(const HiddenVar&)>& of) {
  Tensors out;
  for (const HiddenGroup& g : graph.hidden_groups) {
    Tensors members;
    for (const HiddenVar& h : g.hidden) members.push_back(of(h));
    out.push_back(g.concat_hidden(members));
  }
  return out;
}

StateMap hidden_states_of(const ETraceGraph& graph) {
  StateMap out;
  for (const HiddenVar& h : graph.module_info.hidden) out.emplace_back(h.path, h.state);
  return out;
}
Tensors hidden_per_group(const ETraceGraph& graph) {
  return per_group(graph, [](const HiddenVar& h) { return h.state.value(); });
}

size_t input_index(const ModuleInfo& info, Var v) { return index_of(info.program().args, v); }

Tensor as_output(const EtpCall& call, const HiddenGroup& g, const Tensor& t) {
  return reshape(t, joined(call.y.shape, part(t.shape(), static_cast<int64_t>(g.varshape.size()), t.rank())));
}

Step::Step(const ETraceGraph& graph, const Tensors& inputs, const Tensor& when)
    : graph_(graph),
      info_(graph.module_info),
      flow_(info_.program(), info_.entries()),
      is_exit_(info_.program().types.size()),
      follows_(info_.program().types.size()),
      values_(info_.program().types.size()) {
  const Program& p = info_.program();
  for (const HiddenVar& h : info_.hidden) is_exit_[h.out] = true;
  Vars y;
  for (const auto& relation : graph.hidden_param_op_relations) y.push_back(relation.y);
  for (Var v : reach_forward(flow_, y)) follows_[v] = true;
  Tensors seen = inputs;
  for (size_t i = 0; when.defined() && i < seen.size(); ++i)
    seen[i] = checked_finite(seen[i], when, describe_input(info_, i));
  bind_inputs(p, joined(info_.step.constants, seen), values_);
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    const Eqn& e = p.eqns[i];
    EqnNote    note(p, e);
    Tensors    out = apply(*e.op, gather(values_, e.in), e.attrs);
    if (when.defined())
      for (Tensor& t : out) t = checked_finite(t, when, describe_equation(info_, i));
    scatter(values_, e.out, out);
  }
  // The perturbed step duplicates the plain one; common-subexpression elimination merges them later.
  const HiddenPerturbation perturbed = add_hidden_perturbation_from_minfo(info_);
  const Tensors            in        = joined(inputs, perturbed.init_perturb_data());
  vjp_                               = vjp(perturbed.program, joined(info_.step.constants, in),
                                           joined(Mask(info_.step.constants.size(), false), Mask(in.size(), true)));
}

Tensors Step::results() const { return gather(values_, info_.program().results); }

Tensors Step::operands(int relation) const {
  const auto& r = graph_.hidden_param_op_relations[relation];
  if (!r.descent) return gather(values_, info_.program().eqns[r.eqn].in);
  Tensors out;
  for (Var v : r.substep_operands) {
    const Tensor& t = values_[r.descent->outer[v]];
    out.push_back(r.descent->stacked[v] ? last_row(t) : t);
  }
  return out;
}

Tensor Step::over_substeps(int relation, int connection, const Term& f) {
  const auto&   r   = graph_.hidden_param_op_relations[relation];
  const Tensor& D_f = this->D_f(relation, connection);
  if (!D_f.defined()) return {};
  const Tensors at_end = operands(relation);
  if (!r.descent) return f(D_f, at_end);
  SubstepRows<Tensors> rows{{but_last_row(D_f)}, {}};
  for (Var v : r.substep_operands)
    if (r.descent->stacked[v]) rows.values.push_back(but_last_row(values_[r.descent->outer[v]]));
  const ScanBody body = [&](const Tensors& sum, const Tensors& row) -> ScanResult {
    const auto in   = split(row, rows);
    Tensors    now  = at_end;
    size_t     next = 0;
    for (size_t i = 0; i < now.size(); ++i)
      if (r.descent->stacked[r.substep_operands[i]]) now[i] = in.values[next++];
    return {{sum[0] + f(in.factor[0], now)}, {}};
  };
  return scan(body, {f(last_row(D_f), at_end)}, joined(rows), {.length = r.descent->length - 1}).carry[0];
}

const Tensor& Step::D(int group) {
  const auto [it, is_new] = D_.try_emplace(group);
  if (is_new) it->second = transition_blocks(graph_.hidden_groups[group], values_);
  return it->second;
}

const Tensor& Step::D_f(int relation, int connection) {
  const auto [it, is_new] = D_f_.try_emplace({relation, connection});
  if (is_new) {
    const auto& r = graph_.hidden_param_op_relations[relation];
    const auto& c = r.connections[connection];
    it->second    = tail_blocks(graph_.hidden_groups[c.group], r, c, values_);
  }
  return it->second;
}

Step::SameStep Step::pull(const Tensors& ct) const {
  const HiddenPerturbation::Inputs<size_t> n{info_.program().args.size(), info_.hidden.size()};
  const auto                               found = split(vjp_.pullback(ct), n);
  SameStep                                 out{found.step, {}, {}};
  for (const HiddenGroup& g : graph_.hidden_groups) {
    out.L.push_back(signal(g, found.perturbation));
    out.O.push_back(old_credit(g, ct));
  }
  return out;
}

Tensor Step::output_cotangent(const Tensors& ct) const {
  if (info_.output < 0) return ct.at(0);
  const Region around = cut_region(flow_, {info_.output}, info_.program().results);
  const Tensor delta  = pull_region(around, {values_[info_.output]}, ct)[0];
  return delta.defined() ? delta : Tensor(info_.program().type(info_.output), 0);
}

Tensor Step::signal(const HiddenGroup& g, const Tensors& G) const {
  const Stops held{.eqn   = [this](const Eqn& e) { return flow_.is_product(e); },
                   .value = [this](Var v) { return is_exit_[v]; }};
  Tensors     L;
  Types       types;
  for (size_t a = 0; a < g.members.size(); ++a) {
    L.push_back(G[g.members[a]]);
    const Var from = g.hidden[a].out;
    types.push_back(flow_.program.type(from));
    for (size_t b = 0; b < g.members.size(); ++b) {
      const Tensor& G_b = G[g.members[b]];
      if (a == b || !G_b.defined()) continue;
      const Region A = cut_region(flow_, {from}, {g.hidden[b].out}, held);
      if (A.program.eqns.empty()) continue;
      const Tensor read = pull_region(A, {values_[from]}, {G_b})[0];
      if (read.defined()) L[a] = L[a].defined() ? L[a] - read : -read;
    }
  }
  return g.concat_hidden(instantiated(L, types));
}

Tensor Step::old_credit(const HiddenGroup& g, const Tensors& ct) const {
  Vars    outputs;
  Tensors given;
  for (size_t k = 0; k < ct.size(); ++k)
    if (const Var v = flow_.program.results[k]; ct[k].defined() && !is_exit_[v]) {
      outputs.push_back(v);
      given.push_back(ct[k]);
    }
  const Vars    from = g.entries();
  const Region  read = cut_region(flow_, from, outputs, {.value = [this](Var v) { return is_exit_[v]; }});
  const Tensors O    = pull_region(read, gather(values_, from), given);
  if (!any_true(defined_mask(O))) return {};
  return g.concat_hidden(instantiated(O, flow_.program.types_of(from)));
}

// The equations on paths from trainable operations to a group, with these operations. Equations elsewhere in the step
// make no difference to the group, and a deep network has many of them.
Region Step::reaching(const HiddenGroup& g, const Stops& stops) const {
  std::set<int32_t> eqns;
  Vars              from, to = g.exits();
  for (const auto& relation : graph_.hidden_param_op_relations)
    if (relation.reaches(g.index)) eqns.insert(relation.eqn);
  for (int32_t e : eqns) {
    const Eqn& eqn = flow_.program.eqns[e];
    from           = joined(from, eqn.out);
    to             = joined(to, eqn.in);  // an operation may read the result of another
  }
  const Region between = cut_region(flow_, from, to, stops);
  eqns.insert(between.eqns.begin(), between.eqns.end());
  return region_of(flow_.program, eqns, {}, g.exits());
}

void Step::pull_future(int group, const Tensor& F, Tensors& leaf_gradients) const {
  const HiddenGroup& g       = graph_.hidden_groups[group];
  Mask               is_held = is_exit_;
  for (Var v : g.exits()) is_held[v] = false;
  const Region near = reaching(g, {.value = [&](Var v) { return is_held[v]; }});
  Vars         outer(near.program.types.size(), -1);  // ids in the step
  scatter_ids(near.program.constants, near.constants, outer);
  for (size_t i = 0; i < near.eqns.size(); ++i)
    scatter_ids(near.program.eqns[i].out, flow_.program.eqns[near.eqns[i]].out, outer);
  // Turn the operands of trainable operations into separate inputs, so that a weight that a plain operation also reads
  // is differentiated only through the trainable one. If another trainable operation produces an operand,
  // differentiation continues through it, unless the operand's chain already includes that operation: the input is then
  // a term added to it.
  struct Use {
    int relation, trainable;
  };
  std::vector<Use>                uses;
  Program                         split = near.program;
  std::map<int, std::vector<Eqn>> sums;  // additions to insert before an equation
  Vars                            from;
  Tensors                         operands;
  for (size_t r = 0; r < graph_.hidden_param_op_relations.size(); ++r) {
    const auto& relation = graph_.hidden_param_op_relations[r];
    if (!relation.reaches(group)) continue;
    const auto place = std::lower_bound(near.eqns.begin(), near.eqns.end(), relation.eqn) - near.eqns.begin();
    for (size_t k = 0; k < relation.trainables.size(); ++k) {
      const Trainable& t = relation.trainables[k];
      uses.push_back({static_cast<int>(r), static_cast<int>(k)});
      Var&      read = split.eqns[place].in[t.slot];
      const Var v    = near.program.eqns[place].in[t.slot];
      from.push_back(split.add_value(split.type(v)));
      split.args.push_back(from.back());
      if (!follows_[t.operand] || passes_trainable(t.chain)) {
        operands.push_back(values_[t.operand]);
        read = from.back();
      } else {
        operands.emplace_back(split.type(v), 0);
        const Var sum = split.add_value(split.type(v));
        sums[place].push_back({&add_op, {v, from.back()}, {sum}, {}, split.eqns[place].note});
        read = sum;
      }
    }
  }
  for (auto it = sums.rbegin(); it != sums.rend(); ++it)
    split.eqns.insert(split.eqns.begin() + it->first, it->second.begin(), it->second.end());
  const Flow flow(split);
  Region     way     = cut_region(flow, from, split.results,
                                  {.value = [&](Var v) { return v < std::ssize(outer) && is_held[outer[v]]; }});
  way.constants      = gather(outer, way.constants);
  const Tensors back = pull_region(way, operands, g.split_hidden(F));
  for (size_t i = 0; i < uses.size(); ++i)
    if (back[i].defined()) add_operand_gradient(uses[i].relation, uses[i].trainable, back[i], leaf_gradients);
}

Tensors Step::pushed(const HiddenGroup& g, const Tensors& point, const Tensor& t) const {
  const Tensors fixed(g.transition.constants.size());
  return jvp(g.transition.program, point, joined(fixed, g.split_hidden(t))).tangents;
}

Tensor Step::push(int group, const Tensor& t) {
  const HiddenGroup& g = graph_.hidden_groups[group];
  if (g.descent) return D(group).defined() ? applied(D(group), t) : Tensor();
  const Tensors J_t = pushed(g, gather(values_, joined(g.transition.constants, g.entries())), t);
  if (!any_true(defined_mask(J_t))) return {};
  return g.concat_hidden(instantiated(J_t, flow_.program.types_of(g.exits())));
}

Tensor Step::class_columns(int group, const std::vector<int32_t>& class_of_unit) const {
  const HiddenGroup& g = graph_.hidden_groups[group];
  const int64_t      P = size_of(g.varshape), S = g.num_state, units = std::ssize(class_of_unit);
  const int64_t      classes = *std::max_element(class_of_unit.begin(), class_of_unit.end()) + 1, n = classes * S;
  const DType        dtype = values_[g.hidden[0].out].dtype();
  const Type         positions{dtype, g.on_positions({S})};
  // [classes·S, rows, units·S]: the directions of one row, repeated for every row.
  const Shape   by_class{classes, S, units, S};
  const Tensor  member     = transpose(one_hot(Tensor(Array::of<int32_t>(class_of_unit, {units})), classes, dtype));
  const Tensor  row        = broadcast_axes(member, by_class, {0, 2}) * broadcast_axes(eye(S, dtype), by_class, {1, 3});
  const Tensor  directions = reshape(broadcast_axes(reshape(row, {n, units * S}), {n, P / units, units * S}, {0, 2}),
                                     stacked(positions, n).shape);
  const Tensors point      = gather(values_, joined(g.transition.constants, g.entries()));
  bool          live       = false;
  const Traced  one        = trace(joined(types_of(point), {positions}), [&](const Tensors& in) -> Tensors {
    const Tensors columns = pushed(g, part(in, 0, point.size()), in.back());
    live                  = any_true(defined_mask(columns));
    return {g.concat_hidden(instantiated(columns, flow_.program.types_of(g.exits())))};
  });
  if (!live) return {};
  const Mask       batched = joined(Mask(one.constants.size() + point.size(), false), Mask{true});
  const VmapResult r       = vmap(one.program, joined(one.constants, point, {directions}), batched, n);
  return reshape(r.out[0], {classes, S, P, S});
}

Tensors Step::pull_region(const Region& region, const Tensors& args, const Tensors& ct) const {
  const Tensors constants = gather(values_, region.constants);
  const Mask    active    = joined(Mask(constants.size(), false), Mask(args.size(), true));
  return vjp(region.program, joined(constants, args), active).pullback(ct);
}

void Step::add_operand_gradient(int relation, int trainable, const Tensor& g, Tensors& leaf_gradients) const {
  const Trainable& t = graph_.hidden_param_op_relations[relation].trainables[trainable];
  Tensors          leaves;
  for (int l : t.leaves) leaves.push_back(values_[info_.weights[l].var]);
  const Tensors back = pull_region(t.chain, leaves, {reshape(g, values_[t.operand].shape())});
  for (size_t l = 0; l < t.leaves.size(); ++l)
    leaf_gradients[t.leaves[l]] = add_defined(leaf_gradients[t.leaves[l]], back[l]);
}

void Step::add_to_inputs(const Tensors& leaf_gradients, Tensors& inputs) const {
  for (size_t w = 0; w < info_.weights.size(); ++w) {
    Tensor& mine = inputs[input_index(info_, info_.weights[w].var)];
    mine         = add_defined(mine, leaf_gradients[w]);
  }
}

void Step::forget_traced(Tensors& inputs) const {
  const Mask traced = traced_inputs(graph_);
  for (size_t i = 0; i < traced.size(); ++i)
    if (traced[i]) inputs[i] = Tensor();
}

}  // namespace braintrace
