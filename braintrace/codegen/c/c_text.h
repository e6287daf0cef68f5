// SPDX-License-Identifier: Apache-2.0
// Helpers that print C text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braintrace/base/type.h"

namespace braintrace::codegen {

// C type of a stored element, and of the value while we compute with it: 16-bit floats are computed as float.
std::string_view storage_type(DType t);
std::string_view value_type(DType t);
bool             is_half(DType t);

// Loads and stores one element of a pointer expression such as "v3[i]".
std::string loaded(DType t, const std::string& element);
std::string stored(DType t, const std::string& value);  // converts the value to its storage type

std::string literal(DType t, double value);  // of value_type(t)

bool is_word(char c);  // can be part of an identifier or number

// Replaces `$name` in the text by its value. Names consist of letters, digits and underscores.
using Words = std::vector<std::pair<std::string_view, std::string>>;
std::string_view word(const Words& words, std::string_view name);
std::string      filled(std::string_view text, const Words& words);
// The same for names that begin with `mark`, whose values a function finds.
std::string filled(std::string_view text, const std::function<std::string_view(std::string_view name)>& value,
                   char mark);

template <class T>
std::string str(const T& v) {
  return std::to_string(v);
}

}  // namespace braintrace::codegen
