// SPDX-License-Identifier: Apache-2.0
// The measured call: one call of a learner on a model, as machine code.
//
//   sequence   gradient of the mean loss over T steps; traces start at zero and are dropped
//   stream     one step with gradient and update of the weights by gradient descent; traces persist
#pragma once

#include <functional>
#include <memory>

#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/learner.h"
#include "braintrace/functions/gradients.h"
#include "braintrace/model/frame.h"
#include "braintrace/nn/optim.h"

namespace braintrace::bench {

enum class Mode : uint8_t { Sequence, Stream };
std::string_view name_of(Mode mode);
Mode             mode_named(const std::string& name);  // throws UserError
// Whether the rule can be measured in this mode. Throws a UserError if a loss alone is not enough in any mode.
bool is_measurable(const std::string& rule, Mode mode);

class Training {
 public:
  // Compiles the graph of the model for inputs of the type of x: [T, …] for a sequence, otherwise of one step.
  Training(Module& model, const std::string& rule, Mode mode, Tensor x, Tensor y);
  Training(const Training&)            = delete;
  Training& operator=(const Training&) = delete;

  // The first call compiles. A stream returns no gradients. Must not be called after run().
  Gradients call() { return call_(); }
  // The same, for timing. If programs run on a device, gradients stay there until they are read.
  void run();
  // The call as a program, before any transformation.
  StatefulProgram traced();
  size_t          trace_bytes() const;  // that the learner carries from step to step

 private:
  Tensor                       loss(const Tensor& x, const Tensor& y) { return mean_square((*learner_)(x), y); }
  detail::EtraceResult<Tensor> gradients(const Tensor& xs, const Tensor& ys);
  void                         keep_on_device();
  Tensor                       update(const Tensor& x, const Tensor& y);

  static Tensor mean_square(const Tensor& a, const Tensor& b);

  Module&                        model_;
  Mode                           mode_;
  Tensor                         x_, y_;
  std::unique_ptr<OnlineLearner> learner_;
  optim::SGD                     optimizer_{1e-3};
  std::function<Gradients()>     call_;
  std::vector<ShortTermState>    kept_;  // gradients on the device, in the order of call()
  std::function<void()>          run_;
};

}  // namespace braintrace::bench
