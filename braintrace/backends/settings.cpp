// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/settings.h"

#include <charconv>
#include <cstdlib>

#include "braintrace/base/error.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::settings {

namespace {

template <class Number>
std::optional<Number> number(const char* name, const char* kind, Number least, Number most) {
  const std::string text = variable(name);
  if (text.empty()) return {};
  Number      n    = 0;
  const char* end  = text.data() + text.size();
  const auto  read = std::from_chars(text.data(), end, n);
  require(read.ec == std::errc() && read.ptr == end && n >= least && n <= most,
          "the environment variable {} is '{}': expected a {} from {} to {}.", name, text, kind, least, most);
  return n;
}

}  // namespace

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string backend() {
  const std::string name = variable("BRAINTRACE_BACKEND");
  if (name.empty()) return name;
  try {
    find_backend(name);
  } catch (const UserError& unknown) {
    fail("the environment variable BRAINTRACE_BACKEND: {}", unknown.what());
  }
  return name;
}

std::string precision() {
  const std::string name = variable("BRAINTRACE_PRECISION");
  require(name.empty() || name == "f32" || name == "tf32" || name == "bf16",
          "the environment variable BRAINTRACE_PRECISION is '{}': expected f32, tf32 or bf16.", name);
  return name.empty() ? "f32" : name;
}

bool emulates_cuda() {
  const std::string how = variable("BRAINTRACE_CUDA");
  require(how.empty() || how == "emulation", "the environment variable BRAINTRACE_CUDA is '{}': expected emulation.",
          how);
  return !how.empty();
}

std::optional<int64_t> num_threads() {
  return number<int64_t>("BRAINTRACE_NUM_THREADS", "whole number", 1, most_threads);
}
std::optional<bool> pin() {
  const auto n = number<int64_t>("BRAINTRACE_PIN", "whole number", 0, 1);
  return n ? std::optional(*n == 1) : std::nullopt;
}
double  compiler_seconds() { return number<double>("BRAINTRACE_CC_SECONDS", "number", 1e-3, 1e6).value_or(600); }
int64_t cache_mib() {
  return number<int64_t>("BRAINTRACE_CACHE_MIB", "whole number", 0, int64_t{1} << 40).value_or(1024);
}

void check_settings() {
  backend();
  precision();
  emulates_cuda();
  num_threads();
  pin();
  compiler_seconds();
  cache_mib();
}

}  // namespace braintrace::settings
