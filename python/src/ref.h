// SPDX-License-Identifier: Apache-2.0
// Python objects that C++ values hold. The last C++ owner may be gone on a thread that does not hold the GIL, or inside
// a lock that a thread with the GIL waits for; so a reference is not dropped at once but put on a list, which the
// interpreter empties at its next safe point.
#pragma once

#include <memory>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace pybraintrace {

using Ref = std::shared_ptr<PyObject>;

Ref  hold(nb::handle object);  // with the GIL
void drop_released();          // with the GIL: empties the list now

// Empties the list when it ends, so that references this thread lets go of inside need no safe point of the
// interpreter. Made and ended with the GIL and outside of locks.
class SafePoint {
 public:
  SafePoint();
  ~SafePoint();
  SafePoint(const SafePoint&)            = delete;
  SafePoint& operator=(const SafePoint&) = delete;
};

}  // namespace pybraintrace
