// SPDX-License-Identifier: Apache-2.0
// Layer types of recorded cases and tests. Each puts one question to the compiler or to a learning rule; users see
// zoo::layer_types() only.
#pragma once

#include "braintrace/nn/layer.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/registry.h"

namespace braintrace::golden {

using nn::joined;
using zoo::Cell;
using zoo::Fields;
using zoo::LayerType;
using zoo::make_cell;
using zoo::ModulePtr;

const std::vector<LayerType>& recorded_layers();

// The model of a description that may name recorded layers.
std::shared_ptr<Module> described_model(const nlohmann::json& description);

// The entries of each file of this folder.
std::vector<LayerType> programs();
std::vector<LayerType> control_flow_layers();
std::vector<LayerType> operation_layers();
std::vector<LayerType> recurrent_layers();
std::vector<LayerType> spiking_layers();

}  // namespace braintrace::golden
