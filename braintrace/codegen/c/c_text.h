// SPDX-License-Identifier: Apache-2.0
// Pieces of C text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braintrace/base/type.h"

namespace braintrace::codegen {

// How an element is stored, and as what it is held while computing: 16-bit floats are held as float.
std::string_view storage_type(DType t);
std::string_view value_type(DType t);
bool             is_half(DType t);

// Reading and writing one element of a pointer expression such as "v3[i]".
std::string loaded(DType t, const std::string& element);
std::string stored(DType t, const std::string& value);  // the value as it is stored

std::string literal(DType t, double value);  // of value_type(t)

bool is_word(char c);  // part of a name or number

// `$name` in the text, or a name after another mark, is replaced by the value given for it; names are letters, digits
// and underscores.
using Words = std::vector<std::pair<std::string_view, std::string>>;
std::string filled(std::string_view text, const Words& words, char mark = '$');

template <class T>
std::string str(const T& v) {
  return std::to_string(v);
}

}  // namespace braintrace::codegen
