// SPDX-License-Identifier: Apache-2.0
// A device on the processor, which runs the same CUDA text: how the backend is tested where there is none.
#pragma once

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

std::unique_ptr<Device> open_emulated_device();

}  // namespace braintrace::cuda
