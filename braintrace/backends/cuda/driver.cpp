// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/driver.h"

#include <mutex>
#include <optional>
#include <unistd.h>

#include "braintrace/base/process_mutex.h"

namespace braintrace::cuda {

namespace {

constexpr int oldest_version = 11040;  // CUDA 11.4, for graph capture

std::string version_text(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

// What to do about an initialization error, in addition to its name.
const char* advice(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NO_DEVICE:
      return "no device is visible: see nvidia-smi, CUDA_VISIBLE_DEVICES, and whether the container was given one";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
      return "the driver's library and its kernel module differ: restart the machine, or repair the installation";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return "the forward-compatible libcuda.so.1 does not support this device: remove it from LD_LIBRARY_PATH";
    default:
      return "see whether nvidia-smi works";
  }
}

Driver opened() {
  LoadedLibrary library = LoadedLibrary::driver({"libcuda.so.1"});
  require(static_cast<bool>(library),
          "cuda: no NVIDIA driver was found (libcuda.so.1{}{}). Install one, or use the backend cpu.",
          library.problem().empty() ? "" : ": ", library.problem());
  Driver d{};
  library.find(d.cuInit, "cuInit");
  library.find(d.cuDriverGetVersion, "cuDriverGetVersion");
  require(library.missing().empty(), "cuda: {} is not an NVIDIA driver: it has no {}.", library.path(),
          library.missing());
  int version = 0;
  d.cuDriverGetVersion(&version);
  d.version                = version_text(version);
  const std::string needed = fmt::format(
      "cuda: the NVIDIA driver supports CUDA {}; {} or later is needed. Install a newer driver, or use the backend "
      "cpu.",
      d.version, version_text(oldest_version));
  require(version >= oldest_version, "{}", needed);

  library.find(d.cuGetErrorName, "cuGetErrorName");
  library.find(d.cuGetErrorString, "cuGetErrorString");
  library.find(d.cuDeviceGetCount, "cuDeviceGetCount");
  library.find(d.cuDeviceGet, "cuDeviceGet");
  library.find(d.cuDeviceGetName, "cuDeviceGetName");
  library.find(d.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  library.find(d.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
  library.find(d.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  library.find(d.cuCtxSetCurrent, "cuCtxSetCurrent");
  library.find(d.cuMemGetInfo, "cuMemGetInfo_v2");
  library.find(d.cuMemAlloc, "cuMemAlloc_v2");
  library.find(d.cuMemFree, "cuMemFree_v2");
  library.find(d.cuMemHostAlloc, "cuMemHostAlloc");
  library.find(d.cuMemFreeHost, "cuMemFreeHost");
  library.find(d.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  library.find(d.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  library.find(d.cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  library.find(d.cuMemsetD8Async, "cuMemsetD8Async");
  library.find(d.cuStreamCreate, "cuStreamCreate");
  library.find(d.cuStreamSynchronize, "cuStreamSynchronize");
  library.find(d.cuEventCreate, "cuEventCreate");
  library.find(d.cuEventRecord, "cuEventRecord");
  library.find(d.cuEventSynchronize, "cuEventSynchronize");
  library.find(d.cuModuleLoadData, "cuModuleLoadData");
  library.find(d.cuModuleUnload, "cuModuleUnload");
  library.find(d.cuModuleGetFunction, "cuModuleGetFunction");
  library.find(d.cuFuncSetAttribute, "cuFuncSetAttribute");
  library.find(d.cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  library.find(d.cuLaunchKernel, "cuLaunchKernel");
  library.find(d.cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel");
  library.find(d.cuStreamBeginCapture, "cuStreamBeginCapture_v2");
  library.find(d.cuStreamEndCapture, "cuStreamEndCapture");
  library.find(d.cuGraphInstantiate, "cuGraphInstantiateWithFlags");
  library.find(d.cuGraphLaunch, "cuGraphLaunch");
  library.find(d.cuGraphDestroy, "cuGraphDestroy");
  library.find(d.cuGraphExecDestroy, "cuGraphExecDestroy");
  require(library.missing().empty(), "{} (It has no {}.)", needed, library.missing());
  library.find(d.cuLaunchKernelEx, "cuLaunchKernelEx");

  const CUresult started = d.cuInit(0);
  require(started == CUDA_SUCCESS, "cuda: the NVIDIA driver does not start: {}; {}.", d.words(started),
          advice(started));
  int count = 0;
  require(d.cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0, "cuda: there is no device; {}.",
          advice(CUDA_ERROR_NO_DEVICE));
  return d;
}

}  // namespace

std::string Driver::words(CUresult result) const {
  const char *name = nullptr, *meaning = nullptr;
  if (cuGetErrorName) cuGetErrorName(result, &name);
  if (cuGetErrorString) cuGetErrorString(result, &meaning);
  return fmt::format("{}: {}", name ? name : fmt::format("error {}", result), meaning ? meaning : "unknown");
}

const Driver& driver() {
  static ProcessMutex          mutex;
  static std::optional<Driver> found;
  static pid_t                 process = 0;
  std::lock_guard              lock(mutex);
  if (!found) {
    found   = opened();
    process = getpid();
  }
  require(process == getpid(), ErrorKind::State,
          "cuda: this process was forked after its parent used the driver. Use the GPU in the child process only.");
  return *found;
}

std::vector<DeviceFacts> device_facts() {
  const Driver& d     = driver();
  int           count = 0;
  d.cuDeviceGetCount(&count);
  std::vector<DeviceFacts> out;
  for (int i = 0; i < count; ++i) {
    CUdevice device    = 0;
    char     name[256] = {};
    size_t   bytes     = 0;
    d.cuDeviceGet(&device, i);
    d.cuDeviceGetName(name, sizeof name - 1, device);
    d.cuDeviceTotalMem(&bytes, device);
    const auto attribute = [&](int which) {
      int value = 0;
      d.cuDeviceGetAttribute(&value, which, device);
      return value;
    };
    out.push_back({name, 10 * attribute(capability_major) + attribute(capability_minor),
                   attribute(multiprocessor_count), attribute(max_shared_per_block), static_cast<int64_t>(bytes)});
  }
  return out;
}

}  // namespace braintrace::cuda
