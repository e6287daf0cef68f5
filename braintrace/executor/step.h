// SPDX-License-Identifier: Apache-2.0
// One step of a compiled model while it is being traced: its values, its Jacobian blocks, and reverse mode with every
// same-step path counted once. Learning rules are written in terms of it.
//
//   D_g       ∂h_t/∂h_{t-1} of group g, per position                [*varshape,S,S]
//   D_f       ∂h_t/∂y_t of an operation and a group, per position   [*varshape,S]
//   G_c       ∂ℓ_t/∂(new value of state c), seen by every later reader of the step
//   L_c       G_c − Σ_{c'≠c} A_{c→c'}ᵀ G_{c'}                        the learning signal
//
//   O_g       ∂ℓ_t/∂h_{t-1} along paths that avoid every new state: what the loss reads of old states
//   Pull_g(F) reverse mode from the new values of group g to the weights of trainable operations, with h_{t-1} and the
//             new values of other groups held
//
// A_{c→c'} is what member c' of the group reads of member c within the step, position by position; it is inside the
// trace of c' already and must not be counted in the signal of c.
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

// The inputs of the step that are leaves of parameters which a trace follows.
Mask traced_inputs(const ETraceGraph& graph);
// Of the states of a group.
DType state_dtype(const ETraceGraph& graph, const HiddenGroup& g);

// t[i], without its leading axis; and with one more, on which it is the same n times.
Tensor row(const Tensor& t, int64_t i);
Tensor repeated(const Tensor& t, int64_t n);
Type   stacked(Type type, int64_t n);

StateMap hidden_states_of(const ETraceGraph& graph);
// Side by side for each group: something of every hidden state; the states as they are now.
Tensors per_group(const ETraceGraph& graph, const std::function<Tensor(const HiddenVar&)>& of);
Tensors hidden_per_group(const ETraceGraph& graph);
// Of a value among the inputs of the step.
size_t input_index(const ModuleInfo& info, Var v);

// [*varshape,…] laid out like the operation's output.
Tensor as_output(const EtpCall& call, const HiddenGroup& g, const Tensor& t);

class Step {
 public:
  // Runs the step on `inputs`: arguments, then the states it reads. With `when` (i32[2]: the call, the step in its
  // window) every value is watched: one that is not finite is an error when the program runs.
  Step(const ETraceGraph& graph, const Tensors& inputs, const Tensor& when = {});

  const ETraceGraph& graph() const { return graph_; }
  const Values&      values() const { return values_; }
  Tensors            results() const;
  Tensors            operands(int relation) const;  // what the operation reads; in a descended scan, at its end

  // Undefined when structurally zero.
  const Tensor& D(int group);
  const Tensor& D_f(int relation, int connection);
  // f(D_f, operands); over a descended scan its sum over the substeps. Undefined when D_f is structurally zero.
  using Term = std::function<Tensor(const Tensor& D_f, const Tensors& operands)>;
  Tensor over_substeps(int relation, int connection, const Term& f);

  // Reverse mode, from cotangents of the step's results.
  struct SameStep {
    Tensors inputs;  // cotangents of the inputs; those of parameters are their same-step gradients
    Tensors L, O;    // per group : [*varshape,S]; O is undefined where structurally zero
  };
  SameStep pull(const Tensors& ct) const;
  // δ = ∂ℓ_t/∂y_t, y_t the first output of the model, read by whatever stands around it.
  Tensor output_cotangent(const Tensors& ct) const;
  // Adds Pull_g(F) to the leaf gradients, F : [*varshape,S].
  void pull_future(int group, const Tensor& F, Tensors& leaf_gradients) const;

  // Adds Cᵀ g to the gradients of the leaves behind an operand, C = ∂operand/∂leaves; g may lie on the axes of a group.
  void add_operand_gradient(int relation, int trainable, const Tensor& g, Tensors& leaf_gradients) const;
  // J t of a group, J = ∂h_t/∂h_{t-1} in the compiled scope, t : [*varshape,S]; undefined when structurally zero. Over
  // a descended scan J is D, the product of its substeps' blocks.
  Tensor push(int group, const Tensor& t);

  // J of a group whose transition never leaves the trailing positions, `units` of them: [units,S,P,S], entry [u,b,p,a]
  // is ∂h_t[p,a]/∂h_{t-1}[q,b] with q the position at place u in the row of p. Undefined when structurally zero.
  Tensor unit_columns(int group, int64_t units) const;

  // Removes the cotangents of leaves that a trace follows.
  void forget_traced(Tensors& inputs) const;
  // Adds the gradients of leaves to the cotangents of the inputs.
  void add_to_inputs(const Tensors& leaf_gradients, Tensors& inputs) const;

 private:
  Tensor signal(const HiddenGroup& g, const Tensors& G) const;
  // J t of a group at a point: the values that the transition reads of the step, then the old states.
  Tensors pushed(const HiddenGroup& g, const Tensors& point, const Tensor& t) const;
  // Cotangents of the region's arguments.
  Tensors pull_region(const Region& region, const Tensors& args, const Tensors& ct) const;
  Tensor  old_credit(const HiddenGroup& g, const Tensors& ct) const;

  const ETraceGraph&                    graph_;
  const ModuleInfo&                     info_;
  Flow                                  flow_;
  Mask                                  is_exit_;
  Values                                values_;
  std::map<int, Tensor>                 D_;
  std::map<std::pair<int, int>, Tensor> D_f_;
  VjpResult                             vjp_;
};

}  // namespace braintrace
