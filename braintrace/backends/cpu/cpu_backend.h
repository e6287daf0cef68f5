// SPDX-License-Identifier: Apache-2.0
// Whole programs as machine code: emitted as C (codegen), compiled by the system's compiler, kept on disk.
// Without a compiler programs run in the interpreter, and a warning says so.
#pragma once

#include "braintrace/codegen/c/emit.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {

Backend& cpu_backend();

namespace cpu {

// A compiled program. run() makes arrays for the results; run_into() writes where it is told and allocates nothing
// once it has run in as many threads at a time as it will.
class Compiled : public Executable {
 public:
  Arrays       run(const Arrays& args) override                        = 0;
  virtual void run_into(const void* const* args, void* const* results) = 0;
  // The same in working memory of the caller: arena_bytes() bytes, aligned to 64.
  virtual void    run_in(char* arena, const void* const* args, void* const* results) = 0;
  virtual int64_t arena_bytes() const                                                = 0;
  virtual bool    is_native() const                                                  = 0;  // false: interpreted
  virtual bool    was_cached() const                                                 = 0;
  // Whether run_into may be given one memory for this result and this argument: not where it may stop halfway.
  virtual bool may_share(size_t result, size_t arg) const = 0;
};

// Code for as many threads as kernels may use now.
codegen::Options options_here();

// Several programs in one C file: tests compile hundreds of small ones at once.
std::vector<std::shared_ptr<Compiled>> compile_together(const std::vector<Program>& programs,
                                                        const std::vector<Arrays>&  constants,
                                                        const codegen::Options&     options = options_here());

}  // namespace cpu

}  // namespace braintrace
