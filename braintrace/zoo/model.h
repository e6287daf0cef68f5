// SPDX-License-Identifier: Apache-2.0
// Models from descriptions.
//
//   {"type": "chain", "layers": [{"name": "rnn", "type": "gru", "n_in": 10, "n_rec": 64, "activation": "tanh"},
//                                {"name": "out", "type": "linear", "n_in": 64, "n_out": 5}]}
//
// A layer's states have its name as prefix: rnn.Wz.weight, rnn.h. A description may also be a single layer or a graph
// (graph.h). "weights": "net.safetensors" names a file with values for all parameters (weights.h).
#pragma once

#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

// Applies layers in order.
class Chain : public Module {
 public:
  explicit Chain(const std::vector<std::pair<std::string, ModulePtr>>& layers);
  Tensor update(const Tensor& x) override;

 private:
  std::vector<ModulePtr> layers_;
};

// `also`: layer types in addition to layer_types().
std::shared_ptr<Module> build_model(const nlohmann::json& description, const std::vector<LayerType>& also = {});
// From JSON text; messages about syntax errors name the location.
std::shared_ptr<Module> build_model(const std::string& text);
std::shared_ptr<Module> build_model(const char* text);

struct BuiltinModel {
  std::string name, doc, description;  // JSON
};
const std::vector<BuiltinModel>& builtin_models();
const BuiltinModel& builtin_model(const std::string& name);  // throws a UserError that suggests the closest name

// docs/models.md: every layer type, built-in model, surrogate and activation.
std::string vocabulary_page();

}  // namespace braintrace::zoo
