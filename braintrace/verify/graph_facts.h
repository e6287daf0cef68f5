// SPDX-License-Identifier: Apache-2.0
// The results of the compiler in the format of graph cases.
#pragma once

#include <nlohmann/json.hpp>

#include "braintrace/compiler/graph.h"

namespace braintrace::golden {

using nlohmann::json;

json graph_facts(const ETraceGraph& graph);

}  // namespace braintrace::golden
