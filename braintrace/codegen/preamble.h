// SPDX-License-Identifier: Apache-2.0
// C functions that emitted code calls; part of every emitted file.
#pragma once

#include <string>

namespace braintrace::codegen {

extern const char* const scalar_functions;  // elementary functions, integer rules, conversions
extern const char* const random_functions;  // Philox and what is drawn from it
extern const char* const matrix_functions;  // products

}  // namespace braintrace::codegen
