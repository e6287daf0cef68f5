// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/rule.h"

namespace braintrace {

CompileOptions LearningRule::scope(CompileOptions options) const {
  if (facts_.coupled) options.include_recurrent_mixing = *facts_.coupled;
  if (facts_.sparse_n > 1) options.sparse_n = facts_.sparse_n;
  return options;
}

MemorySlots LearningRule::memory(const ETraceGraph& graph) const {
  const auto r = recursion();
  return r ? Traces(graph, *r).slots() : MemorySlots();
}

Tensors LearningRule::advance(Step& step, const Tensors& memory, const Tensors&) const {
  const auto r = recursion();
  return r ? Traces(step.graph(), *r).advance(step, memory) : memory;
}

void LearningRule::recall(Step& step, const Tensors& memory, const Tensors& credit, Tensors& leaf_gradients) const {
  const auto r = recursion();
  if (!r) return;
  const Traces traces(step.graph(), *r);
  for (size_t i = 0; i < traces.sites().size(); ++i) {
    const HiddenGroup& g = step.graph().hidden_groups[traces.sites()[i].group];
    if (const Tensor& c = credit[g.index]; c.defined())
      traces.add_trace(step, i, r->widen(g, c), memory, leaf_gradients);
  }
}

std::vector<Remembered> written_out(const LearningRule& rule, const ETraceGraph& graph, const Tensors& memory) {
  if (const auto r = rule.recursion()) return Traces(graph, *r).written_out(memory);
  const MemorySlots       slots = rule.memory(graph);
  std::vector<Remembered> out;
  for (size_t i = 0; i < slots.size(); ++i) out.push_back({slots[i], memory[i]});
  return out;
}

}  // namespace braintrace
