// SPDX-License-Identifier: Apache-2.0
// The list of all backends: one line each.
#include <atomic>
#include <utility>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/backends/settings.h"

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
  static std::atomic<Backend*> backend =
      settings::backend().empty() ? &cpu_backend() : &find_backend(settings::backend());
  return backend;
}

thread_local Backend* scoped = nullptr;

}  // namespace

BackendScope::BackendScope(std::string_view name) : before_(std::exchange(scoped, &find_backend(name))) {}
BackendScope::~BackendScope() { scoped = before_; }

Backend& default_backend() { return scoped ? *scoped : *chosen(); }
void     set_default_backend(std::string_view name) { chosen() = &find_backend(name); }
void     prefer_backend(std::string_view name) {
      if (settings::backend().empty()) set_default_backend(name);
}

}  // namespace braintrace
