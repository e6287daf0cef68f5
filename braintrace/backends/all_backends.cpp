// SPDX-License-Identifier: Apache-2.0
// The list of all backends.
#include <atomic>
#include <mutex>
#include <utility>

#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cuda/cuda_backend.h"
#include "braintrace/backends/reference/interpreter.h"
#include "braintrace/backends/settings.h"
#include "braintrace/base/process_mutex.h"

namespace braintrace {

const std::vector<Backend*>& backends() {
  static const std::vector<Backend*> list = {
      &reference_backend(),
      &cpu_backend(),
      cuda_backend("cuda"),
  };
  return list;
}

Backend& find_backend(std::string_view name) {
  std::string known;
  for (Backend* b : backends()) {
    if (b->name() == name) return *b;
    known += (known.empty() ? "" : ", ") + std::string(b->name());
  }
  if (Backend* other = cuda_backend(name)) return *other;
  if (name == auto_backend().name()) return auto_backend();
  fail(ErrorKind::Name, "backend: there is no backend '{}'; known: {}, cuda:1 for another device, and auto.", name,
       known);
}

namespace {

std::atomic<Backend*>& chosen() {
  static std::atomic<Backend*> backend =
      settings::backend().empty() ? &cpu_backend() : &find_backend(settings::backend());
  return backend;
}

thread_local Backend* scoped = nullptr;

struct ProductPrecision {
  ProcessMutex mutex;
  std::string  name = settings::precision();
};
ProductPrecision& chosen_precision() {
  static ProductPrecision precision;
  return precision;
}

}  // namespace

BackendScope::BackendScope(std::string_view name) : before_(std::exchange(scoped, &find_backend(name))) {}
BackendScope::~BackendScope() { scoped = before_; }

Backend& default_backend() { return scoped ? *scoped : *chosen(); }
void     set_default_backend(std::string_view name) { chosen() = &find_backend(name); }
void     prefer_backend(std::string_view name) {
      if (settings::backend().empty()) set_default_backend(name);
}

std::string product_precision() {
  std::lock_guard lock(chosen_precision().mutex);
  return chosen_precision().name;
}
void set_product_precision(std::string_view name) {
  require(name == "f32" || name == "tf32" || name == "bf16",
          "precision of products: expected f32, tf32 or bf16, got '{}'.", name);
  std::lock_guard lock(chosen_precision().mutex);
  chosen_precision().name = name;
}

}  // namespace braintrace
