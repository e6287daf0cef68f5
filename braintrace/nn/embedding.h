// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/nn/layer.h"

namespace braintrace::nn {

// Only w_init is supported. The other options exist in other libraries; setting one is an error, because its updates
// would not be local to the rows that were read.
struct EmbeddingLayerOptions {
  Initializer            w_init             = init::lecun_uniform();
  std::optional<int64_t> padding_idx        = {};
  std::optional<double>  max_norm           = {};
  bool                   scale_grad_by_freq = false;
  bool                   freeze             = false;
};

// y = W[i]   one row of the table per index; indices of any rank.   W : [V,D]
// is the parameter "weight".
class Embedding : public Module {
 public:
  Embedding(int64_t num_embeddings, int64_t embedding_size, EmbeddingLayerOptions options = {});
  static Embedding from_pretrained(const Tensor& table, bool freeze = true);
  Tensor           update(const Tensor& indices) override;

  ParamState weight;
};

}  // namespace braintrace::nn
