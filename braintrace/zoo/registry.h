// SPDX-License-Identifier: Apache-2.0
// The layer types of model descriptions. The command line, tests and docs/models.md use this list.
#pragma once

#include <functional>

#include "braintrace/model/module.h"
#include "braintrace/zoo/fields.h"

namespace braintrace::zoo {

using ModulePtr = std::shared_ptr<Module>;

struct LayerType {
  std::string                             name;
  std::string                             doc;     // the equation of one step
  std::string                             fields;  // in the format of field_specs
  std::function<ModulePtr(const Fields&)> build;
};

const std::vector<LayerType>& layer_types();  // by name
void                          register_layer_type(LayerType type);

// Builds the layer that a JSON object describes; `path` is its location in the whole description. Its type may be from
// `also` or from layer_types().
ModulePtr build_layer(const nlohmann::json& object, const std::string& path, const std::vector<LayerType>& also = {});

// The entries of each file of this folder.
std::vector<LayerType> basic_layers();
std::vector<LayerType> recurrent_layers();
std::vector<LayerType> convolution_layers();
std::vector<LayerType> kit_layers();
std::vector<LayerType> neuron_layers();
std::vector<LayerType> integrator_layers();
std::vector<LayerType> synapse_layers();
std::vector<LayerType> spike_reader_layers();
std::vector<LayerType> spiking_layers();

}  // namespace braintrace::zoo
