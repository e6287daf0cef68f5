// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/factored.h"

#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/ops/math.h"

namespace braintrace::nn {

namespace {

Leaves low_rank(int64_t in, int64_t rank, int64_t out, const Initializer& init) {
  require(in > 0 && rank > 0 && out > 0, "LoRA: sizes must be positive, got in {}, rank {}, out {}.", in, rank, out);
  return {{"lora_a", init({in, rank})}, {"lora_b", Initializer(0)({rank, out})}};
}

Leaves sparse_leaves(const SparsePattern& p, const Tensor& values, const OptionalInit& b_init) {
  require(values.shape() == p.rows.shape(), "SparseLinear: the pattern has {} stored entries, but values are {}.",
          p.rows.size(), to_string(values.type()));
  Leaves leaves{{"weight", values}};
  if (b_init) leaves["bias"] = (*b_init)({p.n_cols});
  return leaves;
}

}  // namespace

LoRA::LoRA(int64_t in_features, int64_t rank, int64_t out_features, LoRAOptions o)
    : weight(state("weight", ParamState(low_rank(in_features, rank, out_features, o.kernel_init)))),
      base_(o.base_module),
      alpha_(o.alpha.value_or(1.0 / static_cast<double>(rank))) {
  field("in_features", std::to_string(in_features));
  field("lora_rank", std::to_string(rank));
  field("out_features", std::to_string(out_features));
  if (base_) children({{"base_module", *base_}});
}

// The factor the layer calls A faces the input; the operation calls that one B.
Tensor LoRA::update(const Tensor& x) {
  const Tensor a = weight.leaf("lora_a"), b = weight.leaf("lora_b");
  const Tensor y = fold_batch(x, 1, [&](const Tensor& v) { return lora_matmul(v, a, b, {}, {.alpha = alpha_}); });
  return base_ ? y + (*base_)(x) : y;
}

SparseLinear::SparseLinear(SparsePattern pattern, const Tensor& values, OptionalInit b_init)
    : weight(state("weight", ParamState(sparse_leaves(pattern, values, b_init)))), pattern_(std::move(pattern)) {
  field("in_size", Size(pattern_.n_rows).text());
  field("out_size", Size(pattern_.n_cols).text());
  field("stored", std::to_string(values.size()));
}

Tensor SparseLinear::update(const Tensor& x) {
  require(x.rank() >= 1 && x.shape().back() == pattern_.n_rows, ErrorKind::Shape,
          "SparseLinear: the last axis of x must have size {}, got {}.", pattern_.n_rows, to_string(x.type()));
  return fold_batch(x, 1, [&](const Tensor& v) {
    return sparse_matmul(v, weight.leaf("weight"), pattern_, leaf_or_none(weight, "bias"));
  });
}

GroupedLinear::GroupedLinear(int64_t num_groups, int64_t in_features, int64_t out_features, Initializer w_init,
                             OptionalInit b_init)
    : weight(state("weight", ParamState(weight_and_bias(
                                 Size({num_groups, in_features, out_features}).checked("GroupedLinear", "size").dims(),
                                 w_init, {num_groups, out_features}, b_init)))) {
  field("num_groups", std::to_string(num_groups));
  field("in_features", std::to_string(in_features));
  field("out_features", std::to_string(out_features));
}

Tensor GroupedLinear::update(const Tensor& x) {
  return fold_batch(
      x, 2, [&](const Tensor& v) { return grouped_matmul(v, weight.leaf("weight"), leaf_or_none(weight, "bias")); });
}

}  // namespace braintrace::nn
