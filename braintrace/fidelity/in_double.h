// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "braintrace/base/lists.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/ops/math.h"

namespace braintrace {

// While it lives, every floating-point state of the model is f64, and so is the default float type. The destructor
// restores all states.
class InDouble {
 public:
  explicit InDouble(const Module& model)
      : kept_(joined(model.states(), {{Path{}, random::default_stream()}})), wide_({.precision = DType::F64}) {
    for (const auto& [path, state] : model.states())
      require(state.initialized(), "check_grad: {} has no value yet; call init_all_states(model) first.",
              state.place());
    start();
  }
  ~InDouble() { kept_.restore(); }
  InDouble(const InDouble&)            = delete;
  InDouble& operator=(const InDouble&) = delete;

  // The initial values of all runs.
  void start() const {
    for (const auto& [where, value] : kept_.values())
      where.set(is_float(value.dtype()) ? convert(value, DType::F64) : value);
  }

 private:
  Snapshot           kept_;
  Environment::Scope wide_;
};

}  // namespace braintrace
