// SPDX-License-Identifier: Apache-2.0
// The system's C compiler, and the files it made before.
//
// It is $BRAINTRACE_CC, a program or a command of several words, or the first of cc, clang, gcc and zig that is there.
// A compiled file is named by a hash of the source, the compiler, its flags and the features of the processor, and kept
// (code_cache.h). Where that cannot be, work goes to a temporary folder that is removed at once. A compiler that takes
// longer than $BRAINTRACE_CC_SECONDS (600 unless set) is ended, and no other file is tried with it. One that fails is
// tried again with less optimization, and a note says so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace braintrace::cpu {

// A loaded file; unloaded with its last owner.
class Library {
 public:
  explicit Library(void* handle) : handle_(handle) {}
  ~Library();
  Library(const Library&)            = delete;
  Library& operator=(const Library&) = delete;
  void*    symbol(const std::string& name) const;  // throws InternalError when there is none

 private:
  void* handle_;
};

// Why nothing can be compiled; empty when a compiler was found and answers.
std::string missing_compiler();

struct Loaded {
  std::shared_ptr<const Library> library;  // null when it failed
  bool                           was_cached = false;
  std::string                    problem    = {};  // what the compiler or the loader said
  std::string                    note       = {};  // what the user should know though it succeeded
};
enum class Language : uint8_t { C, Cpp, WitnessedCpp };  // the last calls __tsan_… functions of its own
Loaded load(const std::string& source, Language language = Language::C);  // several threads may at once

// Forgets what this process has loaded and asks for the compiler again; for tests.
void forget_loaded();

}  // namespace braintrace::cpu
