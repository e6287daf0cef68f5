// SPDX-License-Identifier: Apache-2.0
// Any bytes either fail with a UserError or are a graph; a graph either cannot be imported or gives a model that
// takes its weights.
#include "braintrace/nir/import.h"
#include "braintrace/zoo/model.h"
#include "braintrace/zoo/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace braintrace;
  try {
    const nir::Graph graph = nir::decode({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
    if (nir::decode(nir::encode(graph), "again").nodes.size() != graph.nodes.size()) __builtin_trap();
    const nir::Imported net = nir::import_graph(graph);
    if (!zoo::load_weights(*zoo::build_model(net.description), net.weights).complete()) __builtin_trap();
  } catch (const UserError&) {
  }
  return 0;
}
