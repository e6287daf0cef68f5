// SPDX-License-Identifier: Apache-2.0
// The list of all backends: one line each.
#include <atomic>
#include <cstdlib>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/reference/interpreter.h"

namespace braintrace {

const std::vector<Backend*>& backends() {
  static const std::vector<Backend*> list = {
      &reference_backend(),
      &cpu_backend(),
  };
  return list;
}

Backend& find_backend(std::string_view name) {
  std::string known;
  for (Backend* b : backends()) {
    if (b->name() == name) return *b;
    known += (known.empty() ? "" : ", ") + std::string(b->name());
  }
  fail("backend: there is no backend '{}'; known are: {}.", name, known);
}

namespace {

std::atomic<Backend*>& chosen() {
  static std::atomic<Backend*> backend = [] {
    const char* asked = std::getenv("BRAINTRACE_BACKEND");
    return asked && *asked ? &find_backend(asked) : &reference_backend();
  }();
  return backend;
}

}  // namespace

Backend& default_backend() { return *chosen(); }
void     set_default_backend(std::string_view name) { chosen() = &find_backend(name); }

}  // namespace braintrace
