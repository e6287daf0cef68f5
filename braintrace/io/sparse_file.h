// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in files: MatrixMarket (.mtx; coordinate, real, integer or pattern, general or symmetric) and the
// .npz of scipy.sparse.save_npz (csr, csc or coo). Every entry is checked: it must be inside the matrix, unique and
// finite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace braintrace {

struct SparseFile {
  int64_t              rows = 0, cols = 0;
  std::vector<int32_t> row, col;  // of the entries, by column, and by row within it
  std::vector<float>   values;    // empty for a pattern
};
SparseFile read_sparse(const std::string& path);
// The same from memory; `where` names the source in messages.
SparseFile decode_mtx(const std::string& text, const std::string& where);

}  // namespace braintrace
