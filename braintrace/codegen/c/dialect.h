// SPDX-License-Identifier: Apache-2.0
// For whom the C text is written. The printer is one; these are all the places where it asks.
//
//   Native     compiled here for this machine: vector code, threads, and this process for what has no rule
//   Portable   written out for any C99 compiler: no host, no threads, constants in the text, small alignment
#pragma once

#include <cstdint>
#include <string>

#include "braintrace/base/array.h"
#include "braintrace/codegen/target.h"

namespace braintrace::codegen {

enum class Dialect : uint8_t { Native, Portable };

inline const Target& target_of(Dialect d) { return d == Dialect::Native ? native_target() : portable_target(); }

std::string_view head_of(Dialect d);  // includes, and what functions find around them

// The frame of a nested function, whose arena is `arena` and whose values are `in` and `out`.
std::string frame_text(Dialect d, const std::string& arena);
// A pointer to constant number i, without its type.
std::string constant_text(Dialect d, int64_t i);
// `static const T name[] = {…};`
std::string array_text(const std::string& name, const Array& value);

// Lines indented by the depth of their braces.
std::string indented(const std::string& text);

}  // namespace braintrace::codegen
