// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/blas.h"

#include <algorithm>
#include <limits>

#include "braintrace/base/warning.h"

namespace braintrace::cuda {

namespace {

using cublasStatus = int;
enum : int { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUDA_R_32F = 0, CUDA_R_64F = 1, CUBLAS_GEMM_DEFAULT = -1 };
enum : int {
  CUBLAS_COMPUTE_32F           = 68,
  CUBLAS_COMPUTE_64F           = 70,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

struct Cublas {
  cublasStatus (*cublasCreate)(void** handle);
  cublasStatus (*cublasDestroy)(void* handle);
  cublasStatus (*cublasSetStream)(void* handle, CUstream);
  cublasStatus (*cublasSetWorkspace)(void* handle, void* workspace, size_t bytes);
  cublasStatus (*cublasSetAtomicsMode)(void* handle, int mode);
  cublasStatus (*cublasGemmStridedBatchedEx)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                                             const void* a, int a_type, int lda, long long a_stride, const void* b,
                                             int b_type, int ldb, long long b_stride, const void* beta, void* c,
                                             int c_type, int ldc, long long c_stride, int batch, int compute, int algo);
  std::string path, problem;
};

Cublas found_cublas() {
  Cublas        c{};
  LoadedLibrary library = LoadedLibrary::toolkit({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                                                 {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
  if (!library) {
    c.problem = fmt::format("libcublas.so.13, .12 or .11 was not found{}{}", library.problem().empty() ? "" : ": ",
                            library.problem());
    return c;
  }
  c.path = library.path();
  library.find(c.cublasCreate, "cublasCreate_v2");
  library.find(c.cublasDestroy, "cublasDestroy_v2");
  library.find(c.cublasSetStream, "cublasSetStream_v2");
  library.find(c.cublasSetWorkspace, "cublasSetWorkspace_v2");
  library.find(c.cublasSetAtomicsMode, "cublasSetAtomicsMode");
  library.find(c.cublasGemmStridedBatchedEx, "cublasGemmStridedBatchedEx");
  if (!library.missing().empty()) c.problem = fmt::format("{} has no {}", library.path(), library.missing());
  return c;
}
const Cublas& cublas() {
  static const Cublas c = found_cublas();
  return c;
}

// A matrix in the column-major layout of cuBLAS; if its rows are contiguous, it is transposed. False if neither rows
// nor columns are.
struct Operand {
  int     op;
  int64_t leading;
};
bool as_operand(int64_t rows, int64_t columns, int64_t by_row, int64_t by_column, Operand& out) {
  if (rows == 1) by_row = by_column == 1 ? columns : 1;
  if (columns == 1) by_column = by_row == 1 ? rows : 1;
  if (by_row == 1 && by_column >= rows) return out = {CUBLAS_OP_N, by_column}, true;
  if (by_column == 1 && by_row >= columns) return out = {CUBLAS_OP_T, by_row}, true;
  return false;
}

}  // namespace

std::unique_ptr<Blas> Blas::open(CUstream stream, void* workspace) {
  const Cublas& c       = cublas();
  std::string   problem = c.problem;
  void*         handle  = nullptr;
  if (problem.empty())
    if (const cublasStatus s = c.cublasCreate(&handle)) problem = fmt::format("{} fails with status {}", c.path, s);
  if (problem.empty()) {
    auto out = std::unique_ptr<Blas>(new Blas(handle));
    c.cublasSetStream(handle, stream);
    c.cublasSetWorkspace(handle, workspace, static_cast<size_t>(workspace_bytes));
    c.cublasSetAtomicsMode(handle, 0);
    return out;
  }
  warn(fmt::format(
           "matrix products use built-in kernels, which are slower: {}.\n  Install NVIDIA's package nvidia-cublas-cu12 "
           "or nvidia-cublas (pip), libcublas (CUDA Toolkit), or name its folder in BRAINTRACE_CUDA_LIBS.",
           problem),
       "cublas");
  return nullptr;
}

Blas::~Blas() { cublas().cublasDestroy(handle_); }

// cuBLAS is column-major: C = A B in row-major order is Cᵀ = Bᵀ Aᵀ in column-major order.
bool Blas::gemm(const Device::Gemm& g) const {
  const bool wide = g.dtype == DType::F64;
  if (!wide && g.dtype != DType::F32) return false;
  Operand a{}, b{};
  if (!as_operand(g.n, g.k, g.b_n, g.b_k, b) || !as_operand(g.k, g.m, g.a_k, g.a_m, a)) return false;
  const int64_t largest = std::numeric_limits<int>::max();
  for (int64_t size : {g.m, g.n, g.k, g.batch, a.leading, b.leading, g.c_m})
    if (size < 1 || size > largest) return false;
  if (g.c_m < g.n) return false;
  const double one_64 = 1, zero_64 = 0;
  const float  one_32 = 1, zero_32 = 0;
  const int    type    = wide ? CUDA_R_64F : CUDA_R_32F;
  const int    compute = wide                                      ? CUBLAS_COMPUTE_64F
                         : g.precision == codegen::Precision::TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                         : g.precision == codegen::Precision::BF16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                                                   : CUBLAS_COMPUTE_32F;
  const auto   i       = [](int64_t x) { return static_cast<int>(x); };
  return cublas().cublasGemmStridedBatchedEx(handle_, b.op, a.op, i(g.n), i(g.m), i(g.k),
                                             wide ? static_cast<const void*>(&one_64) : &one_32, g.b, type,
                                             i(b.leading), g.b_batch, g.a, type, i(a.leading), g.a_batch,
                                             wide ? static_cast<const void*>(&zero_64) : &zero_32, g.c, type, i(g.c_m),
                                             g.c_batch, i(g.batch), compute, CUBLAS_GEMM_DEFAULT) == 0;
}

BlasFacts blas_facts() { return {cublas().path, cublas().problem}; }

}  // namespace braintrace::cuda
