// SPDX-License-Identifier: Apache-2.0
// A program that runs again and again on its own results, as a learner does on a stream: states, traces and weights
// stay in memory of their own. A result overwrites the argument it becomes where the program allows it; otherwise the
// two take turns. Updates of large arrays may wait for the next step (codegen/rotate.h). A step looks nothing up and
// allocates nothing.
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

  Array  value(size_t arg);  // a copy of a fed argument as it is now
  size_t bytes() const;      // of memory for what it keeps

 private:
  // What stays from step to step: fed arguments, then what is pending.
  struct Slot {
    Type                 type;
    std::optional<Array> now;   // none until hold()
    std::optional<Array> next;  // none where results may overwrite it
  };
  // A program on slots. -1 stands for what the caller gives and takes.
  struct Part {
    std::shared_ptr<Compiled> compiled;
    std::vector<int>          in, out;
    std::vector<const void*>  args;
    std::vector<void*>        results;
  };
  Part part(std::shared_ptr<Compiled> compiled, std::vector<int> in, std::vector<int> out);
  void run(Part& part, const void* const* args, void* const* results);
  // Makes the updates that wait.
  void catch_up();

  std::vector<size_t> fed_args_;
  std::vector<Slot>   slots_;
  Part                step_;
  // What makes the updates that wait, compiled when somebody first asks for values.
  Program             settle_;
  std::vector<int>    settled_;  // slots
  std::optional<Part> settling_;
  Arrays              nothing_pending_;
};

}  // namespace braintrace::cpu
