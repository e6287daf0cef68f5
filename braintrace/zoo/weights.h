// SPDX-License-Identifier: Apache-2.0
// Loads weights from files into a model, by path: rnn.Wz.weight.bias is the leaf "bias" of the parameter rnn.Wz.weight.
//
//   report = load_weights(model, read_weights("net.safetensors"));      .npz, .safetensors, .msgpack
//
// Names may have the prefix of parameters in a training checkpoint (model.); lists of the Python package are nested
// names, like ours. Other arrays of a checkpoint (optimizer, traces) are ignored.
#pragma once

#include "braintrace/io/npy.h"
#include "braintrace/model/module.h"

namespace braintrace::zoo {

struct WeightReport {
  struct OtherShape {
    std::string name, in_file, in_model;
  };
  std::vector<std::string> matched;
  std::vector<std::string> missing;  // parameters that are not in the file
  std::vector<std::string> unused;   // arrays that match no parameter
  std::vector<OtherShape>  other_shape;

  bool        complete() const { return missing.empty() && unused.empty() && other_shape.empty(); }
  std::string text() const;  // several lines
};

// The content of the file determines its format: a NumPy archive, safetensors, or msgpack as written by braintools and
// Flax.
NamedArrays read_weights(const std::string& path);

// Sets every parameter for which there is an array of the same name and shape, and converts its elements to the type of
// the parameter. With `strict`, throws a UserError with the report unless all of them match, and then changes nothing.
WeightReport load_weights(const Module& model, const NamedArrays& weights, bool strict = true);

// The parameters by path, in the form that load_weights reads.
NamedArrays weights_of(const Module& model);

// A description may name a file of weights, "weights": "net.safetensors"; build_model loads it. The path of a file
// relative to the folder of the description:
std::string weights_beside(const std::string& weights, const std::string& description_file);

}  // namespace braintrace::zoo
