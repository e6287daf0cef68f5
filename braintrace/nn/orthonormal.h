// SPDX-License-Identifier: Apache-2.0
// Matrices with orthonormal columns (or rows, if there are fewer of them), uniformly distributed.
#pragma once

#include <vector>

#include "braintrace/base/dtype.h"
#include "braintrace/base/rng.h"

namespace braintrace::nn {

// [rows, cols], row by row. At least as precise as `precision`: large matrices for which f32 suffices are computed in
// f32.
std::vector<double> orthonormal(int64_t rows, int64_t cols, Rng& rng, DType precision = DType::F64);

}  // namespace braintrace::nn
