// SPDX-License-Identifier: Apache-2.0
// A learning rule: what it remembers of the past, how that advances with a step, and how credit goes back through the
// steps of a window. All of it computes with traced tensors; loops, batching and storage are nobody's concern here.
//
// A window is a run of steps a … b under constant weights; a single step is a window of one. Its gradient is
//
//   ∇ = Σ_t  (what `retreat` gives at step t, from the last step to the first)  +  (what `enter` adds for the past)
#pragma once

#include <string>

#include "braintrace/executor/step.h"

namespace braintrace {

// How credit goes back through a window: along the paths the rule keeps, or along all of them (reverse mode inside the
// window, the rule's memory at its start).
enum class VjpMethod : uint8_t { SingleStep, MultiStep };

// One step as seen from behind.
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

// One tensor a rule remembers: "trace", "filter", "x", "f", "count", … of a relation and group.
struct MemorySlot {
  Type        type;
  std::string kind;
  int         relation = -1, group = -1, trainable = -1;  // where it belongs to one
  int         leaf = -1;  // of ModuleInfo::weights, where it belongs to a parameter as a whole
};
using MemorySlots = std::vector<MemorySlot>;
struct Remembered {
  MemorySlot slot;
  Tensor     value;
};
Types types_of(const MemorySlots& slots);

class LearningRule {
 public:
  virtual ~LearningRule() = default;

  virtual std::string name() const = 0;
  // What the rule asks of the compiler.
  virtual CompileOptions scope(CompileOptions options) const { return options; }
  // It asks a step for Step::output_cotangent.
  virtual bool reads_output() const { return false; }
  // The way back it takes when the user asks for one.
  virtual VjpMethod method(VjpMethod asked) const { return asked; }

  // What it remembers; all of it starts at zero.
  virtual MemorySlots memory(const ETraceGraph& graph) const = 0;
  // The same as users know it, where something smaller is kept in its place.
  virtual std::vector<Remembered> written_out(const ETraceGraph& graph, const Tensors& memory) const;
  // The memory after this step.
  virtual Tensors advance(Step& step, const Tensors& memory, const Tensors& aux) const = 0;
  // A memory that is linear in its past need not go through a window step by step: each step leaves its factors, and
  // these make the memory after the last one, from what it was before the first. They are given with a leading time
  // axis; undefined ones stay so.
  virtual bool    gathers(const ETraceGraph&) const { return false; }
  virtual Tensors factors(Step&) const { return {}; }
  virtual Tensors gathered(const ETraceGraph&, const Tensors& memory, const Tensors& /*factors*/) const {
    return memory;
  }

  // Adds ∂h/∂θ as remembered, contracted with a cotangent of the hidden states per group, to the leaf gradients.
  // `step` is the one that reads these states.
  virtual void recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const = 0;

  // Types of what goes back from step to step; zero behind the last one.
  virtual Types adjoint(const ETraceGraph&) const { return {}; }
  // By default the same-step gradient.
  virtual Retreat retreat(Step& step, const StepBack& at) const { return {step.pull(at.ct).inputs, {}}; }
  // Adds what the memory before the first step contributes.
  virtual void enter(Step&, const Tensors& /*memory*/, const Tensors& /*adjoint*/, Tensors& /*leaf_gradients*/) const {}
};

}  // namespace braintrace
