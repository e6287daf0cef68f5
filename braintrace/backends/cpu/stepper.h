// SPDX-License-Identifier: Apache-2.0
// A program that runs again and again on its own results, as a learner does on a stream: states, traces and weights
// stay in memory of their own. A result overwrites the argument it becomes where the program allows it; otherwise the
// two take turns. A step looks nothing up and allocates nothing.
#pragma once

#include <optional>

#include "braintrace/backends/cpu/cpu_backend.h"

namespace braintrace::cpu {

class Stepper {
 public:
  using Feed = braintrace::Feed;
  Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds);
  // `args` are those of the first step; only the fed ones are kept.
  Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args);

  // As ResidentProgram has them. This is where fed arguments come in and go out as plain arrays.
  void   hold(Arrays&& values);
  Arrays settle();

  // Arguments and results that are not fed, in their order. A step that throws has changed nothing.
  void step(const void* const* args, void* const* results);

  Array  value(size_t arg) const;  // a copy of a fed argument as it is now
  size_t bytes() const;            // of memory for fed arguments

 private:
  struct Slot {
    size_t               result, arg;
    Type                 type;
    std::optional<Array> now;   // none until hold()
    std::optional<Array> next;  // none where the result may overwrite the argument
  };

  std::shared_ptr<Compiled> compiled_;
  std::vector<Slot>         slots_;
  std::vector<size_t>       free_args_, free_results_;
  std::vector<const void*>  in_;
  std::vector<void*>        out_;
};

}  // namespace braintrace::cpu
