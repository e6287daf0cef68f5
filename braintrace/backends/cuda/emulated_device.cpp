// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/emulated_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/base/process_mutex.h"

namespace braintrace {
std::string_view emulation_words_cu();
std::string_view emulation_races_cu();
std::string_view emulation_threads_cu();
}  // namespace braintrace

namespace braintrace::cuda {

namespace {

using codegen::bt_cuda_frame;

struct EmulatedModule : Module {
  std::shared_ptr<const cpu::Library> library;
};
struct EmulatedRecording : Recording {
  std::vector<std::function<void()>> list;
};

class EmulatedDevice : public Device {
 public:
  explicit EmulatedDevice(bool finds_races) : finds_races_(finds_races) {}
  ~EmulatedDevice() override {
    for (const auto& [at, bytes] : memory_) std::free(at - guard);
  }

  std::string name() const override { return "emulation"; }
  int         capability() const override { return 90; }
  int64_t     processors() const override { return 4; }
  int64_t     shared_bytes() const override { return int64_t{227} << 10; }
  int64_t     free_bytes() const override {
    std::lock_guard lock(mutex_);
    int64_t         free = int64_t{1} << 30;
    for (const auto& [at, bytes] : memory_) free -= bytes;
    return free;
  }

  void* allocate(int64_t bytes) override {
    const size_t size = (static_cast<size_t>(bytes) + 255) / 256 * 256 + 2 * guard;
    auto*        at   = static_cast<char*>(std::aligned_alloc(256, size));
    require(at != nullptr, "emulation: no memory for {} bytes.", bytes);
    std::memset(at, mark, size);
    std::lock_guard lock(mutex_);
    memory_[at + guard] = bytes;
    return at + guard;
  }
  void free(void* memory) override {
    std::lock_guard lock(mutex_);
    auto*           at    = static_cast<char*>(memory);
    const auto      found = memory_.find(at);
    ensure(found != memory_.end(), "emulation: memory that was never allocated is freed");
    const bool is_intact =
        std::all_of(at - guard, at, is_mark) && std::all_of(at + found->second, at + found->second + guard, is_mark);
    memory_.erase(found);
    std::free(at - guard);
    ensure(is_intact, "emulation: a kernel has written outside its memory");
  }

  void write(void* device, const void* host, int64_t bytes) override {
    if (bytes == 0) return;  // the pointer may be null
    // The host may reuse its memory before a recording is replayed.
    if (!is_recording_) return void(std::memcpy(device, host, static_cast<size_t>(bytes)));
    const auto* from = static_cast<const char*>(host);
    then([device, kept = std::vector<char>(from, from + bytes)] { std::memcpy(device, kept.data(), kept.size()); });
  }
  void clear(void* device, int64_t bytes) override {
    then([=] { std::memset(device, 0, static_cast<size_t>(bytes)); });
  }
  void copy(void* to, const void* from, int64_t bytes) override {
    then([=] { std::memmove(to, from, static_cast<size_t>(bytes)); });
  }
  void read(void* host, const void* device, int64_t bytes) override {
    if (bytes > 0) then([=] { std::memcpy(host, device, static_cast<size_t>(bytes)); });
  }
  void                  wait() override {}
  std::shared_ptr<void> host_memory(int64_t bytes) override {
    return {std::malloc(static_cast<size_t>(std::max<int64_t>(bytes, 1))), [](void* p) { std::free(p); }};
  }

  std::shared_ptr<const Module> load(const codegen::CudaText& text) override {
    const cpu::Loaded loaded = cpu::load(
        fmt::format("{}{}{}{}", emulation_words_cu(), emulation_races_cu(), text.source, emulation_threads_cu()),
        finds_races_ ? cpu::Language::WitnessedCpp : cpu::Language::Cpp);
    ensure(loaded.library != nullptr, "emulation: the text does not compile: {}", loaded.problem);
    auto module     = std::make_shared<EmulatedModule>();
    module->library = loaded.library;
    return module;
  }

  // Blocks that synchronize run concurrently, at least one per team.
  void launch(const Module& module, const codegen::Launch& l, const bt_cuda_frame& frame) override {
    using Kernel  = void (*)(bt_cuda_frame);
    using Emulate = const char* (*)(Kernel, const bt_cuda_frame*, uint32_t, uint32_t, uint32_t, uint32_t, int32_t,
                                    const Piece*, uint64_t);
    const auto&   library = static_cast<const EmulatedModule&>(module).library;
    const auto    kernel  = reinterpret_cast<Kernel>(library->symbol(l.name));
    const auto    emulate = reinterpret_cast<Emulate>(library->symbol("bt_emulate"));
    const int64_t most    = l.meets ? std::max<int64_t>(processors() / l.teams, 1) : l.blocks;
    const auto    blocks  = static_cast<uint32_t>(std::min(l.blocks, most));
    ensure(!l.fixed || blocks == l.blocks, "emulation: {} blocks of {} do not fit", l.blocks, l.name);
    then([=, this, keeps = library] {
      static std::mutex        one;  // a module has a single set of fibers
      std::lock_guard          lock(one);
      const std::vector<Piece> watched = finds_races_ ? pieces() : std::vector<Piece>();
      const std::string        problem =
          emulate(kernel, &frame, blocks, static_cast<uint32_t>(l.teams), static_cast<uint32_t>(l.threads),
                  static_cast<uint32_t>(l.shared), l.meets, watched.data(), watched.size());
      ensure(problem.empty(), "emulation: {}: {}", l.name, problem);
    });
  }

  bool gemm(const Gemm&) override { return false; }

  void begin_recording() override {
    is_recording_ = true;
    recorded_     = std::make_shared<EmulatedRecording>();
  }
  std::shared_ptr<const Recording> end_recording() override {
    is_recording_ = false;
    return std::move(recorded_);
  }
  void replay(const Recording& recording) override {
    for (const auto& work : static_cast<const EmulatedRecording&>(recording).list) work();
  }

 private:
  // Matches bt_memory in emulation_words.cu.
  struct Piece {
    char*    at;
    uint64_t bytes;
  };
  std::vector<Piece> pieces() const {
    std::lock_guard    lock(mutex_);
    std::vector<Piece> out;
    for (const auto& [at, bytes] : memory_) out.push_back({at, static_cast<uint64_t>(bytes)});
    return out;
  }

  static constexpr size_t guard = 256;
  static constexpr char   mark  = '\x5a';
  static bool             is_mark(char c) { return c == mark; }

  template <class F>
  void then(F work) {
    if (is_recording_)
      recorded_->list.push_back(std::move(work));
    else
      work();
  }

  const bool                         finds_races_;
  mutable ProcessMutex               mutex_;  // programs can be destroyed on any thread
  std::map<char*, int64_t>           memory_;
  bool                               is_recording_ = false;
  std::shared_ptr<EmulatedRecording> recorded_;
};

}  // namespace

std::unique_ptr<Device> open_emulated_device(bool finds_races) { return std::make_unique<EmulatedDevice>(finds_races); }

}  // namespace braintrace::cuda
