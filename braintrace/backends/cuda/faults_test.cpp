// SPDX-License-Identifier: Apache-2.0
// Missing, outdated and failing parts of a machine with a GPU, simulated by libraries that fail on request. A process
// opens the driver only once, so every case runs in its own process.
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

#include <gtest/gtest.h>

#include "braintrace/advise/apart.h"
#include "braintrace/backends/cuda/open_device.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/base/warning.h"
#include "braintrace/ir/builder.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/ops/math.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/stream/guarded_stream.h"
#include "braintrace/zoo/model.h"

namespace braintrace {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// Folders with fake drivers and compilers, built once.
class FakeLibraries {
 public:
  FakeLibraries() {
    make("driver", "libcuda.so.1", "");
    make("all", "libcuda.so.1", "");
    make("all", "libnvrtc.so.12", "-DFAKE_NVRTC");
    make("old", "libcuda.so.1", "");
    make("old", "libnvrtc.so.12", "-DFAKE_NVRTC -DFAKE_OLD_NVRTC");
  }
  std::string folder(const std::string& name) const { return (root_.path / name).string(); }

 private:
  void make(const std::string& folder, const std::string& name, const std::string& flags) {
    std::filesystem::create_directories(root_.path / folder);
    const std::string source = std::string(BRAINTRACE_SOURCE_DIR) + "/tests/support/fake_cuda.c";
    const std::string words =
        fmt::format("cc -w -shared -fPIC {} -o '{}' '{}'", flags, (root_.path / folder / name).string(), source);
    EXPECT_EQ(std::system(words.c_str()), 0) << words;
  }
  TemporaryFolder root_;
};

std::string in_new_process(const std::string& libraries, const Settings& settings,
                           const std::function<std::string()>& work) {
  static const FakeLibraries fakes;
  return run_apart(
      [&] {
        setenv("BRAINTRACE_CUDA_LIBS", fakes.folder(libraries).c_str(), 1);
        setenv("BRAINTRACE_CACHE_DIR", "/dev/null/none", 1);  // disables the cache
        for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
        set_warning_hook([](const std::string&) {});
        return work();
      },
      {});
}

std::string problem_of(const std::string& libraries, const Settings& settings, const std::string& backend = "cuda") {
  return in_new_process(libraries, settings, [&] { return find_backend(backend).problem(); });
}

// y = 2 x, h' = h + x; h is fed.
Traced stepping(int64_t n) {
  return trace({{DType::F32, {n}}, {DType::F32, {n}}}, [](const Tensors& in) {
    return Tensors{2.0 * in[0], in[1] + in[0]};
  });
}
std::string message_of(const std::function<void()>& f) {
  try {
    f();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& w : words) EXPECT_NE(text.find(w), std::string::npos) << "no '" << w << "' in: " << text;
}

TEST(CudaFaults, AWorkingDeviceHasNoProblem) { EXPECT_EQ(problem_of("all", {}), ""); }

TEST(CudaFaults, NoDriver) {
  if (dlopen("libcuda.so.1", RTLD_NOW)) GTEST_SKIP() << "this machine has a driver";
  expect_words(problem_of("none", {}), {"no NVIDIA driver", "libcuda.so.1", "backend cpu"});
}

TEST(CudaFaults, ADriverThatIsTooOldSaysWhichIsNeeded) {
  expect_words(problem_of("all", {{"FAKE_VERSION", "10020"}}), {"CUDA 10.2", "11.4 or later is needed"});
}

TEST(CudaFaults, NoDevice) {
  expect_words(problem_of("all", {{"FAKE_INIT", "100"}}), {"CUDA_ERROR_NO_DEVICE", "nvidia-smi"});
  expect_words(problem_of("all", {{"FAKE_DEVICES", "0"}}), {"no device", "CUDA_VISIBLE_DEVICES"});
  expect_words(problem_of("all", {{"FAKE_DEVICES", "2"}}, "cuda:2"), {"no device 2", "cuda:0 … cuda:1"});
  EXPECT_EQ(problem_of("all", {{"FAKE_DEVICES", "2"}}, "cuda:1"), "");
}

TEST(CudaFaults, ADeviceThatIsTooOld) {
  expect_words(problem_of("all", {{"FAKE_MAJOR", "7"}}), {"capability 7.0", "7.5"});
}

TEST(CudaFaults, NoCompiler) {
  expect_words(problem_of("driver", {}), {"NVRTC", "nvidia-cuda-nvrtc", "BRAINTRACE_CUDA_LIBS"});
  expect_words(problem_of("old", {}), {"too old", "nvrtcGetErrorString"});
}

TEST(CudaFaults, ADeviceThatTheCompilerDoesNotKnow) {
  const std::string text = in_new_process("all", {{"FAKE_MAJOR", "12"}}, [] {
    return message_of([] { find_backend("cuda").compile(stepping(4).program, {}); });
  });
  expect_words(text, {"NVRTC 12.4", "capability 12.0"});
}

TEST(CudaFaults, AKernelThatDoesNotCompileIsABugOfOurs) {
  const std::string text = in_new_process("all", {{"FAKE_COMPILE", "6"}}, [] {
    return message_of([] { find_backend("cuda").compile(stepping(4).program, {}); });
  });
  expect_words(text, {"NVRTC_ERROR_COMPILATION", "braintrace.cu(7): error", "please report"});
}

TEST(CudaFaults, CodeThatTheDriverDoesNotLoad) {
  const std::string text = in_new_process("all", {{"FAKE_LOAD", "222"}}, [] {
    return message_of([] { find_backend("cuda").compile(stepping(4).program, {}); });
  });
  expect_words(text, {"CUDA 12.4", "NVRTC 12.4", "newer driver"});
}

TEST(CudaFaults, AProgramThatDoesNotFitSaysWhatWould) {
  const std::string text = in_new_process("all", {{"FAKE_MEMORY", "1000000"}}, [] {
    return message_of([] { find_backend("cuda").compile(stepping(1 << 20).program, {}); });
  });
  expect_words(text, {"does not fit on Fake GPU", "0.02 GiB", "batch of about", "advise --backend cuda"});
}

TEST(CudaFaults, NothingIsLeftAfterAnAllocationThatFails) {
  for (const int at : {2, 3, 4, 5, 6, 7, 8}) {
    const std::string text = in_new_process("all", {{"FAKE_ALLOCATION", std::to_string(at)}}, [] {
      find_backend("cuda").problem();  // opens the device
      const std::string driver = std::string(std::getenv("BRAINTRACE_CUDA_LIBS")) + "/libcuda.so.1";
      const auto*       left   = static_cast<int*>(dlsym(dlopen(driver.c_str(), RTLD_NOW), "fake_not_freed"));
      const int         before = *left;
      const std::string why    = message_of([] { find_backend("cuda").compile(stepping(64).program, {}); });
      return fmt::format("{} left {}", why, *left - before);
    });
    if (text != " left 0") expect_words(text, {"out of memory", "left 0"});
    if (at == 2) expect_words(text, {"out of memory"});
  }
}

TEST(CudaFaults, ADeviceThatIsLostGivesTheStatesBack) {
  const std::string text = in_new_process("all", {{"FAKE_LAUNCH", "3"}}, [] {
    const auto  resident = find_backend("cuda").resident(stepping(2).program, {}, {{1, 1}});
    const Array h = Array::of<float>({5, 6}, {2}), x = Array::of<float>({1, 2}, {2});
    resident->hold({h});
    std::string said;
    for (int i = 0; i < 6 && said.empty(); ++i) said = message_of([&] { resident->run({x}); });
    said += "|" + message_of([&] { resident->run({x}); });
    const Arrays back = resident->settle();
    return said + "|" + to_string(back[0]);
  });
  expect_words(text, {"CUDA_ERROR_LAUNCH_FAILED", "This process cannot use it any more", "checkpoint",
                      "was lost earlier", "5", "6"});
}

TEST(CudaFaults, ADeviceThatIsLostEndsAStream) {
  const std::string text = in_new_process("all", {{"FAKE_LAUNCH", "60"}}, [] {
    set_default_backend("cuda");
    random::seed(1);
    const auto            model = zoo::build_model(R"({"type": "chain", "layers": [
        {"name": "rnn", "type": "gru", "n_in": 2, "n_rec": 4}, {"name": "out", "type": "linear", "n_in": 4, "n_out": 1}]})");
    stream::OnlineStream  net(*model, Type{DType::F32, {2}}, {});
    const auto            weight = [&] { return model->params().begin()->second.leaf("weight").array().copy(); };
    const Array           before = weight();
    stream::GuardedStream guarded(net);
    const stream::Record  record{Array::of<float>({1, 2}, {2}), Array::of<float>({1}, {1})};
    int64_t               taken = 0;
    const std::string     said  = message_of([&] {
      for (; taken < 1000; ++taken) guarded.take(taken, record);
    });
    return fmt::format("{} taken {} learned {} same {}", said, taken > 0, guarded.learned(),
                       identical(weight(), before));
  });
  expect_words(text, {"This process cannot use it any more", "taken true learned 0 same true"});
}

TEST(CudaFaults, AProcessThatWasForkedCannotUseTheDevice) {
  const std::string text = in_new_process("all", {}, [] {
    EXPECT_EQ(find_backend("cuda").problem(), "");
    return run_apart([] { return find_backend("cuda").problem(); }, {});
  });
  expect_words(text, {"forked"});
}

TEST(CudaFaults, AutoTakesTheProcessorWithANote) {
  const std::string text = in_new_process("all", {{"FAKE_DEVICES", "0"}}, [] {
    std::string said;
    set_warning_hook([&](const std::string& w) { said += w; });
    const Arrays out = find_backend("auto")
                           .compile(stepping(2).program, {})
                           ->run({Array::of<float>({1, 2}, {2}), Array::of<float>({3, 4}, {2})});
    return said + to_string(out[1]);
  });
  expect_words(text, {"run on the CPU", "no device", "4", "6"});
}

TEST(CudaFaults, WithoutCublasANoteSaysSo) {
  const std::string text = in_new_process("all", {}, [] {
    std::string said;
    set_warning_hook([&](const std::string& w) { said += w; });
    find_backend("cuda").problem();
    return said;
  });
  expect_words(text, {"libcublas.so", "nvidia-cublas"});
}

}  // namespace
}  // namespace braintrace
