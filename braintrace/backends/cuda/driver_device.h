// SPDX-License-Identifier: Apache-2.0
// A device of this machine, through the driver. All its work goes through one stream, in order.
#pragma once

#include <memory>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

// Device `number`; a UserError where there is none, or nothing to drive it with.
std::unique_ptr<Device> open_driver_device(int number);

}  // namespace braintrace::cuda
