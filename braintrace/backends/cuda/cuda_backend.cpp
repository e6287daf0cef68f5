// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/cuda_backend.h"

#include <atomic>
#include <charconv>
#include <map>

#include "braintrace/backends/calls.h"
#include "braintrace/backends/cpu/cpu_backend.h"
#include "braintrace/backends/cuda/cuda_executable.h"
#include "braintrace/backends/cuda/device_program.h"
#include "braintrace/backends/settings.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/base/warning.h"

namespace braintrace {

namespace {

codegen::Precision precision_now() {
  const std::string name = product_precision();
  return name == "tf32"   ? codegen::Precision::TF32
         : name == "bf16" ? codegen::Precision::BF16
                          : codegen::Precision::F32;
}

class CudaBackend : public Backend {
 public:
  CudaBackend(std::string name, int number) : name_(std::move(name)), number_(number) {}

  std::string_view            name() const override { return name_; }
  std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) override {
    check_constants(program, constants);
    const NonzeroResults nonzero = nonzero_results(program);
    return with_zero_results(cuda::make_executable(device(), nonzero.program, constants, precision_now()), program,
                             nonzero.is_zero);
  }
  std::unique_ptr<ResidentProgram> resident(const Program& program, const Arrays& constants,
                                            const std::vector<Feed>& feeds) override {
    return cuda::make_resident(device(), program, constants, feeds, precision_now());
  }
  ProgramNeeds needs(const Program& program, const std::vector<Feed>& feeds) override {
    const NonzeroResults nonzero = nonzero_results(program);
    codegen::Options     options;
    options.target = cuda::target_of(*device().device);
    return needs_of(codegen::scheduled({nonzero.program}, options), nonzero, feeds, options.target);
  }
  std::string problem() const override {
    try {
      device();
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }
  std::optional<int64_t> memory() const override { return device().device->free_bytes(); }

 private:
  cuda::OpenDevice& device() const {
    return cuda::open_device(settings::emulates_cuda() && number_ >= 0 ? cuda::emulation : number_);
  }

  std::string name_;
  int         number_;
};

class AutoBackend : public Backend {
 public:
  std::string_view            name() const override { return "auto"; }
  std::shared_ptr<Executable> compile(const Program& program, const Arrays& constants) override {
    return chosen().compile(program, constants);
  }
  std::unique_ptr<ResidentProgram> resident(const Program& program, const Arrays& constants,
                                            const std::vector<Feed>& feeds) override {
    return chosen().resident(program, constants, feeds);
  }
  ProgramNeeds needs(const Program& program, const std::vector<Feed>& feeds) override {
    return chosen().needs(program, feeds);
  }
  std::string            problem() const override { return chosen().problem(); }
  std::optional<int64_t> memory() const override { return chosen().memory(); }

 private:
  static Backend& chosen() {
    static Backend& backend = [&]() -> Backend& {
      Backend&          cuda    = *cuda_backend("cuda");
      const std::string problem = cuda.problem();
      if (problem.empty()) return cuda;
      warn(fmt::format("programs run on the CPU (backend cpu): {}", problem), "auto backend");
      return cpu_backend();
    }();
    return backend;
  }
};

}  // namespace

Backend* cuda_backend(std::string_view name) {
  int number = 0;
  if (name == "cuda-emulation" || name == "cuda-races") {
    number = name == "cuda-races" ? cuda::racing_emulation : cuda::emulation;
  } else if (name != "cuda") {
    constexpr std::string_view prefix = "cuda:";
    if (!name.starts_with(prefix)) return nullptr;
    const char* const end  = name.data() + name.size();
    const auto        read = std::from_chars(name.data() + prefix.size(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 0) return nullptr;
  }
  static ProcessMutex                                mutex;
  static std::map<int, std::unique_ptr<CudaBackend>> backends;
  std::lock_guard                                    lock(mutex);
  auto&                                              backend = backends[number];
  if (!backend) backend = std::make_unique<CudaBackend>(number == 0 ? "cuda" : std::string(name), number);
  return backend.get();
}

Backend& auto_backend() {
  static AutoBackend backend;
  return backend;
}

}  // namespace braintrace
