// SPDX-License-Identifier: Apache-2.0
// Running normalization of the inputs of a stream. With a = max(1/n, 1/horizon) at record n:
//
//   d = x - μ,   μ ← μ + a d,   v ← v + a (d (x - μ) - v),   x ↦ (x - μ) / √(v + 1e-6)
//
// so the first records have equal weight, and later old records are forgotten. Or with fixed numbers, x ↦ (x - shift) /
// scale.
#pragma once

#include <optional>

#include "braintrace/model/module.h"

namespace braintrace::stream {

struct Scaling {
  int64_t horizon = 0;             // records; 0: no running normalization
  Tensor  shift = {}, scale = {};  // fixed numbers, of the shape of the input or [n] for its elements
};

class RunningScale {
 public:
  RunningScale(const Type& input, const Scaling& how);

  bool     active() const { return horizon_ > 0 || shift_.defined(); }
  Tensor   operator()(const Tensor& x) const;  // inside a step: updates the statistics with x, then scales it
  StateMap states() const;

 private:
  int64_t       horizon_;
  Tensor        shift_, scale_;
  LongTermState count_, mean_, variance_;
};

}  // namespace braintrace::stream
