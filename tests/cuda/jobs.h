// SPDX-License-Identifier: Apache-2.0
// The programs whose CUDA text is tested, in groups that share a file.
#pragma once

#include "tests/codegen/agreement.h"

namespace braintrace::testing_support {

std::vector<Job> cuda_random_jobs();    // random programs over the whole registry, also differentiated and batched
std::vector<Job> cuda_learning_jobs();  // learning steps, windows and sequences
std::vector<Job> cuda_event_jobs();     // sparse products and updates that walk what is not silent

std::vector<std::vector<Job>> all_cuda_jobs();
inline constexpr size_t       learning_group = 1;

}  // namespace braintrace::testing_support
