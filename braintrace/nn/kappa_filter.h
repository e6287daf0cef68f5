// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/model/module.h"

namespace braintrace {

// A running average of its input, for signals of custom rules.
//
//   x̄ ← κ x̄ + (1-κ) x
//
// The average of a constant input is the input; the filter of e-prop, ē ← κ ē + ε, sums instead.
class KappaFilter : public Module {
 public:
  // `init` is the initial value of x̄, also after reset_all_states.
  KappaFilter(const Tensor& init, double kappa);

  Tensor update(const Tensor& x) override;  // the new x̄
  Tensor value() const { return average_.value(); }

 private:
  double         kappa_;
  ShortTermState average_;
};

}  // namespace braintrace
