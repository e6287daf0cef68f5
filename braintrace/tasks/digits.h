// SPDX-License-Identifier: Apache-2.0
// Handwritten digits that come with the library.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace braintrace::tasks {

struct Digit {
  int32_t               label = 0;
  std::array<float, 64> pixels{};  // by rows, 0 … 1
};
const std::vector<Digit>& digits();

}  // namespace braintrace::tasks
