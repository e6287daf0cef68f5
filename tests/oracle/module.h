// SPDX-License-Identifier: Apache-2.0
// A described model as a module of the library, and learners that run it.
#pragma once

#include <memory>

#include "braintrace/algorithms/learner.h"
#include "braintrace/base/dtype.h"
#include "tests/oracle/model.h"

namespace braintrace::oracle {

class DescribedModule : public Module {
 public:
  DescribedModule(const Model& model, const Data& data, DType dtype);

  Tensor update(const Tensor& x) override;
  // The loss of one step of a learner around this module.
  Tensor loss(OnlineLearner& learner, const Tensor& x, const Tensor& target);
  // The same from an output, for losses that read no states.
  Tensor loss_of(const Tensor& y, const Tensor& target) const { return outside({}, y, target); }
  bool   loss_reads_states() const;

  Tensor             tensor(const std::vector<double>& values, const Sizes& shape) const;  // batched
  static std::string param_name(int i) { return "w" + std::to_string(i); }
  static std::string state_name(int i) { return "h" + std::to_string(i); }

 private:
  Tensor evaluate(int node, const Tensors& values) const;
  Tensor outside(const Tensors& old, const Tensor& y, const Tensor& target) const;

  Model                   m_;
  DType                   dtype_;
  std::vector<ParamState> params_;
  std::vector<State>      states_;
};

}  // namespace braintrace::oracle
