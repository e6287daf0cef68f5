// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/rule.h"

namespace braintrace {

Types types_of(const MemorySlots& slots) {
  Types out;
  for (const MemorySlot& s : slots) out.push_back(s.type);
  return out;
}

std::vector<Remembered> LearningRule::written_out(const ETraceGraph& graph, const Tensors& values) const {
  const MemorySlots       slots = memory(graph);
  std::vector<Remembered> out;
  for (size_t i = 0; i < slots.size(); ++i) out.push_back({slots[i], values[i]});
  return out;
}

}  // namespace braintrace
