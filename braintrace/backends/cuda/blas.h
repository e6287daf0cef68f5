// SPDX-License-Identifier: Apache-2.0
// Matrix products with NVIDIA's cuBLAS, if it is installed. Results are bit-reproducible: no atomics, and a private
// workspace.
#pragma once

#include <memory>
#include <string>

#include "braintrace/backends/cuda/device.h"
#include "braintrace/backends/cuda/driver.h"

namespace braintrace::cuda {

class Blas {
 public:
  static constexpr int64_t workspace_bytes = int64_t{32} << 20;

  // For one stream of the current context; null, with a note, if cuBLAS is not available.
  static std::unique_ptr<Blas> open(CUstream stream, void* workspace);
  ~Blas();
  Blas(const Blas&)            = delete;
  Blas& operator=(const Blas&) = delete;

  bool gemm(const Device::Gemm& gemm) const;  // false: not supported for this case

 private:
  explicit Blas(void* handle) : handle_(handle) {}
  void* handle_;
};

struct BlasFacts {
  std::string path, problem;
};
BlasFacts blas_facts();

}  // namespace braintrace::cuda
