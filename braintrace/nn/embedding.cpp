// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/embedding.h"

#include <fmt/format.h>

#include "braintrace/etp/embedding.h"

namespace braintrace::nn {

namespace {

Shape checked(int64_t V, int64_t D, const EmbeddingLayerOptions& o) {
  require(V > 0 && D > 0, "Embedding: the table needs positive sizes, got ({}, {}).", V, D);
  require(!o.padding_idx || (*o.padding_idx >= -V && *o.padding_idx < V),
          "Embedding: padding_idx must lie in {} … {}, got {}.", -V, V - 1, o.padding_idx.value_or(0));
  std::string refused;
  const auto  refuse = [&](bool given, const std::string& text) {
    if (given) refused += (refused.empty() ? "" : ", ") + text;
  };
  refuse(o.max_norm.has_value(), fmt::format("max_norm={}", o.max_norm.value_or(0)));
  refuse(o.freeze, "freeze=true");
  refuse(o.scale_grad_by_freq, "scale_grad_by_freq=true");
  refuse(o.padding_idx.has_value(), fmt::format("padding_idx={}", o.padding_idx.value_or(0)));
  require(refused.empty(),
          "Embedding: not supported with online learning: {}.\n  Leave these "
          "options out.",
          refused);
  return {V, D};
}

}  // namespace

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_size, EmbeddingLayerOptions o)
    : weight(state("weight", ParamState(o.w_init(checked(num_embeddings, embedding_size, o))))) {
  field("num_embeddings", std::to_string(num_embeddings));
  field("embedding_size", std::to_string(embedding_size));
}

Embedding Embedding::from_pretrained(const Tensor& table, bool freeze) {
  require(table.rank() == 2, "Embedding: a table has two axes, got {}.", to_string(table.type()));
  return Embedding(table.shape()[0], table.shape()[1], {.w_init = table, .freeze = freeze});
}

Tensor Embedding::update(const Tensor& indices) {
  return fold_batch(indices, 0, [&](const Tensor& i) { return embedding(i, weight.value()); });
}

}  // namespace braintrace::nn
