// SPDX-License-Identifier: Apache-2.0
// What the environment variables BRAINTRACE_… say; docs/performance.md lists them. One that is empty counts as not set.
// A value that means nothing is a UserError where it is needed first, or in check_settings().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace braintrace::settings {

std::string            backend();           // the name of one, or empty
std::string            precision();         // of products: f32, tf32 or bf16
bool                   emulates_cuda();     // on the processor
std::optional<int64_t> num_threads();       // 1 … most_threads
std::optional<bool>    pin();               // threads stay on a processor of their own
double                 compiler_seconds();  // for a file
int64_t                cache_mib();

constexpr int64_t most_threads = 256;

void check_settings();

std::string variable(const char* name);  // any variable; empty when it is not set

}  // namespace braintrace::settings
