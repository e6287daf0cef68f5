// SPDX-License-Identifier: Apache-2.0
// Products of sparse matrices and dense arrays. A matrix has a pattern (integers) and stored values; derivatives are
// with respect to the values. Row = input and column = output in x @ W. Stored entries at the same position are summed.
#pragma once

#include "braintrace/ops/families.h"

namespace braintrace {

extern const Op sparse_dot_op, sparse_sample_op;

// Entry e is at (rows[e], cols[e]).
struct SparsePattern {
  Tensor  rows, cols;  // integers [E]
  int64_t n_rows = 0, n_cols = 0;
};
SparsePattern coo(const Tensor& rows, const Tensor& cols, int64_t n_rows, int64_t n_cols);
// Row r holds the entries indptr[r] … indptr[r+1]-1 with columns indices[…]. indptr must be concrete.
SparsePattern csr(const Tensor& indptr, const Tensor& indices, int64_t n_rows, int64_t n_cols);
SparsePattern transposed(const SparsePattern& p);

// x @ W for x : [..., n_rows] -> [..., n_cols].
Tensor dot(const Tensor& x, const SparsePattern& pattern, const Tensor& values);
// W @ x for x : [n_cols] or [n_cols, M] -> [n_rows] or [n_rows, M].
Tensor dot(const SparsePattern& pattern, const Tensor& values, const Tensor& x);
Tensor to_dense(const SparsePattern& pattern, const Tensor& values);

const std::vector<const Op*>& sparse_ops();

}  // namespace braintrace
