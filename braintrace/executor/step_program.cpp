// SPDX-License-Identifier: Apache-2.0
// D-RTRL, step form, with every same-step path counted once:
//
//   ε_t    = D_t ε_{t-1} + D_f,t ⊗ ∂y_t/∂w
//   ∇_t    = s_t + Σ Cᵀ ( L_t · D_t ε_{t-1} )          s_t = ∂ℓ_t/∂θ with h_{t-1} held,  C = chain from leaf to operand
//   L_c    = G_c − Σ_{c'≠c} A_{c→c'}ᵀ G_{c'}           G_c = ∂ℓ_t/∂(new value of c)
//
// A_{c→c'} is what member c' of the group reads of member c within the step, position by position; it is inside the
// trace of c' already and must not be counted in the signal of c.
#include "braintrace/executor/step_program.h"

#include <algorithm>

#include "braintrace/compiler/jacobians.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

struct StepBuilder {
  const ETraceGraph& graph;
  const ModuleInfo&  info = graph.module_info;
  Flow               flow{info.program(), info.entries()};
  StepProgram        out     = {};
  Mask               is_exit = Mask(info.program().types.size());
  Values             values  = {};

  Tensors              group_D    = {};  // per group
  Tensors              propagated = {};  // per trace slot: D ε_{t-1}
  std::vector<EtpCall> slot_call  = {};  // per trace slot

  void run_forward(const Tensors& inputs) {
    const Program& p = info.program();
    values.resize(p.types.size());
    bind_inputs(p, concatenated(info.step.constants, inputs), values);
    for (const Eqn& e : p.eqns) {
      EqnNote note(p, e);
      scatter(values, e.out, apply(*e.op, gather(values, e.in), e.attrs));
    }
  }

  EtpCall call_at_group(const HiddenParamOpRelation& r, const HiddenGroup& g) const {
    EtpCall call = r.call;
    if (!call.op->etp->mixes) call.y.shape = g.varshape;
    return call;
  }

  Tensors operands(const HiddenParamOpRelation& r) const { return gather(values, info.program().eqns[r.eqn].in); }

  // [*varshape,…] laid out like the operation's output.
  static Tensor as_output(const EtpCall& call, const HiddenGroup& g, const Tensor& t) {
    Shape shape = call.y.shape;
    shape.insert(shape.end(), t.shape().begin() + static_cast<int64_t>(g.varshape.size()), t.shape().end());
    return reshape(t, shape);
  }

  // Visits (relation, connection, trainable) of every possible trace.
  template <class F>
  void for_each_trace(F f) {
    for (size_t r = 0; r < graph.hidden_param_op_relations.size(); ++r) {
      const auto& relation = graph.hidden_param_op_relations[r];
      for (size_t c = 0; c < relation.connections.size(); ++c) {
        if (relation.connections[c].path == PathClass::Windowed) continue;
        for (size_t k = 0; k < relation.trainables.size(); ++k)
          f(static_cast<int>(r), static_cast<int>(c), static_cast<int>(k));
      }
    }
  }

  void plan_traces() {
    for_each_trace([&](int r, int c, int k) {
      const auto&        relation = graph.hidden_param_op_relations[r];
      const HiddenGroup& g        = graph.hidden_groups[relation.connections[c].group];
      const EtpCall      call     = call_at_group(relation, g);
      Shape              shape    = trace_shape(call, relation.trainables[k].weight);
      shape.push_back(g.num_state);
      out.traces.push_back({r, c, k, {relation.call.y.dtype, std::move(shape)}});
      slot_call.push_back(call);
    });
  }

  Tensors update_traces(const Tensors& traces) {
    for (const HiddenGroup& g : graph.hidden_groups) group_D.push_back(transition_blocks(g, values));
    Tensors next;
    for (size_t i = 0; i < out.traces.size(); ++i) {
      const TraceSlot&   slot = out.traces[i];
      const auto&        r    = graph.hidden_param_op_relations[slot.relation];
      const Connection&  c    = r.connections[slot.connection];
      const HiddenGroup& g    = graph.hidden_groups[c.group];
      const EtpCall&     call = slot_call[i];
      const int          w    = r.trainables[slot.trainable].weight;
      const Tensor       D    = group_D[g.index];
      const Tensor       D_f  = tail_blocks(g, r, c, values);
      propagated.push_back(D.defined() ? propagate(call, w, as_output(call, g, D), traces[i]) : Tensor());
      Tensor eps = propagated.back();
      if (D_f.defined()) {
        const Tensor term = instant(call, w, operands(r), as_output(call, g, D_f));
        eps               = add_defined(eps, broadcast_to(term, slot.type.shape));
      }
      next.push_back(eps.defined() ? eps : Tensor(slot.type, 0));
    }
    return next;
  }

  // L of each group, from the cotangents G of its members' new values.
  Tensor signal(const HiddenGroup& g, const Tensors& G) {
    Tensors L;
    for (int m : g.members) L.push_back(G[m]);
    for (size_t a = 0; a < g.members.size(); ++a)
      for (size_t b = 0; b < g.members.size(); ++b) {
        if (a == b || !G[g.members[b]].defined()) continue;
        const Var    from = info.hidden[g.members[a]].out, to = info.hidden[g.members[b]].out;
        const Region A = cut_region(flow, {from}, {to},
                                    {.eqn   = [this](const Eqn& e) { return flow.is_product(e); },
                                     .value = [this](Var v) { return is_exit[v]; }});
        if (A.program.eqns.empty()) continue;
        const Tensors constants = gather(values, A.constants);
        Mask          active(constants.size(), false);
        active.push_back(true);
        const Tensor back =
            vjp(A.program, concatenated(constants, {values[from]}), active).pullback({G[g.members[b]]})[0];
        if (back.defined()) L[a] = L[a].defined() ? L[a] - back : -back;
      }
    Types types;
    for (int m : g.members) types.push_back(flow.program.type(info.hidden[m].out));
    return g.concat_hidden(instantiated(L, types));
  }

  // Adds Cᵀ(L · D ε_{t-1}) to the gradients of the leaves.
  void add_trace_gradients(const Tensors& G, Tensors& leaf_gradients) {
    Tensors L;
    for (const HiddenGroup& g : graph.hidden_groups) L.push_back(signal(g, G));
    for (size_t i = 0; i < out.traces.size(); ++i) {
      if (!propagated[i].defined()) continue;
      const TraceSlot&   slot = out.traces[i];
      const auto&        r    = graph.hidden_param_op_relations[slot.relation];
      const HiddenGroup& g    = graph.hidden_groups[r.connections[slot.connection].group];
      const Trainable&   t    = r.trainables[slot.trainable];
      const Tensor       operand_gradient =
          contract(slot_call[i], t.weight, operands(r), as_output(slot_call[i], g, L[g.index]), propagated[i]);
      const Tensors constants = gather(values, t.chain.constants);
      Tensors       leaves;
      for (int l : t.leaves) leaves.push_back(values[info.weights[l].var]);
      Mask active(constants.size(), false);
      active.resize(constants.size() + leaves.size(), true);
      const Tensors back = vjp(t.chain.program, concatenated(constants, leaves), active).pullback({operand_gradient});
      for (size_t l = 0; l < t.leaves.size(); ++l) {
        Tensor& sum = leaf_gradients[t.leaves[l]];
        sum         = add_defined(sum, back[l]);
      }
    }
  }
};

}  // namespace

StepProgram build_step_program(const ETraceGraph& graph) {
  StepBuilder    step{graph};
  const auto&    info     = graph.module_info;
  const Program& p        = info.program();
  const Types    in_types = p.types_of(p.args);
  for (const HiddenVar& h : info.hidden) step.is_exit[h.out] = true;
  step.plan_traces();

  auto    builder = Builder::open();
  Tensors inputs, traces;
  for (const Type& t : in_types) inputs.push_back(builder->argument(t));
  for (const TraceSlot& slot : step.out.traces) traces.push_back(builder->argument(slot.type));

  step.run_forward(inputs);
  Tensors results = concatenated(gather(step.values, p.results), step.update_traces(traces));

  // Everything the backward program needs of the forward one is captured as its constants.
  const Program pert    = add_hidden_perturbation(info).program;
  Tensors       pert_in = concatenated(info.step.constants, inputs);
  for (const HiddenVar& h : info.hidden) pert_in.emplace_back(p.type(h.out), 0);
  Mask active(info.step.constants.size(), false);
  active.resize(pert_in.size(), true);
  const VjpResult pull = vjp(pert, pert_in, active);

  auto    back = Builder::open();
  Tensors ct;
  for (Var v : p.results) ct.push_back(back->argument(p.type(v)));
  const Tensors found = pull.pullback(ct);
  Tensors       ct_in(found.begin(), found.begin() + static_cast<int64_t>(inputs.size()));
  const Tensors G(found.begin() + static_cast<int64_t>(inputs.size()), found.end());
  Tensors       leaf_gradients(info.weights.size());
  step.add_trace_gradients(G, leaf_gradients);
  for (size_t w = 0; w < info.weights.size(); ++w) {
    const auto at = static_cast<size_t>(std::find(p.args.begin(), p.args.end(), info.weights[w].var) - p.args.begin());
    ct_in[at]     = add_defined(ct_in[at], leaf_gradients[w]);
  }
  Traced backward = back->finish(instantiated(ct_in, in_types));

  step.out.num_residuals     = backward.constants.size();
  Traced forward             = builder->finish(concatenated(results, backward.constants));
  step.out.forward           = simplify(expand_composites(forward.program));
  step.out.forward_constants = forward.constants;
  step.out.backward          = simplify(expand_composites(constants_as_args(backward.program)));
  return step.out;
}

}  // namespace braintrace
