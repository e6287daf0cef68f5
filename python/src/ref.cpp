// SPDX-License-Identifier: Apache-2.0
#include "ref.h"

#include <mutex>
#include <vector>

namespace pybraintrace {

namespace {

std::mutex             released_mutex;
std::vector<PyObject*> released;

int drop_pending(void*) {
  drop_released();
  return 0;
}

void release(PyObject* object) {
  if (!nb::is_alive()) return;  // the interpreter is gone, and the object with it
  bool is_first;
  {
    std::lock_guard lock(released_mutex);
    is_first = released.empty();
    released.push_back(object);
  }
  if (is_first) Py_AddPendingCall(drop_pending, nullptr);  // a full queue is no harm: the next drop takes all
}

}  // namespace

void drop_released() {
  std::vector<PyObject*> mine;
  {
    std::lock_guard lock(released_mutex);
    mine.swap(released);
  }
  for (PyObject* object : mine) Py_DECREF(object);
}

Ref hold(nb::handle object) {
  Py_INCREF(object.ptr());
  return Ref(object.ptr(), release);
}

}  // namespace pybraintrace
