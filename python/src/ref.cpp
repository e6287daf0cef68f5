// SPDX-License-Identifier: Apache-2.0
#include "ref.h"

#include <vector>

#include "braintrace/base/process_mutex.h"

namespace pybraintrace {

namespace {

braintrace::ProcessMutex released_mutex;
std::vector<PyObject*>   released;
bool                     is_drop_pending   = false;
thread_local int         safe_points_ahead = 0;

int drop_pending(void*) {
  drop_released();
  return 0;
}

void release(PyObject* object) {
  if (!nb::is_alive()) return;  // the interpreter is gone, and the object with it
  std::lock_guard lock(released_mutex);
  released.push_back(object);
  // Where the queue of the interpreter is full, the next release asks again.
  if (!is_drop_pending && !safe_points_ahead) is_drop_pending = Py_AddPendingCall(drop_pending, nullptr) == 0;
}

}  // namespace

void drop_released() {
  std::vector<PyObject*> mine;
  {
    std::lock_guard lock(released_mutex);
    mine.swap(released);
    is_drop_pending = false;
  }
  for (PyObject* object : mine) Py_DECREF(object);
}

SafePoint::SafePoint() { ++safe_points_ahead; }
SafePoint::~SafePoint() {
  --safe_points_ahead;
  drop_released();
}

Ref hold(nb::handle object) {
  Py_INCREF(object.ptr());
  return Ref(object.ptr(), release);
}

}  // namespace pybraintrace
