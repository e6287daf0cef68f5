// SPDX-License-Identifier: Apache-2.0
// Interface of a device that runs CUDA text: a GPU through its driver, or an emulation on the CPU, which tests the same
// text without a GPU. Work is queued in order and asynchronous unless stated otherwise.
#pragma once

#include <memory>
#include <string>

#include "braintrace/codegen/cuda/abi.h"
#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::cuda {

// The loaded kernels of one file.
class Module {
 public:
  virtual ~Module() = default;
};

// A recorded list of launches that is replayed as one (a CUDA graph).
class Recording {
 public:
  virtual ~Recording() = default;
};

// The device is no longer usable in this process, and its memory is lost.
class DeviceLost : public UserError {
 public:
  using UserError::UserError;
};

// Device errors are UserErrors that say what failed and what to do. An unrecoverable error, and every call after it,
// throws DeviceLost.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const         = 0;  // "NVIDIA H200", "emulation"
  virtual int         capability() const   = 0;  // 90 for sm_90
  virtual int64_t     processors() const   = 0;  // multiprocessors, each of which runs a block at a time
  virtual int64_t     shared_bytes() const = 0;  // maximum shared memory of a block
  virtual int64_t     free_bytes() const   = 0;

  // Memory, aligned to 256 bytes; never null, even for 0 bytes. The caller frees it, on any thread.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void  free(void* memory)      = 0;

  // Queued; the host memory can be reused on return.
  virtual void write(void* device, const void* host, int64_t bytes) = 0;
  virtual void clear(void* device, int64_t bytes)                   = 0;
  virtual void copy(void* to, const void* from, int64_t bytes)      = 0;
  // Queued; the host memory is valid after wait().
  virtual void read(void* host, const void* device, int64_t bytes) = 0;
  virtual void wait()                                              = 0;

  // Pinned host memory.
  virtual std::shared_ptr<void> host_memory(int64_t bytes) = 0;

  // Compiles the text or finds it in the cache. Text that does not compile is an InternalError with the compiler's
  // output.
  virtual std::shared_ptr<const Module> load(const codegen::CudaText& text) = 0;
  // A grid of (blocks, teams). If blocks synchronize and do not all fit, teams have fewer blocks.
  virtual void launch(const Module& module, const codegen::Launch& launch, const codegen::bt_cuda_frame& frame) = 0;

  // C[m,n] = Σ_k A[m,k] B[k,n] for `batch` matrices, with a library of the device. Each matrix must have a unit stride.
  // False if there is no library, or it does not support this case.
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

  // Between begin and end, work is recorded and not executed. Null if the device does not support it.
  virtual void                             begin_recording()                  = 0;
  virtual std::shared_ptr<const Recording> end_recording()                    = 0;
  virtual void                             replay(const Recording& recording) = 0;
};

}  // namespace braintrace::cuda
