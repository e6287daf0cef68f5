// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/linear.h"

#include "braintrace/etp/dense.h"
#include "braintrace/nn/init.h"

namespace braintrace::nn {

namespace {

Leaves initial(int64_t n_in, int64_t n_out, bool bias) {
  Leaves leaves{{"weight", kaiming_normal({n_in, n_out})}};
  if (bias) leaves["bias"] = zeros({n_out});
  return leaves;
}

}  // namespace

Linear::Linear(int64_t n_in, int64_t n_out, bool bias)
    : weight(state("weight", ParamState(initial(n_in, n_out, bias)))) {}

Tensor Linear::update(const Tensor& x) {
  const auto names = weight.leaf_names();
  return matmul(x, weight.leaf("weight"), names.size() > 1 ? weight.leaf("bias") : Tensor());
}

}  // namespace braintrace::nn
