// SPDX-License-Identifier: Apache-2.0
// A model description with its weights as a NIR graph.
//
// Layers that NIR can say: linear, plain_linear, scale, conv1d, conv2d (channels first), pool (sum, mean_of_all, or
// mean without padding; channels first), flatten, threshold, learnable_delay (width 1), li, cuba_li, integrator, and
// with a hard reset lif, if, perfect_if, filtered_lif, snn_delta and snn_expcu of if and lif neurons.
// leaky_rate_readout becomes Linear and LI. Everything else, and every setting that NIR has no word for, is an error
// that names the layer.
//
// The time step and integrator of the model go into the metadata of the graph, which other packages pass over.
#pragma once

#include "braintrace/model/module.h"
#include "braintrace/nir/graph.h"

namespace braintrace::nir {

// `model` was built from the description (JSON) and has the weights; `input` is the shape of one sample.
Graph export_graph(const std::string& description, const Module& model, const Shape& input);

}  // namespace braintrace::nir
