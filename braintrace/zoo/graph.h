// SPDX-License-Identifier: Apache-2.0
// Layers connected as a graph.
//
//   {"type": "graph", "in_size": [2],
//    "nodes": [{"name": "w", "type": "linear", "n_in": 2, "n_out": 3}, {"name": "lif", "type": "lif", "n": 3},
//              {"name": "rec", "type": "linear", "n_in": 3, "n_out": 3}],
//    "edges": [["input", "w"], ["w", "lif"], ["lif", "rec"], ["rec", "lif"], ["lif", "output"]]}
//
// The input of a node is the sum over its incoming edges. A cycle must contain a population of neurons, which feeds
// back its output of the previous step. The order in which nodes are reached from the input determines which edges use
// the previous step.
#pragma once

#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

using NamedLayers = std::vector<std::pair<std::string, ModulePtr>>;
using Edges       = std::vector<std::pair<std::string, std::string>>;

// The order of the nodes in a step, and the edges that carry the output of the previous step.
struct GraphOrder {
  std::vector<size_t>                    nodes;
  std::vector<std::pair<size_t, size_t>> late;
};
// Nodes are 0 … n-1; `remembers[i]`: node i stores its output of the previous step. `from_input`: nodes that read the
// input. Throws a UserError that names nodes that the input does not reach, and cycles without a node that remembers.
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
