// SPDX-License-Identifier: Apache-2.0
// The GIL around work that needs none, and around Python functions inside such work.
//
// When the interpreter ends, a thread that asks for the GIL is ended by force, which C++ frames do not survive. So
// threads other than the main one stop asking as soon as the end begins: they wait for the process to be gone.
#pragma once

#include <nanobind/nanobind.h>

namespace pybraintrace {

// Waits forever if the interpreter is ending and this is not the thread that ends it.
void wait_at_the_end();
// To be called by atexit: from now on threads wait; returns when those that were about to take the GIL have it or wait.
void begin_the_end();

class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&)            = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* thread_;
};

class WithGil {
 public:
  WithGil() = default;

 private:
  struct Check {
    Check() { wait_at_the_end(); }
  } check_;
  nanobind::gil_scoped_acquire acquire_;
};

template <class F>
auto without_gil(F&& f) {
  WithoutGil released;
  return f();
}

}  // namespace pybraintrace
