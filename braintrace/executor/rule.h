// SPDX-License-Identifier: Apache-2.0
// Interface of a learning rule: which memory it keeps, how a step advances the memory, and how credit propagates
// backward through a window. Rules compute with traced tensors; other code handles loops, batching and storage.
//
// A window is a sequence of steps a … b with constant weights; a single step is a window of length one. Its gradient is
//
//   ∇ = Σ_t  (what `retreat` returns for step t, from the last step to the first)  +  (what `enter` adds for the past)
#pragma once

#include "braintrace/executor/traces.h"

namespace braintrace {

// How credit propagates through a window. SingleStep: along the paths that the rule approximates. MultiStep: along all
// paths, by reverse mode inside the window, with the rule's memory at its start.
enum class VjpMethod : uint8_t { SingleStep, MultiStep };

// One step of the backward pass.
struct StepBack {
  const Tensors& before;   // memory before and after the step; empty in a window that gathers its
  const Tensors& after;    // traces (traces.h)
  const Tensors& aux;      // additional inputs of the step, such as a modulator or random signs
  const Tensors& ct;       // cotangents of the step's results
  const Tensors& adjoint;  // from the next step; undefined where structurally zero
};
// What a rule returns for one step of the backward pass.
struct Retreat {
  Tensors inputs;   // cotangents of the step's inputs, including the gradients of its parameters
  Tensors adjoint;  // for the previous step
};

// Properties of a rule that do not depend on the model.
struct RuleFacts {
  std::string         name;
  std::optional<bool> coupled = {};                   // D includes paths through recurrent weights; default: as
                                                      // compiled
  int                      sparse_n         = 1;      // SnAp-n: how far traces reach
  std::optional<VjpMethod> method           = {};     // the only method it supports, if any
  bool                     reads_output     = false;  // it calls Step::output_cotangent
  bool                     needs_a_relation = true;   // it has no traces unless a weight drives a hidden state
};

// The base class of learning rules. Derive from it, or from ParamDimRule, to define a custom rule.
class LearningRule {
 public:
  explicit LearningRule(RuleFacts facts) : facts_(std::move(facts)) {}
  virtual ~LearningRule() = default;

  const RuleFacts&   facts() const { return facts_; }
  const std::string& name() const { return facts_.name; }
  // Adds the rule's requirements to the compile options.
  CompileOptions scope(CompileOptions options) const;
  // The method to use if the user requests `asked`.
  VjpMethod method(VjpMethod asked) const { return facts_.method.value_or(asked); }

  // A rule with linear traces overrides `recursion`, any other rule `memory`, `advance` and `recall`.
  virtual std::optional<TraceRecursion> recursion() const { return {}; }
  // Types of the memory. It is initialized to zero.
  virtual MemorySlots memory(const ETraceGraph& graph) const;
  // Returns the memory after this step.
  virtual Tensors advance(Step& step, const Tensors& memory, const Tensors& aux) const;
  // Adds the estimate of ∂h/∂θ in the memory, contracted with `credit`, the cotangents of the hidden states per group,
  // to the leaf gradients. `step` is the one that reads these states.
  virtual void recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const;

  // Types of the adjoint that is carried from step to step; it is zero after the last step.
  virtual Types adjoint(const ETraceGraph&) const { return {}; }
  // One step of the backward pass. Default: the same-step gradient.
  virtual Retreat retreat(Step& step, const StepBack& at) const { return {step.pull(at.ct).inputs, {}}; }
  // Adds the contribution of the memory before the first step.
  virtual void enter(Step&, const Tensors& /*memory*/, const Tensors& /*adjoint*/, Tensors& /*leaf_gradients*/) const {}

 private:
  RuleFacts facts_;
};

// The memory in expanded form, if the rule stores a compact one.
std::vector<Remembered> written_out(const LearningRule& rule, const ETraceGraph& graph, const Tensors& memory);

}  // namespace braintrace
