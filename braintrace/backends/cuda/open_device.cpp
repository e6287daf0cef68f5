// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/open_device.h"

#include <map>

#include "braintrace/backends/cuda/driver.h"
#include "braintrace/backends/cuda/driver_device.h"
#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/base/process_mutex.h"

namespace braintrace::cuda {

// Devices are never closed, because programs with static lifetime own memory there. If two threads open the same device
// concurrently, the second one discards its own.
OpenDevice& open_device(int number) try {
  static ProcessMutex mutex;
  static auto&        devices = *new std::map<int, std::unique_ptr<OpenDevice>>();
  if (number >= 0) driver();  // also if it is open: a forked process must not use it
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
