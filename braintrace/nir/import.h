// SPDX-License-Identifier: Apache-2.0
// A NIR graph as a model description with weights. NIR's equations are continuous; a network runs in steps of dt, and
// an integrator is chosen here. Spikes need v > v_threshold; a spike sets v to v_reset, at the start of the next step.
// Where a cycle closes, the output of the step before is used (zoo/graph.h).
#pragma once

#include <optional>

#include "braintrace/io/npy.h"
#include "braintrace/nir/graph.h"
#include "braintrace/nn/dynamics.h"

namespace braintrace::nir {

// What is not given is taken from the file where export_graph wrote it, or is 1 ms and euler.
struct ImportOptions {
  std::optional<double>         dt_ms;
  std::optional<nn::Integrator> method;
  nn::Reset                     reset     = nn::Reset::Hard;  // Soft: v - (v_threshold - v_reset), which NIR cannot say
  std::string                   surrogate = "relu_grad";
};

struct Imported {
  std::string              description;  // JSON, a chain or a graph of layers
  NamedArrays              weights;      // by path, as zoo::load_weights reads them
  std::vector<std::string> notes;        // what a user should know
};

// Throws UserError naming the node and the reason where something would be lost.
Imported import_graph(const Graph& graph, const ImportOptions& options = {});

}  // namespace braintrace::nir
