// SPDX-License-Identifier: Apache-2.0
// Programs on a device behind the runtime interface: plain arrays in and out and, for a program that runs on its own
// results, arguments that stay on the device.
#pragma once

#include "braintrace/backends/cuda/open_device.h"
#include "braintrace/runtime/backend.h"

namespace braintrace::cuda {

std::shared_ptr<Executable>      make_executable(OpenDevice& open, const Program& program, const Arrays& constants,
                                                 codegen::Precision precision);
std::unique_ptr<ResidentProgram> make_resident(OpenDevice& open, const Program& program, const Arrays& constants,
                                               const std::vector<Feed>& feeds, codegen::Precision precision);

}  // namespace braintrace::cuda
