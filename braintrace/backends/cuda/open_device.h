// SPDX-License-Identifier: Apache-2.0
// The devices that backends use, opened once in a process. Calls of all threads take turns on a device.
#pragma once

#include <mutex>
#include <string>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

struct OpenDevice {
  std::unique_ptr<Device> device;
  std::recursive_mutex    mutex;  // of whoever queues work; a function of the host inside a program may call another
};

// Numbers below 0 stand for the emulation, the second of which finds races. Throws what Device's makers do, as an error
// of kind State: no data are at fault. The next call tries again.
constexpr int emulation = -1, racing_emulation = -2;
OpenDevice&   open_device(int number);

}  // namespace braintrace::cuda
