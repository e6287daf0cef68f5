// SPDX-License-Identifier: Apache-2.0
// The list of all backends: one line each.
#include <atomic>
#include <cstdlib>
#include <utility>

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

// What the environment asks for; empty for nothing.
std::string_view asked() {
  const char* name = std::getenv("BRAINTRACE_BACKEND");
  return name ? name : "";
}

std::atomic<Backend*>& chosen() {
  static std::atomic<Backend*> backend = asked().empty() ? &cpu_backend() : &find_backend(asked());
  return backend;
}

thread_local Backend* scoped = nullptr;

}  // namespace

BackendScope::BackendScope(std::string_view name) : before_(std::exchange(scoped, &find_backend(name))) {}
BackendScope::~BackendScope() { scoped = before_; }

Backend& default_backend() { return scoped ? *scoped : *chosen(); }
void     set_default_backend(std::string_view name) { chosen() = &find_backend(name); }
void     prefer_backend(std::string_view name) {
      if (asked().empty()) set_default_backend(name);
}

}  // namespace braintrace
