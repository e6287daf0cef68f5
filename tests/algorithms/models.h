// SPDX-License-Identifier: Apache-2.0
// Models whose recurrence stays at its position: h ← leak h + op(x), one for every trainable operation, and others.
#pragma once

#include "tests/algorithms/support.h"

namespace braintrace {

inline json leaky(const json& op, const Shape& h, const std::string& activation = "identity") {
  return {{"type", "leaky_op_rnn"},
          {"op", op},
          {"h_shape", std::vector<int64_t>(h.begin(), h.end())},
          {"leak", 0.7},
          {"input", "x"},
          {"activation", activation}};
}

struct DiagonalModel {
  const char* name;
  json        model;
  Shape       x;
  bool        ids = false;  // inputs are rows of a table

  Tensor inputs(const Shape& leading, uint64_t seed = 5) const {
    Shape shape = leading;
    shape.insert(shape.end(), x.begin(), x.end());
    if (ids) return random::randint(random::key(seed), shape, 0, 3);
    return normal({Environment::precision(), shape}, seed);
  }
};
inline const std::vector<DiagonalModel>& diagonal_models() {
  const json conv    = {{"type", "conv2d"},      {"in_size", {3, 3, 1}}, {"out_channels", 2},
                        {"kernel_size", {2, 2}}, {"padding", "VALID"},   {"bias", true}};
  const json csr     = {{"shape", {3, 4}}, {"indptr", {0, 2, 3, 5}}, {"indices", {0, 2, 1, 0, 3}}};
  const json grouped = {{"kind", "grouped"}, {"groups", 2}, {"k_in", 3}, {"k_out", 2}, {"bias_shape", {2, 2}}};

  static const std::vector<DiagonalModel> list = {
      {"dense", leaky({{"kind", "dense"}, {"n_in", 3}, {"n_out", 4}, {"bias_shape", {4}}}, {4}), {3}},
      {"dense_tanh", leaky({{"kind", "dense"}, {"n_in", 3}, {"n_out", 4}, {"bias_shape", {4}}}, {4}, "tanh"), {3}},
      {"conv", leaky({{"kind", "conv"}, {"conv", conv}}, {2, 2, 2}), {3, 3, 1}},
      {"sparse", leaky({{"kind", "sparse"}, {"csr", csr}, {"bias_shape", {4}}}, {4}), {3}},
      {"lora",
       leaky({{"kind", "lora"}, {"n_in", 3}, {"n_out", 4}, {"rank", 2}, {"alpha", 0.7}, {"bias_shape", {4}}}, {4}),
       {3}},
      {"grouped", leaky(grouped, {2, 2}), {2, 3}},
      {"embedding", leaky({{"kind", "embedding"}, {"vocab", 3}, {"n_out", 4}}, {4}), {}, true},
      {"elementwise", layer("diag_rnn", 3, 4), {3}},
      {"two states", layer("stacked_pair", 3, 4), {3}},
      {"old states", layer("skip_out_rnn", 3, 4, {{"leak", 0.7}}), {3}},
      {"spiking", layer("snn_expcu", 3, 4, {{"recurrent", false}, {"neuron", "alif"}, {"surrogate", "sigmoid"}}), {3}},
  };
  return list;
}

}  // namespace braintrace
