// SPDX-License-Identifier: Apache-2.0
// Process-wide settings of a run: backend, time step, precision and the default random stream. They are active while
// the run works, and restored afterwards, so that several runs may alternate.
#pragma once

#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/random.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::train {

struct Surroundings {
  std::string backend;
  double      dt        = 1;
  DType       precision = DType::F32;
  Tensor      key       = {};  // of the default random stream
};

class InForce {
 public:
  explicit InForce(Surroundings& s)
      : of_(s),
        scope_({.dt = s.dt, .precision = s.precision, .training = true}),
        backend_(s.backend),
        key_(random::default_stream().value()) {
    random::default_stream().set(s.key);
  }
  ~InForce() {
    of_.key = random::default_stream().value();
    random::default_stream().set(key_);
  }
  InForce(const InForce&)            = delete;
  InForce& operator=(const InForce&) = delete;

 private:
  Surroundings&      of_;
  Environment::Scope scope_;
  BackendScope       backend_;
  Tensor             key_;
};

}  // namespace braintrace::train
