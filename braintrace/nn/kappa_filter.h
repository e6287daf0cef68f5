// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/model/module.h"

namespace braintrace {

// A running average of what it is given, for signals of one's own rules.
//
//   x̄ ← κ x̄ + (1-κ) x
//
// A constant input is its own average; the filter of e-prop, ē ← κ ē + ε, sums instead.
class KappaFilter : public Module {
 public:
  // x̄ starts, and starts again at reset_all_states, at `init`.
  KappaFilter(const Tensor& init, double kappa);

  Tensor update(const Tensor& x) override;  // the new x̄
  Tensor value() const { return average_.value(); }

 private:
  double         kappa_;
  ShortTermState average_;
};

}  // namespace braintrace
