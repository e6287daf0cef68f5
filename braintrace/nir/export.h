// SPDX-License-Identifier: Apache-2.0
// Converts a model description with its weights to a NIR graph.
//
// Layers that NIR can express: linear, plain_linear, scale, conv1d, conv2d (channels first), pool (sum, mean_of_all, or
// mean without padding; channels first), flatten, threshold, learnable_delay (width 1), li, cuba_li, integrator, and
// with a hard reset lif, if, perfect_if, filtered_lif, snn_delta and snn_expcu of if and lif neurons.
// leaky_rate_readout becomes Linear and LI. For everything else, and every setting that NIR cannot express, the error
// names the layer.
//
// The time step and integrator of the model are stored in the metadata of the graph, which other packages ignore.
#pragma once

#include "braintrace/model/module.h"
#include "braintrace/nir/graph.h"

namespace braintrace::nir {

// `model` was built from the description (JSON) and has the weights; `input` is the shape of one sample.
Graph export_graph(const std::string& description, const Module& model, const Shape& input);

}  // namespace braintrace::nir
