// SPDX-License-Identifier: Apache-2.0
// Environment variables BRAINTRACE_…, documented in docs/performance.md. An empty variable counts as not set. An
// invalid value is a UserError at its first use, or in check_settings().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace braintrace::settings {

std::string            backend();           // name of a backend, or empty
std::string            precision();         // of matrix products: f32, tf32 or bf16
bool                   emulates_cuda();     // run CUDA programs on the CPU
std::optional<int64_t> num_threads();       // 1 … most_threads
std::optional<bool>    pin();               // pin threads to CPUs
double                 compiler_seconds();  // time limit per file
int64_t                cache_mib();

constexpr int64_t most_threads = 256;

void check_settings();

std::string variable(const char* name);  // any variable; empty if not set

}  // namespace braintrace::settings
