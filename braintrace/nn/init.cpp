// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/init.h"

#include <cmath>

#include "braintrace/base/rng.h"

namespace braintrace::nn {

Tensor kaiming_normal(Shape shape) {
  static thread_local Rng rng(0);
  std::vector<double>     v(static_cast<size_t>(size_of(shape)));
  const double            scale = std::sqrt(2.0 / static_cast<double>(shape.front()));
  for (double& x : v) x = scale * rng.normal();
  return Tensor(from_doubles({DType::F32, std::move(shape)}, v));
}

}  // namespace braintrace::nn
