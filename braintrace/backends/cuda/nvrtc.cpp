// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/nvrtc.h"

#include <algorithm>
#include <vector>

#include "braintrace/backends/cpu/code_cache.h"
#include "braintrace/backends/cuda/loaded_library.h"

namespace braintrace::cuda {

namespace {

using nvrtcResult  = int;
using nvrtcProgram = struct _nvrtcProgram*;

struct Nvrtc {
  nvrtcResult (*nvrtcVersion)(int* major, int* minor);
  nvrtcResult (*nvrtcGetNumSupportedArchs)(int*);
  nvrtcResult (*nvrtcGetSupportedArchs)(int*);
  nvrtcResult (*nvrtcCreateProgram)(nvrtcProgram*, const char* text, const char* name, int headers,
                                    const char* const* contents, const char* const* names);
  nvrtcResult (*nvrtcCompileProgram)(nvrtcProgram, int count, const char* const* options);
  nvrtcResult (*nvrtcGetProgramLogSize)(nvrtcProgram, size_t*);
  nvrtcResult (*nvrtcGetProgramLog)(nvrtcProgram, char*);
  nvrtcResult (*nvrtcGetCUBINSize)(nvrtcProgram, size_t*);
  nvrtcResult (*nvrtcGetCUBIN)(nvrtcProgram, char*);
  nvrtcResult (*nvrtcDestroyProgram)(nvrtcProgram*);
  const char* (*nvrtcGetErrorString)(nvrtcResult);

  std::string      path, problem;  // problem: why it cannot be used
  std::string      version;
  std::vector<int> capabilities;
};

constexpr const char* how_to_get_it =
    "Install NVIDIA's package nvidia-cuda-nvrtc-cu12 or nvidia-cuda-nvrtc (pip), cuda-nvrtc (CUDA Toolkit), or name "
    "the folder of libnvrtc.so in BRAINTRACE_CUDA_LIBS";

Nvrtc found_nvrtc() {
  Nvrtc         n{};
  LoadedLibrary library = LoadedLibrary::toolkit({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"});
  if (!library) {
    n.problem =
        fmt::format("cuda: NVRTC, which compiles kernels, was not found (libnvrtc.so.13, .12 or .11.2{}{}). {}.",
                    library.problem().empty() ? "" : "; ", library.problem(), how_to_get_it);
    return n;
  }
  n.path = library.path();
  library.find(n.nvrtcVersion, "nvrtcVersion");
  library.find(n.nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs");
  library.find(n.nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs");
  library.find(n.nvrtcCreateProgram, "nvrtcCreateProgram");
  library.find(n.nvrtcCompileProgram, "nvrtcCompileProgram");
  library.find(n.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
  library.find(n.nvrtcGetProgramLog, "nvrtcGetProgramLog");
  library.find(n.nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
  library.find(n.nvrtcGetCUBIN, "nvrtcGetCUBIN");
  library.find(n.nvrtcDestroyProgram, "nvrtcDestroyProgram");
  library.find(n.nvrtcGetErrorString, "nvrtcGetErrorString");
  if (!library.missing().empty()) {
    n.problem = fmt::format("cuda: {} is too old: it has no {}. {}.", library.path(), library.missing(), how_to_get_it);
    return n;
  }
  int major = 0, minor = 0, count = 0;
  n.nvrtcVersion(&major, &minor);
  n.version = fmt::format("{}.{}", major, minor);
  n.nvrtcGetNumSupportedArchs(&count);
  n.capabilities.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) n.nvrtcGetSupportedArchs(n.capabilities.data());
  return n;
}
const Nvrtc& nvrtc() {
  static const Nvrtc n = found_nvrtc();
  return n;
}

// Code for a device runs on later ones of the same generation.
int nearest_capability(const Nvrtc& n, int capability) {
  int best = 0;
  for (int known : n.capabilities)
    if (known / 10 == capability / 10 && known <= capability) best = std::max(best, known);
  require(best > 0, ErrorKind::State, "cuda: NVRTC {} ({}) does not support compute capability {}.{}. {}.", n.version,
          n.path, capability / 10, capability % 10, how_to_get_it);
  return best;
}

// As on the CPU: products and sums are contracted only where the text uses fma, and subnormals are flushed to zero.
std::vector<std::string> nvrtc_options(int capability) {
  return {fmt::format("--gpu-architecture=sm_{}", capability), "--std=c++17", "-default-device", "--fmad=false",
          "--ftz=true"};
}

class Compilation {
 public:
  Compilation(const Nvrtc& n, const std::string& text) : n_(n) {
    check(n.nvrtcCreateProgram(&program_, text.c_str(), "braintrace.cu", 0, nullptr, nullptr));
  }
  ~Compilation() { n_.nvrtcDestroyProgram(&program_); }
  Compilation(const Compilation&)            = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::string code(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& o : options) words.push_back(o.c_str());
    if (const nvrtcResult r = n_.nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data()))
      throw InternalError(fmt::format("cuda: NVRTC {} does not compile a kernel: {}\n{}", n_.version,
                                      n_.nvrtcGetErrorString(r), log().substr(0, 4000)));
    size_t size = 0;
    check(n_.nvrtcGetCUBINSize(program_, &size));
    std::string out(size, '\0');
    check(n_.nvrtcGetCUBIN(program_, out.data()));
    return out;
  }

 private:
  void check(nvrtcResult r) const {
    require(r == 0, ErrorKind::State, "cuda: NVRTC fails: {}.", n_.nvrtcGetErrorString(r));
  }
  std::string log() const {
    size_t size = 0;
    n_.nvrtcGetProgramLogSize(program_, &size);
    std::string out(size, '\0');
    if (size > 0) n_.nvrtcGetProgramLog(program_, out.data());
    return out.c_str();
  }

  const Nvrtc& n_;
  nvrtcProgram program_ = nullptr;
};

}  // namespace

std::string compiled(const std::string& text, int capability) {
  const Nvrtc& n = nvrtc();
  require(n.problem.empty(), ErrorKind::State, "{}", n.problem);
  const std::vector<std::string> options = nvrtc_options(nearest_capability(n, capability));
  std::string                    around  = "nvrtc " + n.version;
  for (const std::string& o : options) around += " " + o;
  const std::string    name = fmt::format("{:016x}{:016x}", cpu::hash_of(text, cpu::hash_of(around)),
                                          cpu::hash_of(around, cpu::hash_of(text, 7809847782465536322ULL)));
  const cpu::CodeCache cache;
  if (const auto kept = cache.find(name); !kept.empty())
    if (std::string code = cpu::contents_of(kept); !code.empty()) return code;
  std::string           code = Compilation(n, text).code(options);
  const cpu::WorkFolder work(cache.folder());
  if (!work.path().empty() && cpu::write_contents(work.path() / "code.cubin", code) &&
      cache.keep(name, work.path() / "code.cubin").empty())
    cache.shrink(cache.bound());
  return code;
}

NvrtcFacts nvrtc_facts() { return {nvrtc().version, nvrtc().path, nvrtc().problem}; }

}  // namespace braintrace::cuda
