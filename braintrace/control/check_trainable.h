// SPDX-License-Identifier: Apache-2.0
// Checks the laws of a trainable operation, built in or registered by a user, on random values of its samples.
#pragma once

#include "braintrace/etp/rules.h"

namespace braintrace {

// Largest relative error of each law over all samples and weights; zero up to rounding if the law holds.
struct TrainableErrors {
  double pull_back = 0;  // fold(coefficient · spread(c)) against the vjp of the operation
  double contract  = 0;  // contract(ℓ, instant(D_f)) against the vjp at Σ_S ℓ D_f
  double propagate = 0;  // contract(ℓ, D instant(D_f)) against the vjp at Σ_S ℓ (D D_f)
  double batched   = 0;  // gradient of a batch against the sum over its samples

  double largest() const;
};
TrainableErrors measure_trainable(const Op& op, uint64_t seed = 1);

// Throws a UserError that names the law that the record breaks, or the slot that is missing.
void check_trainable(const Op& op);

}  // namespace braintrace
