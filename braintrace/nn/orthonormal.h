// SPDX-License-Identifier: Apache-2.0
// Matrices with orthonormal columns (or rows, when there are fewer of them), uniform over all such matrices.
#pragma once

#include <vector>

#include "braintrace/base/rng.h"

namespace braintrace::nn {

// [rows, cols], row by row.
std::vector<double> orthonormal(int64_t rows, int64_t cols, Rng& rng);

}  // namespace braintrace::nn
