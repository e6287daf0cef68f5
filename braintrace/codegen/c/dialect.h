// SPDX-License-Identifier: Apache-2.0
// The two dialects of emitted C. There is a single printer; every difference between the dialects is declared here.
//
//   Native     compiled and loaded by this process: vector code, threads, host calls for operations without a kernel
//   Portable   source for any C99 compiler: no host, no threads, constants as text, small alignment
#pragma once

#include <cstdint>
#include <string>

#include "braintrace/base/array.h"
#include "braintrace/codegen/target.h"

namespace braintrace::codegen {

enum class Dialect : uint8_t { Native, Portable };

inline const Target& target_of(Dialect d) { return d == Dialect::Native ? native_target() : portable_target(); }

std::string_view head_of(Dialect d);  // includes and helper declarations at the top of the file

// The frame of a nested function with arena `arena` and pointers `in` and `out`.
std::string frame_text(Dialect d, const std::string& arena);
// An untyped pointer to constant number i.
std::string constant_text(Dialect d, int64_t i);
// Element i as it is stored; `static const T name[] = {…};`
std::string initializer(const Array& value, int64_t i);
std::string array_text(const std::string& name, const Array& value);

// Indents lines by brace depth.
std::string indented(const std::string& text);

}  // namespace braintrace::codegen
