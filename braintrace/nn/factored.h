// SPDX-License-Identifier: Apache-2.0
// Linear layers with structure: low rank, sparse, grouped.
#pragma once

#include "braintrace/nn/linear.h"
#include "braintrace/ops/sparse.h"

namespace braintrace::nn {

struct LoRAOptions {
  std::shared_ptr<Module> base_module = {};
  Initializer             kernel_init = init::lecun_normal();  // of A; B starts at zero
  std::optional<double>   alpha       = {};
};

// y = α x A B + base(x)     A : [I,r] ("lora_a"), B : [r,O] ("lora_b"), α = 1/r
// by default     Hu et al. 2021
class LoRA : public Module {
 public:
  LoRA(int64_t in_features, int64_t rank, int64_t out_features, LoRAOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState weight;

 private:
  std::shared_ptr<Module> base_;
  double                  alpha_;
};

// y = x W + b         W sparse with a fixed pattern; leaf "weight" [E] holds
// one value per stored entry
class SparseLinear : public Module {
 public:
  SparseLinear(SparsePattern pattern, const Tensor& values, OptionalInit b_init = no_bias);
  Tensor update(const Tensor& x) override;

  ParamState weight;

 private:
  SparsePattern pattern_;
};

// y_g = x_g W_g + b_g       W : [G,K,N], b : [G,N];   x : [...,G,K]
class GroupedLinear : public Module {
 public:
  GroupedLinear(int64_t num_groups, int64_t in_features, int64_t out_features,
                Initializer w_init = init::plain::kaiming_normal(), OptionalInit b_init = 0);
  Tensor update(const Tensor& x) override;

  ParamState weight;
};

}  // namespace braintrace::nn
