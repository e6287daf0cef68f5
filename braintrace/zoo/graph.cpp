// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/graph.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/nn/dynamics.h"
#include "braintrace/ops/math.h"

namespace braintrace::zoo {

namespace {

constexpr const char *input_name = "input", *output_name = "output";

// Walks back from a node through nodes that do not remember, as far as they are not ordered yet, and calls
// late(from, to) for each edge that comes from one that remembers. Returns whether it met such an edge.
template <class Late>
bool walk_back(size_t start, const std::vector<std::vector<size_t>>& sources, const std::vector<bool>& remembers,
               const std::vector<bool>& done, const Late& late) {
  std::vector<size_t> open{start};
  std::vector<bool>   seen(done.size());
  bool                met = false;
  while (!open.empty()) {
    const size_t to = open.back();
    open.pop_back();
    for (size_t from : sources[to]) {
      if (done[from]) continue;
      if (remembers[from]) {
        late(from, to);
        met = true;
      } else if (!seen[from]) {
        seen[from] = true;
        open.push_back(from);
      }
    }
  }
  return met;
}

std::vector<bool> reached(size_t n, const std::vector<std::pair<size_t, size_t>>& edges,
                          const std::vector<size_t>& from_input) {
  std::vector<bool>   in(n);
  std::vector<size_t> open = from_input;
  for (size_t i : open) in[i] = true;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const auto& [from, to] : edges)
      if (from == at && !in[to]) {
        in[to] = true;
        open.push_back(to);
      }
  }
  return in;
}

}  // namespace

GraphOrder graph_order(const std::vector<std::string>& names, const std::vector<bool>& remembers,
                       const std::vector<std::pair<size_t, size_t>>& edges, const std::vector<size_t>& from_input) {
  const size_t            n  = names.size();
  const std::vector<bool> in = reached(n, edges, from_input);
  for (size_t i = 0; i < n; ++i) require(in[i], "node '{}' cannot be reached from the input.", names[i]);
  std::vector<std::vector<size_t>> sources(n);
  for (const auto& [from, to] : edges) sources[to].push_back(from);

  GraphOrder                          order;
  std::set<std::pair<size_t, size_t>> late;
  std::vector<bool>                   done(n);
  const auto                          is_ready = [&](size_t i) {
    return std::all_of(sources[i].begin(), sources[i].end(), [&](size_t from) {
      return done[from] || late.contains({from, i});
    });
  };
  const auto is_begun = [&](size_t i) {  // something already reaches it in this step
    return std::find(from_input.begin(), from_input.end(), i) != from_input.end() ||
           std::any_of(sources[i].begin(), sources[i].end(), [&](size_t from) { return done[from]; });
  };
  while (order.nodes.size() < n) {
    bool moved = false;
    for (size_t i = 0; i < n; ++i)
      if (!done[i] && is_ready(i)) {
        done[i] = moved = true;
        order.nodes.push_back(i);
      }
    if (moved) continue;
    // Every remaining node waits for a later one. The first one that the input reaches uses the previous step:
    // preferably a population, not a node between populations.
    size_t start = n;
    for (const bool population : {true, false})
      for (size_t i = 0; i < n && start == n; ++i)
        if (!done[i] && remembers[i] == population && is_begun(i)) start = i;
    const bool met = start < n && walk_back(start, sources, remembers, done,
                                            [&](size_t from, size_t to) { late.emplace(from, to); });
    if (!met) {
      std::vector<std::string> stuck;
      for (size_t i = 0; i < n; ++i)
        if (!done[i]) stuck.push_back(names[i]);
      fail("the nodes {} form a cycle without a population of neurons; add a population of neurons to the cycle.",
           fmt::join(stuck, ", "));
    }
  }
  order.late.assign(late.begin(), late.end());
  return order;
}

Graph::Graph(const NamedLayers& nodes, const Edges& edges) : sources_(nodes.size()) {
  std::vector<std::string>               names;
  std::vector<bool>                      remembers;
  std::vector<std::pair<size_t, size_t>> between;
  std::vector<size_t>                    from_input, to_output;
  for (const auto& [name, layer] : nodes) {
    require(name != input_name && name != output_name, "a node cannot be called '{}'.", name);
    children({{name, *layer}});
    names.push_back(name);
    layers_.push_back(layer);
    remembers.push_back(dynamic_cast<nn::Neuron*>(layer.get()) != nullptr);
  }
  const auto index = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    require(at != names.end(), "edges: there is no node '{}'.\n  Nodes: {}, {}, {}.", name, input_name,
            fmt::join(names, ", "), output_name);
    return static_cast<size_t>(at - names.begin());
  };
  bool straight = false;
  for (const auto& [from, to] : edges) {
    require(from != output_name && to != input_name, "edges: from '{}' to '{}' has the wrong direction.", from, to);
    if (from == input_name && to == output_name)
      straight = true;
    else if (from == input_name)
      from_input.push_back(index(to));
    else if (to == output_name)
      to_output.push_back(index(from));
    else
      between.emplace_back(index(from), index(to));
  }
  require(straight || !to_output.empty(), "edges: none leads to '{}'.", output_name);
  const GraphOrder order = graph_order(names, remembers, between, from_input);
  order_                 = order.nodes;
  for (size_t i : from_input) sources_[i].push_back({Source::Kind::Input, 0});
  for (const auto& edge : between) {
    const bool is_late = std::find(order.late.begin(), order.late.end(), edge) != order.late.end();
    sources_[edge.second].push_back({is_late ? Source::Kind::Late : Source::Kind::Node, edge.first});
  }
  if (straight) outputs_.push_back({Source::Kind::Input, 0});
  for (size_t i : to_output) outputs_.push_back({Source::Kind::Node, i});
}

Tensor Graph::gathered(const std::vector<Source>& sources, const Tensor& x, const Tensors& now,
                       const Tensors& before) const {
  Tensor total;
  for (const Source& s : sources) {
    const Tensor& part = s.kind == Source::Kind::Input  ? x
                         : s.kind == Source::Kind::Node ? now[s.node]
                                                        : before[s.node];
    total              = total.defined() ? total + part : part;
  }
  return total;
}

Tensor Graph::update(const Tensor& x) {
  Tensors now(layers_.size()), before(layers_.size());
  for (const auto& sources : sources_)
    for (const Source& s : sources)
      if (s.kind == Source::Kind::Late && !before[s.node].defined())
        before[s.node] = dynamic_cast<const nn::Neuron&>(*layers_[s.node]).spikes();
  for (size_t i : order_) now[i] = (*layers_[i])(gathered(sources_[i], x, now, before));
  return gathered(outputs_, x, now, before);
}

}  // namespace braintrace::zoo
