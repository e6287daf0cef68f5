// SPDX-License-Identifier: Apache-2.0
// Maps the groups and relations of a recorded graph to ours.
#pragma once

#include "braintrace/compiler/graph.h"
#include "braintrace/executor/rule.h"
#include "braintrace/verify/case.h"

namespace braintrace::golden {

// Groups are matched by their states, relations by their leaves; the k-th of equal ones by order.
struct Places {
  std::map<int, std::string> group, relation;  // by our index: "g0", "rel2"

  Places(const json& recorded, const ETraceGraph& ours);

  // The recorded name of a tensor in the memory of a rule, after "run.<id>.".
  std::string array_of(const MemorySlot& slot, const ETraceGraph& graph) const;
};

}  // namespace braintrace::golden
