// SPDX-License-Identifier: Apache-2.0
// The system's C compiler, and the cache of its output.
//
// The compiler is $BRAINTRACE_CC, a program or a command of several words, or the first of cc, clang, gcc and zig that
// exists. A compiled file is named by a hash of the source, the compiler, its flags and the CPU features, and cached
// (code_cache.h). If there is no usable cache, a temporary folder is used and removed at once. A compiler that takes
// longer than $BRAINTRACE_CC_SECONDS (default: 600) is killed and not used again. One that fails is retried with less
// optimization, and a note says so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace braintrace::cpu {

// A loaded shared library; unloaded when its last owner releases it.
class Library {
 public:
  explicit Library(void* handle) : handle_(handle) {}
  ~Library();
  Library(const Library&)            = delete;
  Library& operator=(const Library&) = delete;
  void*    symbol(const std::string& name) const;  // throws InternalError if there is none

 private:
  void* handle_;
};

// Why no code can be compiled; empty if a compiler was found and works.
std::string missing_compiler();

struct Loaded {
  std::shared_ptr<const Library> library;  // null on failure
  bool                           was_cached = false;
  std::string                    problem    = {};  // error message of the compiler or the loader
  std::string                    note       = {};  // a message for the user although loading succeeded
};
enum class Language : uint8_t { C, Cpp, WitnessedCpp };  // the last one defines __tsan_… functions itself
Loaded load(const std::string& source, Language language = Language::C);  // thread-safe

// Unloads all libraries and looks for the compiler again; for tests.
void forget_loaded();

}  // namespace braintrace::cpu
