// SPDX-License-Identifier: Apache-2.0
// An emulated device: the host's compiler compiles the CUDA text, with CUDA keywords and functions defined in C++
// (emulation_words.cu). Slow; it checks the correctness of the text without a GPU. Work is executed immediately. Memory
// has guard zones: an out-of-bounds write is an InternalError when the memory is freed.
#pragma once

#include "braintrace/backends/cuda/device.h"

namespace braintrace::cuda {

// With `finds_races`, throws an InternalError if two threads of a launch access a byte, at least one writes it, and no
// barrier orders them (emulation_races.cu), even if the result happens to be correct. Several times slower.
std::unique_ptr<Device> open_emulated_device(bool finds_races = false);

}  // namespace braintrace::cuda
