// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/driver_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>

#include "braintrace/backends/cuda/blas.h"
#include "braintrace/backends/cuda/driver.h"
#include "braintrace/backends/cuda/nvrtc.h"

namespace braintrace::cuda {

namespace {

constexpr int      oldest_capability = 75;
constexpr unsigned non_blocking = 1, without_timing = 2;
constexpr int      relaxed = 2;

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

// After these errors the context is unusable.
bool is_fatal(CUresult r) {
  return r == CUDA_ERROR_DEVICE_UNAVAILABLE || r == CUDA_ERROR_ECC_UNCORRECTABLE ||
         r == CUDA_ERROR_NVLINK_UNCORRECTABLE || r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_TIMEOUT ||
         r == CUDA_ERROR_CONTEXT_IS_DESTROYED || r == CUDA_ERROR_ASSERT ||
         (r >= CUDA_ERROR_HARDWARE_STACK_ERROR && r <= CUDA_ERROR_LAUNCH_FAILED) || r == CUDA_ERROR_UNKNOWN;
}

std::string gib(size_t bytes) { return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30)); }

// A kernel, and how many of its blocks can be resident at once.
struct DriverFunction {
  CUfunction handle   = nullptr;
  int64_t    resident = 0;
};

class LoadedModule : public Module {
 public:
  LoadedModule(const Driver& d, CUmodule handle) : d_(d), handle_(handle) {}
  ~LoadedModule() override { d_.cuModuleUnload(handle_); }
  LoadedModule(const LoadedModule&)            = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  CUmodule                              handle() const { return handle_; }
  std::map<std::string, DriverFunction> functions;

 private:
  const Driver& d_;
  CUmodule      handle_;
};

class Graph : public Recording {
 public:
  Graph(const Driver& d, CUgraphExec handle) : d_(d), handle_(handle) {}
  ~Graph() override { d_.cuGraphExecDestroy(handle_); }
  Graph(const Graph&)                 = delete;
  Graph&      operator=(const Graph&) = delete;
  CUgraphExec handle() const { return handle_; }

 private:
  const Driver& d_;
  CUgraphExec   handle_;
};

class DriverDevice : public Device {
 public:
  DriverDevice(int number, const DeviceFacts& facts) : d_(driver()), facts_(facts) {
    CUdevice device = 0;
    check(d_.cuDeviceGet(&device, number), "find the device");
    check(d_.cuDevicePrimaryCtxRetain(&context_, device), "open the device");
    enter();
    check(d_.cuStreamCreate(&stream_, non_blocking), "make a stream");
    for (Stage& s : stages_) {
      check(d_.cuMemHostAlloc(&s.memory, stage_bytes, 0), "allocate host memory for copies");
      check(d_.cuEventCreate(&s.done, without_timing), "make an event");
    }
  }

  std::string name() const override { return facts_.name; }
  int         capability() const override { return facts_.capability; }
  int64_t     processors() const override { return facts_.processors; }
  int64_t     shared_bytes() const override { return facts_.shared_bytes; }
  int64_t     free_bytes() const override {
    enter();
    size_t free = 0, total = 0;
    check(d_.cuMemGetInfo(&free, &total), "query free memory");
    return static_cast<int64_t>(free);
  }

  void* allocate(int64_t bytes) override {
    enter();
    CUdeviceptr    p = 0;
    const CUresult r = d_.cuMemAlloc(&p, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
    if (r == CUDA_ERROR_OUT_OF_MEMORY) {
      size_t free = 0, total = 0;
      d_.cuMemGetInfo(&free, &total);
      fail(
          ErrorKind::State,
          "cuda: {} is out of memory: {} were requested, {} of {} are free. Use a smaller batch or model, or end other "
          "processes on the device (nvidia-smi lists them).",
          facts_.name, gib(static_cast<size_t>(bytes)), gib(free), gib(total));
    }
    check(r, "take memory");
    return reinterpret_cast<void*>(p);
  }
  void free(void* memory) override {
    d_.cuCtxSetCurrent(context_);
    d_.cuMemFree(address(memory));
  }

  // Copies through two pinned staging buffers: the device reads one while the host fills the other.
  void write(void* device, const void* host, int64_t bytes) override {
    enter();
    for (int64_t at = 0; at < bytes;) {
      Stage&        s    = stages_[turn_ ^= 1];
      const int64_t part = std::min(bytes - at, static_cast<int64_t>(stage_bytes));
      if (s.used) check(d_.cuEventSynchronize(s.done), "wait for a copy");
      std::memcpy(s.memory, static_cast<const char*>(host) + at, static_cast<size_t>(part));
      check(d_.cuMemcpyHtoDAsync(address(device) + static_cast<CUdeviceptr>(at), s.memory, static_cast<size_t>(part),
                                 stream_),
            "copy to the device");
      check(d_.cuEventRecord(s.done, stream_), "record an event");
      s.used = true;
      at += part;
    }
  }
  void clear(void* device, int64_t bytes) override {
    enter();
    if (bytes > 0) check(d_.cuMemsetD8Async(address(device), 0, static_cast<size_t>(bytes), stream_), "clear memory");
  }
  void copy(void* to, const void* from, int64_t bytes) override {
    enter();
    if (bytes > 0 && to != from)
      check(d_.cuMemcpyDtoDAsync(address(to), address(from), static_cast<size_t>(bytes), stream_), "copy memory");
  }
  void read(void* host, const void* device, int64_t bytes) override {
    enter();
    if (bytes > 0)
      check(d_.cuMemcpyDtoHAsync(host, address(device), static_cast<size_t>(bytes), stream_), "copy from the device");
  }
  void wait() override {
    enter();
    check(d_.cuStreamSynchronize(stream_), "run kernels");
  }

  std::shared_ptr<void> host_memory(int64_t bytes) override {
    enter();
    void* p = nullptr;
    check(d_.cuMemHostAlloc(&p, static_cast<size_t>(std::max<int64_t>(bytes, 1)), 0), "take host memory");
    return {p, [d = &d_, context = context_](void* memory) {
              d->cuCtxSetCurrent(context);
              d->cuMemFreeHost(memory);
            }};
  }

  std::shared_ptr<const Module> load(const codegen::CudaText& text) override {
    const std::string code = compiled(text.source, facts_.capability);
    enter();
    CUmodule       handle = nullptr;
    const CUresult r      = d_.cuModuleLoadData(&handle, code.data());
    require(
        r != CUDA_ERROR_NO_BINARY_FOR_GPU && r != CUDA_ERROR_UNSUPPORTED_PTX_VERSION && r != CUDA_ERROR_INVALID_IMAGE,
        ErrorKind::State,
        "cuda: the driver, which supports CUDA {}, cannot load the output of NVRTC {} ({}). Install a newer driver, or "
        "an older NVRTC.",
        d_.version, nvrtc_facts().version, d_.words(r));
    check(r, "load kernels");
    auto out = std::make_shared<LoadedModule>(d_, handle);
    for (const auto& [kernel, launch] : text.launches) {
      if (launch.blocks == 0) continue;
      DriverFunction& f = out->functions[launch.name];
      if (f.handle) continue;
      check(d_.cuModuleGetFunction(&f.handle, handle, launch.name.c_str()), "find a kernel");
      if (launch.shared > (48 << 10))
        check(d_.cuFuncSetAttribute(f.handle, max_dynamic_shared, static_cast<int>(launch.shared)),
              "give a kernel its shared memory");
      int on_each = 0;
      check(d_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, f.handle, static_cast<int>(launch.threads),
                                                           static_cast<size_t>(launch.shared)),
            "query how many blocks fit");
      ensure(on_each > 0, "cuda: no block of the kernel {} fits on a processor of the device", launch.name);
      f.resident = on_each * facts_.processors;
    }
    return out;
  }

  void launch(const Module& module, const codegen::Launch& launch, const codegen::bt_cuda_frame& frame) override {
    if (launch.blocks == 0) return;
    enter();
    const DriverFunction& f      = static_cast<const LoadedModule&>(module).functions.at(launch.name);
    int64_t               blocks = launch.blocks;
    if (launch.meets) {
      ensure(launch.teams <= f.resident, "cuda: {} teams of {} do not fit on the device at once", launch.teams,
             launch.name);
      blocks = std::min(blocks, f.resident / launch.teams);
      ensure(!launch.fixed || blocks == launch.blocks, "cuda: {} blocks of {} do not fit on the device at once",
             launch.blocks * launch.teams, launch.name);
    }
    codegen::bt_cuda_frame by_value = frame;
    void*                  args[]   = {&by_value};
    const auto             u        = [](int64_t x) { return static_cast<unsigned>(x); };
    if (launch.meets)
      return check(d_.cuLaunchCooperativeKernel(f.handle, u(blocks), u(launch.teams), 1, u(launch.threads), 1, 1,
                                                u(launch.shared), stream_, args),
                   "launch a kernel");
    // Our kernels wait for the previous one themselves (bt_begin in types.cu), so their launches can overlap with it.
    CUlaunchAttribute    early{programmatic_serialization, 0, {1}};
    const CUlaunchConfig config{u(blocks), u(launch.teams), 1, u(launch.threads), 1, 1, u(launch.shared),
                                stream_,   &early,          1};
    check(waits_itself_ ? d_.cuLaunchKernelEx(&config, f.handle, args, nullptr)
                        : d_.cuLaunchKernel(f.handle, u(blocks), u(launch.teams), 1, u(launch.threads), 1, 1,
                                            u(launch.shared), stream_, args, nullptr),
          "launch a kernel");
  }

  bool gemm(const Gemm& gemm) override {
    enter();
    return blas_ && blas_->gemm(gemm);
  }
  void use_blas() {
    workspace_ = allocate(Blas::workspace_bytes);
    blas_      = Blas::open(stream_, workspace_);
    if (!blas_) free(std::exchange(workspace_, nullptr));
  }

  void begin_recording() override {
    enter();
    check(d_.cuStreamBeginCapture(stream_, relaxed), "record a graph");
  }
  std::shared_ptr<const Recording> end_recording() override {
    enter();
    CUgraph graph = nullptr;
    check(d_.cuStreamEndCapture(stream_, &graph), "record a graph");
    CUgraphExec    handle = nullptr;
    const CUresult r      = d_.cuGraphInstantiate(&handle, graph, 0);
    d_.cuGraphDestroy(graph);
    check(r, "make a graph");
    return std::make_shared<Graph>(d_, handle);
  }
  void replay(const Recording& recording) override {
    enter();
    check(d_.cuGraphLaunch(static_cast<const Graph&>(recording).handle(), stream_), "run a graph");
  }

 private:
  struct Stage {
    void*   memory = nullptr;
    CUevent done   = nullptr;
    bool    used   = false;
  };
  static constexpr size_t stage_bytes = size_t{4} << 20;

  // The context is per thread, and any thread may call.
  void enter() const {
    if (lost_) throw DeviceLost(fmt::format("cuda: {} was lost earlier: {}", facts_.name, *lost_), ErrorKind::State);
    check(d_.cuCtxSetCurrent(context_), "use the device");
  }
  void check(CUresult r, const char* doing) const {
    if (r == CUDA_SUCCESS) return;
    const std::string text = fmt::format("cuda: {} could not {}: {}.", facts_.name, doing, d_.words(r));
    if (!is_fatal(r)) throw UserError(text, ErrorKind::State);
    lost_ = text;
    throw DeviceLost(
        text + " This process cannot use it any more: start again, from the last checkpoint if there is one.",
        ErrorKind::State);
  }

  const Driver& d_;
  DeviceFacts   facts_;
  // Whether kernels can be launched before the previous one ends (programmatic dependent launch).
  const bool                         waits_itself_ = d_.cuLaunchKernelEx && facts_.capability >= 90;
  CUcontext                          context_      = nullptr;
  CUstream                           stream_       = nullptr;
  std::array<Stage, 2>               stages_;
  size_t                             turn_      = 0;
  void*                              workspace_ = nullptr;
  std::unique_ptr<Blas>              blas_;
  mutable std::optional<std::string> lost_;
};

}  // namespace

std::unique_ptr<Device> open_driver_device(int number) {
  const std::vector<DeviceFacts> all = device_facts();
  require(number >= 0 && static_cast<size_t>(number) < all.size(), ErrorKind::Name,
          "cuda: there is no device {}; this machine has {}: cuda:0{}.", number, all.size(),
          all.size() > 1 ? fmt::format(" … cuda:{}", all.size() - 1) : "");
  const DeviceFacts& facts = all[static_cast<size_t>(number)];
  require(facts.capability >= oldest_capability,
          "cuda: {} has compute capability {}.{}; 7.5 (Turing) or later is needed. Use the backend cpu.", facts.name,
          facts.capability / 10, facts.capability % 10);
  const NvrtcFacts nvrtc = nvrtc_facts();
  require(nvrtc.problem.empty(), "{}", nvrtc.problem);
  auto out = std::make_unique<DriverDevice>(number, facts);
  out->use_blas();
  return out;
}

}  // namespace braintrace::cuda
