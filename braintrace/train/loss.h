// SPDX-License-Identifier: Apache-2.0
// Loss and correctness of the outputs of a step: the loss of each sample, and for classes whether the prediction is
// right.
#pragma once

#include <string>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace::train {

const std::vector<std::string>& loss_names();  // including "auto"

class StepLoss {
 public:
  // Throws UserError if the loss does not support such targets.
  StepLoss(const std::string& name, bool classes);

  // outputs [B, …], targets [B] of classes or [B, …]   →   [B]
  Tensor operator()(const Tensor& outputs, const Tensor& targets) const { return loss_(outputs, targets); }
  // 1 where the largest output is that of the class, in the type of the outputs; zeros for values.
  Tensor correct(const Tensor& outputs, const Tensor& targets) const;

 private:
  bool classes_;
  Tensor (*loss_)(const Tensor&, const Tensor&);
};

}  // namespace braintrace::train
