// SPDX-License-Identifier: Apache-2.0
// The devices that backends use, opened once per process. Threads take turns on a device.
#pragma once

#include <mutex>
#include <string>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

struct OpenDevice {
  std::unique_ptr<Device> device;
  std::recursive_mutex    mutex;  // held while queuing work; recursive: a host call in a program may run a program
};

// Negative numbers are the emulation, the second one with race detection. Throws the errors of open_driver_device and
// open_emulated_device with kind State, because the data are not at fault. The next call tries again.
constexpr int emulation = -1, racing_emulation = -2;
OpenDevice&   open_device(int number);

}  // namespace braintrace::cuda
