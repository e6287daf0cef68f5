// SPDX-License-Identifier: Apache-2.0
// The functions of the CUDA driver API that we call, loaded from libcuda.so.1 at run time. Names, types and numbers
// follow NVIDIA's documentation; suffixes are those of the current versions of the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "braintrace/backends/cuda/loaded_library.h"

namespace braintrace::cuda {

using CUresult    = int;
using CUdevice    = int;
using CUdeviceptr = unsigned long long;
using CUcontext   = struct CUctx_st*;
using CUmodule    = struct CUmod_st*;
using CUfunction  = struct CUfunc_st*;
using CUstream    = struct CUstream_st*;
using CUevent     = struct CUevent_st*;
using CUgraph     = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;

enum : CUresult {
  CUDA_SUCCESS                              = 0,
  CUDA_ERROR_OUT_OF_MEMORY                  = 2,
  CUDA_ERROR_DEVICE_UNAVAILABLE             = 46,
  CUDA_ERROR_NO_DEVICE                      = 100,
  CUDA_ERROR_INVALID_IMAGE                  = 200,
  CUDA_ERROR_NO_BINARY_FOR_GPU              = 209,
  CUDA_ERROR_ECC_UNCORRECTABLE              = 214,
  CUDA_ERROR_NVLINK_UNCORRECTABLE           = 220,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION        = 222,
  CUDA_ERROR_ILLEGAL_ADDRESS                = 700,
  CUDA_ERROR_LAUNCH_TIMEOUT                 = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED           = 709,
  CUDA_ERROR_ASSERT                         = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR           = 714,
  CUDA_ERROR_LAUNCH_FAILED                  = 719,
  CUDA_ERROR_SYSTEM_DRIVER_MISMATCH         = 803,
  CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
  CUDA_ERROR_UNKNOWN                        = 999
};
// Device and function attributes.
constexpr int multiprocessor_count = 16, capability_major = 75, capability_minor = 76, max_shared_per_block = 97;
constexpr int max_dynamic_shared = 8;

// Arguments of cuLaunchKernelEx.
struct CUlaunchAttribute {
  int id, unused, value[16];
};
constexpr int programmatic_serialization = 6;  // attribute: the kernel itself waits for the previous one
struct CUlaunchConfig {
  unsigned           grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  CUstream           stream;
  CUlaunchAttribute* attributes;
  unsigned           count;
};

struct Driver {
  CUresult (*cuInit)(unsigned);
  CUresult (*cuDriverGetVersion)(int*);
  CUresult (*cuGetErrorName)(CUresult, const char**);
  CUresult (*cuGetErrorString)(CUresult, const char**);
  CUresult (*cuDeviceGetCount)(int*);
  CUresult (*cuDeviceGet)(CUdevice*, int);
  CUresult (*cuDeviceGetName)(char*, int, CUdevice);
  CUresult (*cuDeviceGetAttribute)(int*, int, CUdevice);
  CUresult (*cuDeviceTotalMem)(size_t*, CUdevice);
  CUresult (*cuDevicePrimaryCtxRetain)(CUcontext*, CUdevice);
  CUresult (*cuCtxSetCurrent)(CUcontext);
  CUresult (*cuMemGetInfo)(size_t* free, size_t* total);
  CUresult (*cuMemAlloc)(CUdeviceptr*, size_t);
  CUresult (*cuMemFree)(CUdeviceptr);
  CUresult (*cuMemHostAlloc)(void**, size_t, unsigned);
  CUresult (*cuMemFreeHost)(void*);
  CUresult (*cuMemcpyHtoDAsync)(CUdeviceptr, const void*, size_t, CUstream);
  CUresult (*cuMemcpyDtoHAsync)(void*, CUdeviceptr, size_t, CUstream);
  CUresult (*cuMemcpyDtoDAsync)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
  CUresult (*cuMemsetD8Async)(CUdeviceptr, unsigned char, size_t, CUstream);
  CUresult (*cuStreamCreate)(CUstream*, unsigned);
  CUresult (*cuStreamSynchronize)(CUstream);
  CUresult (*cuEventCreate)(CUevent*, unsigned);
  CUresult (*cuEventRecord)(CUevent, CUstream);
  CUresult (*cuEventSynchronize)(CUevent);
  CUresult (*cuModuleLoadData)(CUmodule*, const void*);
  CUresult (*cuModuleUnload)(CUmodule);
  CUresult (*cuModuleGetFunction)(CUfunction*, CUmodule, const char*);
  CUresult (*cuFuncSetAttribute)(CUfunction, int, int);
  CUresult (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, CUfunction, int threads, size_t shared);
  CUresult (*cuLaunchKernel)(CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared, CUstream, void** args, void** extra);
  CUresult (*cuLaunchCooperativeKernel)(CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                        unsigned block_y, unsigned block_z, unsigned shared, CUstream, void** args);
  CUresult (*cuLaunchKernelEx)(const CUlaunchConfig*, CUfunction, void** args, void** extra);  // null before 12.0
  CUresult (*cuStreamBeginCapture)(CUstream, int mode);
  CUresult (*cuStreamEndCapture)(CUstream, CUgraph*);
  CUresult (*cuGraphInstantiate)(CUgraphExec*, CUgraph, unsigned long long flags);
  CUresult (*cuGraphLaunch)(CUgraphExec, CUstream);
  CUresult (*cuGraphDestroy)(CUgraph);
  CUresult (*cuGraphExecDestroy)(CUgraphExec);

  std::string version;  // the latest CUDA version it supports, such as "12.4"

  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string words(CUresult result) const;
};

// The driver of this machine, with at least one device; otherwise a UserError that says what is missing and what to do.
// Not available in a process forked after its first use.
const Driver& driver();

struct DeviceFacts {
  std::string name;
  int         capability;  // 90 for sm_90
  int64_t     processors, shared_bytes, total_bytes;
};
std::vector<DeviceFacts> device_facts();

}  // namespace braintrace::cuda
