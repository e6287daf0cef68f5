// SPDX-License-Identifier: Apache-2.0
#include "braintrace/verify/layers/layers.h"

#include "braintrace/zoo/model.h"

namespace braintrace::golden {

const std::vector<LayerType>& recorded_layers() {
  static const std::vector<LayerType> types = [] {
    std::vector<LayerType> all;
    for (const auto& family :
         {programs(), control_flow_layers(), operation_layers(), recurrent_layers(), spiking_layers()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return types;
}

std::shared_ptr<Module> described_model(const nlohmann::json& description) {
  return zoo::build_model(description, recorded_layers());
}

}  // namespace braintrace::golden
