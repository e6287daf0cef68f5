// SPDX-License-Identifier: Apache-2.0
// A GPU of this machine, through the driver API. All work goes through one stream, in order.
#pragma once

#include <memory>

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

// Opens device `number`; throws a UserError if it or its driver is missing.
std::unique_ptr<Device> open_driver_device(int number);

}  // namespace braintrace::cuda
