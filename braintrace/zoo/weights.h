// SPDX-License-Identifier: Apache-2.0
// Weights from files into a model, by path: rnn.Wz.weight.bias is the leaf "bias" of the parameter rnn.Wz.weight.
//
//   report = load_weights(model, read_weights("net.safetensors"));      .npz, .safetensors, .msgpack
//
// Names may have a prefix that all parameters of a training checkpoint have (model.), and lists of the Python package
// are nested names, as ours. Other arrays of a checkpoint (optimizer, traces) are not weights and are not counted.
#pragma once

#include "braintrace/io/npy.h"
#include "braintrace/model/module.h"

namespace braintrace::zoo {

struct WeightReport {
  struct OtherShape {
    std::string name, in_file, in_model;
  };
  std::vector<std::string> matched;
  std::vector<std::string> missing;  // parameters that the file does not have
  std::vector<std::string> unused;   // arrays that no parameter has
  std::vector<OtherShape>  other_shape;

  bool        complete() const { return missing.empty() && unused.empty() && other_shape.empty(); }
  std::string text() const;  // some lines
};

// By the content of the file: NumPy's archive, safetensors, or msgpack as braintools and Flax write it.
NamedArrays read_weights(const std::string& path);

// Sets every parameter that has an array of its name and shape; elements become those of the parameter's type. When
// `strict`, throws UserError with the report unless all of them match, and then changes nothing.
WeightReport load_weights(const Module& model, const NamedArrays& weights, bool strict = true);

// The parameters by path, as load_weights reads them.
NamedArrays weights_of(const Module& model);

// A description may name a file of weights, "weights": "net.safetensors", beside its layers; build_model loads it. The
// path of a file that stands beside the file of the description:
std::string weights_beside(const std::string& weights, const std::string& description_file);

}  // namespace braintrace::zoo
