// SPDX-License-Identifier: Apache-2.0
// Layers wired as a graph.
//
//   {"type": "graph", "in_size": [2],
//    "nodes": [{"name": "w", "type": "linear", "n_in": 2, "n_out": 3}, {"name": "lif", "type": "lif", "n": 3},
//              {"name": "rec", "type": "linear", "n_in": 3, "n_out": 3}],
//    "edges": [["input", "w"], ["w", "lif"], ["lif", "rec"], ["rec", "lif"], ["lif", "output"]]}
//
// A node reads the sum of what its edges bring. A cycle must pass through a population of neurons: on the way back to
// a population that comes before it, its output of the step before is used. Which edges those are follows from the
// order in which the nodes are reached from the input.
#pragma once

#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

using NamedLayers = std::vector<std::pair<std::string, ModulePtr>>;
using Edges       = std::vector<std::pair<std::string, std::string>>;

// The order of the nodes in a step, and the edges that bring the output of the step before.
struct GraphOrder {
  std::vector<size_t>                    nodes;
  std::vector<std::pair<size_t, size_t>> late;
};
// Nodes are 0 … n-1; `remembers[i]`: node i knows its output of the step before. `from_input`: nodes that read it.
// Throws UserError naming nodes that the input does not reach and cycles without a node that remembers.
GraphOrder graph_order(const std::vector<std::string>& names, const std::vector<bool>& remembers,
                       const std::vector<std::pair<size_t, size_t>>& edges, const std::vector<size_t>& from_input);

class Graph : public Module {
 public:
  Graph(const NamedLayers& nodes, const Edges& edges);
  Tensor update(const Tensor& x) override;

 private:
  struct Source {
    enum class Kind : uint8_t { Input, Node, Late } kind;
    size_t node;
  };
  Tensor gathered(const std::vector<Source>& sources, const Tensor& x, const Tensors& now, const Tensors& before) const;

  std::vector<ModulePtr>           layers_;
  std::vector<size_t>              order_;
  std::vector<std::vector<Source>> sources_;  // of each node
  std::vector<Source>              outputs_;
};

}  // namespace braintrace::zoo
