// SPDX-License-Identifier: Apache-2.0
// What runs CUDA text: a device of this machine through its driver, or an emulation of one on the processor, by which
// the same text is tested where there is no device. Work is queued in order; only what says so waits for it.
#pragma once

#include <memory>
#include <string>

#include "braintrace/codegen/cuda/abi.h"
#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::cuda {

// Kernels of one file, loaded.
class Module {
 public:
  virtual ~Module() = default;
};

// A list of launches that is run again and again as one.
class Recording {
 public:
  virtual ~Recording() = default;
};

// After it nothing runs on the device any more in this process, and what it holds is gone.
class DeviceLost : public UserError {
 public:
  using UserError::UserError;
};

// Errors of the device are UserErrors that say what failed and what to do; one that it cannot survive is a DeviceLost,
// and so is every call after that.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const         = 0;  // "NVIDIA H200", "emulation"
  virtual int         capability() const   = 0;  // 90 for sm_90
  virtual int64_t     processors() const   = 0;  // blocks that run side by side, one on each
  virtual int64_t     shared_bytes() const = 0;  // of shared memory that a block may ask for
  virtual int64_t     free_bytes() const   = 0;

  // Memory, aligned to 256 bytes; never null, also for 0 bytes. The caller frees it, in any thread.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void  free(void* memory)      = 0;

  // Queued; the host's memory may be reused when they return.
  virtual void write(void* device, const void* host, int64_t bytes) = 0;
  virtual void clear(void* device, int64_t bytes)                   = 0;
  virtual void copy(void* to, const void* from, int64_t bytes)      = 0;
  // Queued; the host's memory has the values after wait().
  virtual void read(void* host, const void* device, int64_t bytes) = 0;
  virtual void wait()                                              = 0;

  // Memory of the host that the device reads and writes fastest.
  virtual std::shared_ptr<void> host_memory(int64_t bytes) = 0;

  // Compiles or finds in the cache. A text that does not compile is an InternalError with the compiler's words.
  virtual std::shared_ptr<const Module> load(const codegen::CudaText& text) = 0;
  // A grid of (blocks, teams). Where blocks meet and not all fit, teams have fewer.
  virtual void launch(const Module& module, const codegen::Launch& launch, const codegen::bt_cuda_frame& frame) = 0;

  // C[m,n] = Σ_k A[m,k] B[k,n] for `batch` matrices, with any strides of which one of each matrix is 1, where the
  // device has a library for it; false where it has none, or not for this case.
  struct Gemm {
    DType              dtype;
    codegen::Precision precision;
    int64_t            batch, m, n, k;
    const void*        a;
    int64_t            a_batch, a_m, a_k;
    const void*        b;
    int64_t            b_batch, b_k, b_n;
    void*              c;
    int64_t            c_batch, c_m;
  };
  virtual bool gemm(const Gemm& gemm) = 0;

  // Between begin and end nothing runs; it is recorded. Null where the device cannot.
  virtual void                             begin_recording()                  = 0;
  virtual std::shared_ptr<const Recording> end_recording()                    = 0;
  virtual void                             replay(const Recording& recording) = 0;
};

}  // namespace braintrace::cuda
