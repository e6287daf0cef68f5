// SPDX-License-Identifier: Apache-2.0
#include "braintrace/zoo/model.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "braintrace/base/json.h"
#include "braintrace/base/nearest.h"
#include "braintrace/model/name.h"
#include "braintrace/zoo/graph.h"
#include "braintrace/zoo/weights.h"

namespace braintrace::zoo {

using nlohmann::json;

namespace {

std::vector<LayerType>& table() {
  static std::vector<LayerType> types = [] {
    std::vector<LayerType> all;
    for (const auto& family : {basic_layers(), kit_layers(), recurrent_layers(), convolution_layers(), neuron_layers(),
                               integrator_layers(), synapse_layers(), spike_reader_layers(), spiking_layers()})
      all.insert(all.end(), family.begin(), family.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return all;
  }();
  return types;
}

const LayerType* find_type(const std::string& name, const std::vector<LayerType>& types) {
  for (const LayerType& t : types)
    if (t.name == name) return &t;
  return nullptr;
}

std::string type_of(const json& object, const std::string& path) {
  const std::string where = path.empty() ? "model" : path;
  require(object.is_object(), "{}: expected an object with a field 'type', got {}.", where, shown_json(object));
  require(object.contains("type") && object["type"].is_string(), "{}: needs a string field 'type', such as \"gru\".",
          where);
  return object["type"].get<std::string>();
}

NamedLayers named_layers(const json& list, const std::string& where, const std::vector<LayerType>& also) {
  require(list.is_array() && !list.empty(), "{}: expected a list of at least one layer.", where);
  NamedLayers layers;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", where, i);
    require(list[i].is_object(), "{}: expected an object with fields 'name' and 'type'.", at);
    const json given = list[i].value("name", json(fmt::format("layer{}", i)));
    require(given.is_string() && is_name(given.get<std::string>()),
            "{}.name: expected letters, digits, '_' and '-' (at most 100), got {}.", at, shown_json(given));
    const std::string name = given.get<std::string>();
    for (const auto& [other, m] : layers)
      require(other != name, "{}.name: '{}' is used twice; give each layer its own name.", at, name);
    layers.emplace_back(name, build_layer(list[i], at, also));
  }
  return layers;
}

std::string below(const std::string& path, const char* field) { return path.empty() ? field : path + "." + field; }

ModulePtr build_chain(const json& object, const std::string& path, const std::vector<LayerType>& also) {
  const Fields fields(object, path, "chain", field_specs("layers"));
  return std::make_shared<Chain>(named_layers(object["layers"], below(path, "layers"), also));
}

ModulePtr build_graph(const json& object, const std::string& path, const std::vector<LayerType>& also) {
  const Fields      fields(object, path, "graph", field_specs("nodes edges in_size?"));
  const NamedLayers nodes = named_layers(object["nodes"], below(path, "nodes"), also);
  Edges             edges;
  const json&       list = object["edges"];
  const std::string at   = below(path, "edges");
  require(list.is_array(), "{}: expected a list of pairs of names, got {}.", at, shown_json(list));
  for (const json& e : list) {
    require(e.is_array() && e.size() == 2 && e[0].is_string() && e[1].is_string(),
            "{}: expected [from, to], two names of nodes, got {}.", at, shown_json(e));
    edges.emplace_back(e[0].get<std::string>(), e[1].get<std::string>());
  }
  try {
    return std::make_shared<Graph>(nodes, edges);
  } catch (const UserError& error) {
    fail("{}: {}", path.empty() ? "graph" : path, error.what());
  }
}

}  // namespace

const std::vector<LayerType>& layer_types() { return table(); }

void register_layer_type(LayerType type) {
  require(!find_type(type.name, table()), "register_layer_type: '{}' exists already.", type.name);
  auto& all = table();
  all.insert(
      std::upper_bound(all.begin(), all.end(), type, [](const auto& a, const auto& b) { return a.name < b.name; }),
      type);
}

ModulePtr build_layer(const json& object, const std::string& path, const std::vector<LayerType>& also) {
  const std::string type = type_of(object, path);
  if (type == "chain") return build_chain(object, path, also);
  if (type == "graph") return build_graph(object, path, also);
  const LayerType* entry = find_type(type, table());
  if (!entry) entry = find_type(type, also);
  if (!entry) {
    std::vector<std::string> known{"chain", "graph"};
    for (const LayerType& t : table()) known.push_back(t.name);
    fail("{}type: there is no layer '{}'{}\n  Known: {}.", path.empty() ? "" : path + ".", type, hint(type, known),
         fmt::join(known, ", "));
  }
  return entry->build(Fields(object, path, type, field_specs(entry->fields)));
}

Chain::Chain(const std::vector<std::pair<std::string, ModulePtr>>& layers) {
  for (const auto& [name, layer] : layers) {
    children({{name, *layer}});
    layers_.push_back(layer);
  }
}

Tensor Chain::update(const Tensor& x) {
  Tensor y = x;
  for (const ModulePtr& layer : layers_) y = (*layer)(y);
  return y;
}

std::shared_ptr<Module> build_model(const json& description, const std::vector<LayerType>& also) {
  if (!description.is_object() || !description.contains("weights")) return build_layer(description, "", also);
  json       layers  = description;
  const json weights = layers["weights"];
  require(weights.is_string(), "weights: expected the name of a file, got {}.", shown_json(weights));
  layers.erase("weights");
  const auto model = build_layer(layers, "", also);
  const auto path  = weights.get<std::string>();
  const auto named = read_weights(path);  // errors name the file
  try {
    load_weights(*model, named);
  } catch (const UserError& error) {
    fail(error.kind(), "weights: {}: {}", path, error.what());
  }
  return model;
}

std::shared_ptr<Module> build_model(const std::string& text) {
  return build_model(read_json(text, "model description"));
}
std::shared_ptr<Module> build_model(const char* text) { return build_model(std::string(text)); }

}  // namespace braintrace::zoo
