// SPDX-License-Identifier: Apache-2.0
// Runs a program repeatedly on its own results, as a learner does on a stream: states, traces and weights stay in
// memory owned by the stepper. A result overwrites the argument it becomes if the program allows it; otherwise the two
// are double-buffered. Updates of large arrays may be deferred to the next step (codegen/rotate.h). A step performs no
// lookups and no allocations.
#pragma once

#include <optional>

#include "braintrace/backends/cpu/cpu_backend.h"

namespace braintrace::cpu {

class Stepper {
 public:
  using Feed = braintrace::Feed;
  Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds,
          codegen::Options options = options_here());
  // `args` are those of the first step; only the fed ones are stored.
  Stepper(const Program& program, const Arrays& constants, const std::vector<Feed>& feeds, const Arrays& args,
          codegen::Options options = options_here());

  // As in ResidentProgram. Fed arguments enter and leave as plain arrays here.
  void   hold(Arrays&& values);
  Arrays settle();

  // `args` and `results` are those that are not fed, in order. A step that throws changes nothing.
  void step(const void* const* args, void* const* results);

  Array  value(size_t arg);  // a copy of the current value of a fed argument
  size_t bytes() const;      // memory of the stored values

 private:
  // A value that persists from step to step: fed arguments, then pending values.
  struct Slot {
    Type                 type;
    std::optional<Array> now;   // none until hold()
    std::optional<Array> next;  // none if results may overwrite `now`
  };
  // A program on slots. -1: supplied or received by the caller.
  struct Part {
    std::shared_ptr<Compiled> compiled;
    std::vector<int>          in, out;
    std::vector<const void*>  args;
    std::vector<void*>        results;
  };
  Part part(std::shared_ptr<Compiled> compiled, std::vector<int> in, std::vector<int> out);
  void run(Part& part, const void* const* args, void* const* results);
  // Keeps copies of all values that the program overwrites, and restores them if it is stopped.
  void stoppable_run(Part& part);
  // Applies pending updates.
  void catch_up();

  codegen::Options    options_;
  std::vector<size_t> fed_args_;
  std::vector<Slot>   slots_;
  Part                step_;
  // Applies pending updates; compiled when values are first requested.
  Program             settle_;
  std::vector<int>    settled_;  // its slots
  std::optional<Part> settling_;
  Arrays              nothing_pending_;
};

}  // namespace braintrace::cpu
