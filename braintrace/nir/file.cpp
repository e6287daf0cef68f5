// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "braintrace/io/hdf5.h"
#include "braintrace/nir/graph.h"

namespace braintrace::nir {

namespace {

using Group = std::shared_ptr<Hdf5Group>;

template <class T>
const T* member(const Hdf5Group& g, const std::string& name) {
  const auto it = g.members.find(name);
  return it == g.members.end() ? nullptr : std::get_if<T>(&it->second);
}

std::string text_in(const Hdf5Group& g, const std::string& name, const std::string& where) {
  const auto* t = member<Hdf5Texts>(g, name);
  require(t && t->values.size() == 1, "{}: the text '{}' is missing; this is not a NIR file.", where, name);
  return t->values[0];
}

Graph graph_in(const Hdf5Group& g, const std::string& where);

Node node_in(const Hdf5Group& g, const std::string& where) {
  Node node{text_in(g, "type", where), {}, {}, {}};
  if (node.type == "NIRGraph") {
    node.graph = std::make_shared<Graph>(graph_in(g, where));
    return node;
  }
  for (const auto& [name, item] : g.members) {
    if (const auto* a = std::get_if<Array>(&item)) node.fields.emplace(name, *a);
    if (const auto* t = std::get_if<Hdf5Texts>(&item); t && name != "type" && t->values.size() == 1)
      node.texts.emplace(name, t->values[0]);
  }
  return node;
}

Graph graph_in(const Hdf5Group& g, const std::string& where) {
  Graph       out;
  const auto* nodes = member<Group>(g, "nodes");
  require(nodes, "{}: the group 'nodes' is missing; this is not a NIR file.", where);
  for (const auto& [name, item] : (*nodes)->members) {
    const auto* group = std::get_if<Group>(&item);
    require(group, "{}/nodes/{}: expected a group.", where, name);
    out.nodes.emplace(name, node_in(**group, where + "/nodes/" + name));
  }
  if (const auto* edges = member<Hdf5Texts>(g, "edges")) {
    require(edges->shape.size() == 2 && edges->shape[1] == 2, "{}/edges: expected pairs of names.", where);
    for (size_t i = 0; i + 1 < edges->values.size(); i += 2)
      out.edges.emplace_back(edges->values[i], edges->values[i + 1]);
  }
  if (const auto* texts = member<Group>(g, "metadata"))
    for (const auto& [name, item] : (*texts)->members)
      if (const auto* t = std::get_if<Hdf5Texts>(&item); t && t->values.size() == 1)
        out.metadata.emplace(name, t->values[0]);
  return out;
}

Hdf5Item one_text(const std::string& text) { return Hdf5Texts{{}, {text}}; }

Group group_of(const Graph& graph);

Group group_of(const Node& node) {
  if (node.graph) return group_of(*node.graph);
  auto g             = std::make_shared<Hdf5Group>();
  g->members["type"] = one_text(node.type);
  for (const auto& [name, array] : node.fields) g->members[name] = array;
  for (const auto& [name, text] : node.texts) g->members[name] = one_text(text);
  return g;
}

Group group_of(const Graph& graph) {
  auto g = std::make_shared<Hdf5Group>(), nodes = std::make_shared<Hdf5Group>();
  for (const auto& [name, node] : graph.nodes) nodes->members[name] = group_of(node);
  Hdf5Texts edges{{static_cast<int64_t>(graph.edges.size()), 2}, {}};
  for (const auto& [from, to] : graph.edges) edges.values.insert(edges.values.end(), {from, to});
  g->members["type"]  = one_text("NIRGraph");
  g->members["nodes"] = nodes;
  g->members["edges"] = edges;
  if (!graph.metadata.empty()) {
    auto metadata = std::make_shared<Hdf5Group>();
    for (const auto& [name, text] : graph.metadata) metadata->members[name] = one_text(text);
    g->members["metadata"] = metadata;
  }
  return g;
}

}  // namespace

Graph decode(ByteSpan bytes, const std::string& where) {
  const Hdf5Group root = decode_hdf5(bytes, where);
  const auto*     node = member<Group>(root, "node");
  require(node && text_in(**node, "type", where + "/node") == "NIRGraph",
          "{}: the group 'node' of type NIRGraph is missing; this is not a NIR file.", where);
  return graph_in(**node, where + "/node");
}
Graph read(const std::string& path) { return decode(read_file(path).span(), path); }

Bytes encode(const Graph& graph) {
  Hdf5Group root;
  root.members["version"] = one_text(format_version);
  root.members["node"]    = group_of(graph);
  return encode_hdf5(root);
}
void write(const std::string& path, const Graph& graph) { write_file(path, encode(graph)); }

}  // namespace braintrace::nir
