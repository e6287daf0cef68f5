// SPDX-License-Identifier: Apache-2.0
// One step of a compiled model while it is being traced: its values, Jacobian blocks, and reverse mode that counts
// every same-step path once. Learning rules are written in terms of it.
//
//   D_g       ∂h_t/∂h_{t-1} of group g, per position                [*varshape,S,S]
//   D_f       ∂h_t/∂y_t of an operation and a group, per position   [*varshape,S]
//   G_c       ∂ℓ_t/∂(new value of state c), through every later reader in the step
//   L_c       G_c − Σ_{c'≠c} A_{c→c'}ᵀ G_{c'}                        the learning signal
//
//   O_g       ∂ℓ_t/∂h_{t-1} along paths that avoid every new state: direct reads of old states by the loss
//   Pull_g(F) reverse mode from the new values of group g to the weights of trainable operations, with h_{t-1} and the
//             new values of other groups held constant
//
// A_{c→c'} is the same-step dependence of member c' of a group on member c, per position. The trace of c' already
// contains it, so the signal of c must not count it again.
#pragma once

#include <functional>
#include <map>

#include "braintrace/compiler/jacobians.h"
#include "braintrace/transforms/linearize.h"

namespace braintrace {

// A weight of a relation and a group it is traced to.
struct TraceSite {
  int     relation, connection, trainable;
  int     group, weight;  // of the connection; index among the operation's weights
  EtpCall call;           // with the positions of the group
};
std::vector<TraceSite> trace_sites(const ETraceGraph& graph);

// Inputs of the step that are leaves of traced parameters.
Mask traced_inputs(const ETraceGraph& graph);
// Element type of the states of a group.
DType state_dtype(const ETraceGraph& graph, const HiddenGroup& g);

// t[i], without the leading axis; t repeated n times along a new leading axis; the type of n stacked tensors.
Tensor row(const Tensor& t, int64_t i);
Tensor repeated(const Tensor& t, int64_t n);
Type   stacked(Type type, int64_t n);

StateMap hidden_states_of(const ETraceGraph& graph);
// Concatenates, for each group, a tensor per hidden state; or the current values of the states.
Tensors per_group(const ETraceGraph& graph, const std::function<Tensor(const HiddenVar&)>& of);
Tensors hidden_per_group(const ETraceGraph& graph);
// Index of a value among the inputs of the step.
size_t input_index(const ModuleInfo& info, Var v);

// Converts [*varshape,…] to the layout of the operation's output.
Tensor as_output(const EtpCall& call, const HiddenGroup& g, const Tensor& t);

// One step of a compiled model during tracing; see the top of this file for the letters.
class Step {
 public:
  // Runs the step on `inputs`: arguments, then the states it reads. With `when` (i32[2]: call number, step in its
  // window) every value is checked when the program runs, and a non-finite one is an error.
  Step(const ETraceGraph& graph, const Tensors& inputs, const Tensor& when = {});

  const ETraceGraph& graph() const { return graph_; }
  const Values&      values() const { return values_; }
  Tensors            results() const;
  Tensors            operands(int relation) const;  // of the operation; in a descended scan, those of the last substep

  // Undefined if structurally zero.
  const Tensor& D(int group);
  const Tensor& D_f(int relation, int connection);
  // f(D_f, operands), or its sum over the substeps of a descended scan. Undefined if D_f is structurally zero.
  using Term = std::function<Tensor(const Tensor& D_f, const Tensors& operands)>;
  Tensor over_substeps(int relation, int connection, const Term& f);

  // Reverse mode from the cotangents of the step's results.
  struct SameStep {
    Tensors inputs;  // cotangents of the inputs; for parameters, the same-step gradients
    Tensors L, O;    // per group : [*varshape,S]; O is undefined where structurally zero
  };
  SameStep pull(const Tensors& ct) const;
  // δ = ∂ℓ_t/∂y_t, where y_t is the first output of the model, through all readers outside the model.
  Tensor output_cotangent(const Tensors& ct) const;
  // Adds Pull_g(F) to the leaf gradients, F : [*varshape,S].
  void pull_future(int group, const Tensor& F, Tensors& leaf_gradients) const;

  // Adds Cᵀ g to the gradients of the leaves of an operand, C = ∂operand/∂leaves; g may have the axes of a group.
  void add_operand_gradient(int relation, int trainable, const Tensor& g, Tensors& leaf_gradients) const;
  // J t for a group, J = ∂h_t/∂h_{t-1} in the compiled scope, t : [*varshape,S]; undefined if structurally zero. For a
  // descended scan, J is D, the product of the blocks of its substeps.
  Tensor push(int group, const Tensor& t);

  // Sums of columns of J, for a group whose transition does not cross rows of units, its trailing positions. Each unit
  // is in one class: [classes,S,P,S]. Entry [c,b,p,a] is Σ_q ∂h_t[p,a]/∂h_{t-1}[q,b] over the units q of class c in
  // the row of p. Undefined if structurally zero.
  Tensor class_columns(int group, const std::vector<int32_t>& class_of_unit) const;

  // Clears the cotangents of traced leaves.
  void forget_traced(Tensors& inputs) const;
  // Adds leaf gradients to the cotangents of the inputs.
  void add_to_inputs(const Tensors& leaf_gradients, Tensors& inputs) const;

 private:
  Tensor signal(const HiddenGroup& g, const Tensors& G) const;
  // J t for a group at `point`: the constants of its transition, then the old states.
  Tensors pushed(const HiddenGroup& g, const Tensors& point, const Tensor& t) const;
  // Cotangents of the region's arguments.
  Tensors pull_region(const Region& region, const Tensors& args, const Tensors& ct) const;
  Tensor  old_credit(const HiddenGroup& g, const Tensors& ct) const;
  Region  reaching(const HiddenGroup& g, const Stops& stops) const;

  const ETraceGraph&                    graph_;
  const ModuleInfo&                     info_;
  Flow                                  flow_;
  Mask                                  is_exit_;  // of each value: a new value of a hidden state
  Mask                                  follows_;  // of each value: depends on a trainable operation
  Values                                values_;
  std::map<int, Tensor>                 D_;
  std::map<std::pair<int, int>, Tensor> D_f_;
  VjpResult                             vjp_;
};

}  // namespace braintrace
