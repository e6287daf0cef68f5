// SPDX-License-Identifier: Apache-2.0
// Converts a NIR graph to a model description with weights. NIR equations are continuous in time; a network runs in
// steps of dt, with the integrator chosen here. Spikes need v > v_threshold; a spike sets v to v_reset, at the start of
// the next step. A cycle uses the output of the previous step (zoo/graph.h).
#pragma once

#include <optional>

#include "braintrace/io/npy.h"
#include "braintrace/nir/graph.h"
#include "braintrace/nn/dynamics.h"

namespace braintrace::nir {

// Options that are not set are taken from the file if export_graph wrote it; otherwise they are 1 ms and euler.
struct ImportOptions {
  std::optional<double>         dt_ms;
  std::optional<nn::Integrator> method;
  nn::Reset                     reset = nn::Reset::Hard;  // Soft: v - (v_threshold - v_reset), which NIR cannot express
  std::string                   surrogate = "relu_grad";
};

struct Imported {
  std::string              description;  // JSON, a chain or a graph of layers
  NamedArrays              weights;      // by path, in the form that zoo::load_weights reads
  std::vector<std::string> notes;        // for the user
};

// Throws a UserError that names the node and the reason if something would be lost.
Imported import_graph(const Graph& graph, const ImportOptions& options = {});

}  // namespace braintrace::nir
