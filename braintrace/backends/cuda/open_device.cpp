// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/open_device.h"

#include <map>

#include "braintrace/backends/cuda/driver.h"
#include "braintrace/backends/cuda/driver_device.h"
#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/base/process_mutex.h"

namespace braintrace::cuda {

// They are never closed: programs that live until the process ends have memory there. Of two threads that open the same
// one at the same time, the second lets its own go.
OpenDevice& open_device(int number) try {
  static ProcessMutex mutex;
  static auto&        devices = *new std::map<int, std::unique_ptr<OpenDevice>>();
  if (number >= 0) driver();  // also where it is open: a forked process must not use it
  {
    std::lock_guard lock(mutex);
    if (const auto& open = devices[number]) return *open;
  }
  auto made    = std::make_unique<OpenDevice>();
  made->device = number < 0 ? open_emulated_device(number == racing_emulation) : open_driver_device(number);
  std::lock_guard lock(mutex);
  auto&           open = devices[number];
  if (!open) open = std::move(made);
  return *open;
} catch (const UserError& error) {
  throw UserError(error.what(), ErrorKind::State);
}

}  // namespace braintrace::cuda
