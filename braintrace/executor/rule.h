// SPDX-License-Identifier: Apache-2.0
// A learning rule: what it remembers of the past, how that advances with a step, and how credit goes back through the
// steps of a window. All of it computes with traced tensors; loops, batching and storage are nobody's concern here.
//
// A window is a run of steps a … b under constant weights; a single step is a window of one. Its gradient is
//
//   ∇ = Σ_t  (what `retreat` gives at step t, from the last step to the first)  +  (what `enter` adds for the past)
#pragma once

#include "braintrace/executor/traces.h"

namespace braintrace {

// How credit goes back through a window: along the paths the rule keeps, or along all of them (reverse mode inside the
// window, the rule's memory at its start).
enum class VjpMethod : uint8_t { SingleStep, MultiStep };

// One step on the way back.
struct StepBack {
  const Tensors& before;   // memory around the step; none in a window whose memory is gathered
  const Tensors& after;    //
  const Tensors& aux;      // what the step was given besides its inputs: a modulator, random signs
  const Tensors& ct;       // cotangents of the step's results
  const Tensors& adjoint;  // carried from the step after; undefined where structurally zero
};
struct Retreat {
  Tensors inputs;   // cotangents of the step's inputs, the gradients of its parameters among them
  Tensors adjoint;  // carried to the step before
};

// What is true of a rule on any model.
struct RuleFacts {
  std::string              name;
  std::optional<bool>      coupled          = {};     // D keeps the products; as the user compiles when not given
  int                      sparse_n         = 1;      // SnAp-n: how far traces reach
  std::optional<VjpMethod> method           = {};     // the only way back it has
  bool                     reads_output     = false;  // it asks a step for Step::output_cotangent
  bool                     needs_a_relation = true;   // without a weight that reaches a hidden state it has no traces
};

class LearningRule {
 public:
  explicit LearningRule(RuleFacts facts) : facts_(std::move(facts)) {}
  virtual ~LearningRule() = default;

  const RuleFacts&   facts() const { return facts_; }
  const std::string& name() const { return facts_.name; }
  // What the rule asks of the compiler.
  CompileOptions scope(CompileOptions options) const;
  // The way back it takes when the user asks for one.
  VjpMethod method(VjpMethod asked) const { return facts_.method.value_or(asked); }

  // A rule with linear traces says their recursion; memory, advance and recall follow. Any other says those three.
  virtual std::optional<TraceRecursion> recursion() const { return {}; }
  // What it remembers; all of it starts at zero.
  virtual MemorySlots memory(const ETraceGraph& graph) const;
  // The memory after this step.
  virtual Tensors advance(Step& step, const Tensors& memory, const Tensors& aux) const;
  // Adds ∂h/∂θ as remembered, contracted with a cotangent of the hidden states per group, to the leaf gradients.
  // `step` is the one that reads these states.
  virtual void recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const;

  // Types of what goes back from step to step; zero after the last one.
  virtual Types adjoint(const ETraceGraph&) const { return {}; }
  // By default the same-step gradient.
  virtual Retreat retreat(Step& step, const StepBack& at) const { return {step.pull(at.ct).inputs, {}}; }
  // Adds what the memory before the first step contributes.
  virtual void enter(Step&, const Tensors& /*memory*/, const Tensors& /*adjoint*/, Tensors& /*leaf_gradients*/) const {}

 private:
  RuleFacts facts_;
};

// The memory as users know it, where something smaller is kept in its place.
std::vector<Remembered> written_out(const LearningRule& rule, const ETraceGraph& graph, const Tensors& memory);

}  // namespace braintrace
