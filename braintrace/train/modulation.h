// SPDX-License-Identifier: Apache-2.0
// The modulator of three-factor rules, from what the task says: how much worse than usual a sample went.
//
//   R̄ ← R̄ + max(1/n, 0.01) (R - R̄)       m_b = R_b - R̄
//
// R_b is the cost of sample b in the stretch of update n, R its mean over the batch. Descent on m ε reinforces what was
// active where m < 0.
#pragma once

#include <string>

#include "braintrace/compiler/graph.h"

namespace braintrace::train {

class Modulation {
 public:
  // `source`: loss, or reward (the cost is then the share of wrong answers, so that m = R̄ - R of rewards). `graph` and
  // `batch` say what the modulator must fit; throws UserError where it cannot.
  Modulation(const std::string& source, bool classes, const ETraceGraph& graph, int64_t batch, DType dtype);

  static const std::vector<std::string>& sources();

  // R_b of samples, and 1 for those that were asked at all, from steps and samples [K, B].
  struct Costs {
    Tensor of_sample, is_asked;
  };
  Costs costs(const Tensor& losses, const Tensor& correct, const Tensor& mask) const;
  // R̄ moves on, with Σ R_b and the number of samples that were asked, over the whole batch.
  void move(const Tensor& sum, const Tensor& count);
  // m for the states of the graph, with R̄ as it is now.
  Tensor   modulator(const Costs& costs) const;
  StateMap states() const;

 private:
  bool          reward_;
  Shape         shape_;  // [B, 1, …]
  LongTermState usual_, count_;
};

}  // namespace braintrace::train
