// SPDX-License-Identifier: Apache-2.0
// C functions that emitted code calls. Most are C files of their own beside this one, which the build embeds.
#pragma once

#include <string>
#include <string_view>

namespace braintrace::codegen {

const std::string& scalar_functions();           // elementary functions, integer rules, conversions
const std::string& random_functions();           // Philox and what is drawn from it
const std::string& portable_matrix_functions();  // products in plain loops

// An embedded C file without what only its readers and those who compile it alone need: lines of `//` and its includes
// of our files.
std::string emitted_text(std::string_view file);

// The linker, and the only reader, of emitted text: those functions of a text that `user` calls, directly or through
// others of them. A function stands after those it calls, begins with a line `static …` and ends with a line `}` or
// within its line; a type is a line `typedef …;`.
std::string needed_functions(std::string_view functions, std::string_view user);

}  // namespace braintrace::codegen
