// SPDX-License-Identifier: Apache-2.0
// A device on the processor: the CUDA text is compiled by the host's compiler, with C++ for the words of CUDA
// (emulation_words.cu). Slow; it shows that the text computes what it should where no device is. Work is done at once.
// Memory has guards around it: a write outside is an InternalError when it is freed.
#pragma once

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

// One that finds races throws an InternalError when two threads of a launch touch a byte, one of them to write it, and
// no barrier orders them (emulation_races.cu), also where the result happens to be right. Several times slower.
std::unique_ptr<Device> open_emulated_device(bool finds_races = false);

}  // namespace braintrace::cuda
