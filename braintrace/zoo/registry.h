// SPDX-License-Identifier: Apache-2.0
// The vocabulary of model descriptions: one entry per layer type. Command line, tests and docs/models.md read this
// list.
#pragma once

#include <functional>

#include "braintrace/model/module.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::zoo {

using ModulePtr = std::shared_ptr<Module>;

struct LayerType {
  std::string                             name;
  std::string                             doc;     // the equation of one step
  std::string                             fields;  // as field_specs reads them
  std::function<ModulePtr(const Fields&)> build;
};

const std::vector<LayerType>& layer_types();  // by name
void                          register_layer_type(LayerType type);

// Builds the layer that a JSON object describes; `path` is its place in the whole description.
ModulePtr build_layer(const nlohmann::json& object, const std::string& path);

// The entries of each file of this folder.
std::vector<LayerType> basic_layers();
std::vector<LayerType> recurrent_layers();
std::vector<LayerType> convolution_layers();
std::vector<LayerType> kit_layers();
std::vector<LayerType> neuron_layers();
std::vector<LayerType> spiking_layers();
std::vector<LayerType> test_programs();
std::vector<LayerType> control_flow_programs();
std::vector<LayerType> operation_programs();

}  // namespace braintrace::zoo
