// SPDX-License-Identifier: Apache-2.0
// A learning rule: what it remembers of the past, how that advances with a step, and what it adds to the same-step
// gradient. All three compute with traced tensors; windows, batching and storage are nobody's concern here.
#pragma once

#include <string>

#include "braintrace/executor/step.h"

namespace braintrace {

class LearningRule {
 public:
  virtual ~LearningRule() = default;

  virtual std::string name() const = 0;
  // What the rule asks of the compiler.
  virtual CompileOptions scope(CompileOptions options) const { return options; }
  // Types of the tensors it remembers; all start at zero.
  virtual Types memory(const ETraceGraph& graph) const = 0;
  // The memory after this step.
  virtual Tensors advance(Step& step, const Tensors& memory) const = 0;
  // Adds to the gradient of each parameter leaf what the past contributes, given the learning signals L per group.
  // `before` and `after` are the memory around this step.
  virtual void credit(Step& step, const Tensors& before, const Tensors& after, const Tensors& L,
                      Tensors& leaf_gradients) const = 0;
};

}  // namespace braintrace
