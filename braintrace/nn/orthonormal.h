// SPDX-License-Identifier: Apache-2.0
// Matrices with orthonormal columns (or rows, when there are fewer of them), uniform over all such matrices.
#pragma once

#include <vector>

#include "braintrace/base/dtype.h"
#include "braintrace/base/rng.h"

namespace braintrace::nn {

// [rows, cols], row by row. As precise as `precision`: large ones that need no more than f32 are computed in it.
std::vector<double> orthonormal(int64_t rows, int64_t cols, Rng& rng, DType precision = DType::F64);

}  // namespace braintrace::nn
