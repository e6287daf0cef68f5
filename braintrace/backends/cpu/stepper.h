// SPDX-License-Identifier: Apache-2.0
// A program that runs again and again on its own results, as a learner does on a stream: states, traces and weights
// stay in memory of their own. A result overwrites the argument it becomes where the program allows it; otherwise the
// two take turns. A step looks nothing up and allocates nothing.
#pragma once

#include "braintrace/backends/cpu/cpu_backend.h"

namespace braintrace::cpu {

class Stepper {
 public:
  // A result that is an argument of the next step.
  struct Feed {
    size_t result, arg;
  };
  // `args` are those of the first step; only the fed ones are kept.
  Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args);

  // Arguments and results that are not fed, in their order.
  void step(const void* const* args, void* const* results);

  Array  value(size_t arg) const;  // a copy of a fed argument as it is now
  size_t bytes() const;            // of memory for fed arguments

 private:
  struct Slot {
    size_t result, arg;
    Array  now, next;  // the same where the result may overwrite the argument
    bool   shared;
  };

  std::shared_ptr<Compiled> compiled_;
  std::vector<Slot>         slots_;
  std::vector<size_t>       free_args_, free_results_;
  std::vector<const void*>  in_;
  std::vector<void*>        out_;
};

}  // namespace braintrace::cpu
