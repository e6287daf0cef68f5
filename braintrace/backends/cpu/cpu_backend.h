// SPDX-License-Identifier: Apache-2.0
// Compiles whole programs to machine code: emitted as C (codegen), compiled by the system's compiler, cached on disk.
// Without a compiler, programs run in the interpreter, with a warning.
#pragma once

#include "braintrace/codegen/c/emit.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

Backend& cpu_backend();

namespace cpu {

// A compiled program. run() allocates arrays for the results; run_into() writes to the given memory and allocates
// nothing in steady state.
class Compiled : public Executable {
 public:
  Arrays       run(const Arrays& args) override                        = 0;
  virtual void run_into(const void* const* args, void* const* results) = 0;
  // The same for a caller that can discard the results: throws Stopped when asked to stop (base/long_run.h).
  virtual void stoppable_run(const void* const* args, void* const* results) = 0;
  // Whether a call is worth stopping: the last one took long, or there was none.
  virtual bool takes_long() const = 0;
  // Uses the caller's scratch memory: arena_bytes() bytes, aligned to 64.
  virtual void    run_in(char* arena, const void* const* args, void* const* results) = 0;
  virtual int64_t arena_bytes() const                                                = 0;
  virtual bool    is_native() const                                                  = 0;  // false: interpreted
  virtual bool    was_cached() const                                                 = 0;
  // Whether run_into accepts the same memory for this result and this argument: not if the program can fail halfway.
  virtual bool may_share(size_t result, size_t arg) const = 0;
};

// Options for the number of threads that kernels may use now.
codegen::Options options_here();

// Compiles several programs in one C file: tests compile hundreds of small ones at once.
std::vector<std::shared_ptr<Compiled>> compile_together(const std::vector<Program>& programs,
                                                        const std::vector<Arrays>&  constants,
                                                        const codegen::Options&     options = options_here());

}  // namespace cpu

}  // namespace braintrace
