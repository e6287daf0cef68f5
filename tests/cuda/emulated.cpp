// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/emulated.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/base/lists.h"

namespace braintrace::testing_support {

namespace {

// Device memory during a call.
class Block {
 public:
  Block(cuda::Device& device, int64_t bytes) : device_(device), at_(device.allocate(bytes)) {}
  ~Block() noexcept(false) { device_.free(at_); }
  Block(const Block&)            = delete;
  Block& operator=(const Block&) = delete;
  void*  at() const { return at_; }

 private:
  cuda::Device& device_;
  void*         at_;
};
using Blocks = std::vector<std::unique_ptr<Block>>;

void* held(Blocks& blocks, cuda::Device& device, int64_t bytes) {
  blocks.push_back(std::make_unique<Block>(device, bytes));
  return blocks.back()->at();
}
void* written(Blocks& blocks, cuda::Device& device, const void* from, int64_t bytes) {
  void* at = held(blocks, device, bytes);
  device.write(at, from, bytes);
  return at;
}
const void* const* table(Blocks& blocks, cuda::Device& device, const std::vector<const void*>& list) {
  return static_cast<const void* const*>(
      written(blocks, device, list.data(), static_cast<int64_t>(list.size() * sizeof(void*))));
}

bool asks_host(const codegen::Function& f) {
  for (const codegen::Kernel& k : f.kernels) {
    if (std::holds_alternative<codegen::HostCall>(k.what)) return true;
    for (const auto& [role, g] : codegen::contained(k))
      if (asks_host(*g)) return true;
  }
  return false;
}

}  // namespace

bool run_entry(cuda::Device& device, const codegen::CudaText& text, const cuda::Module& module, size_t number,
               const Arrays& in, Arrays& out) {
  const codegen::Function& entry = *text.schedule.entries[number];
  Blocks                   blocks;
  std::vector<const void*> inputs, outputs, constants;
  for (const Array& a : in) inputs.push_back(written(blocks, device, a.raw(), a.bytes()));
  // Results overwrite arguments where they may, as they do in programs that run again and again.
  for (size_t k = 0; k < out.size(); ++k) {
    const void* at = nullptr;
    for (size_t i = entry.first_arg; i < in.size() && !at; ++i)
      if (entry.may_share(k, i - entry.first_arg) && !contains(outputs, inputs[i])) at = inputs[i];
    outputs.push_back(at ? at : held(blocks, device, out[k].bytes()));
  }
  for (const Array& a : text.schedule.constants) constants.push_back(written(blocks, device, a.raw(), a.bytes()));
  constexpr int64_t      most_teams = 4096;
  const int32_t          fine       = 0;
  codegen::bt_cuda_frame f{};
  f.arena     = static_cast<char*>(held(blocks, device, entry.arena_bytes));
  f.in        = table(blocks, device, inputs);
  f.out       = const_cast<void* const*>(reinterpret_cast<const void* const*>(table(blocks, device, outputs)));
  f.constants = table(blocks, device, constants);
  f.status    = static_cast<int32_t*>(written(blocks, device, &fine, 4));
  f.barriers  = static_cast<uint32_t*>(held(blocks, device, most_teams * codegen::barrier_bytes));
  device.clear(f.barriers, most_teams * codegen::barrier_bytes);
  for (const codegen::Kernel& k : entry.kernels) device.launch(module, text.launches.at(&k), f);
  for (const auto& [from, to] : entry.copies) {
    const codegen::Place place  = entry.buffers[static_cast<size_t>(from)].place;
    const auto           n      = static_cast<size_t>(place.at);
    const void*          source = place.kind == codegen::Place::Kind::Input      ? inputs[n]
                                  : place.kind == codegen::Place::Kind::Constant ? constants[n]
                                  : place.kind == codegen::Place::Kind::Result   ? outputs[n]
                                                                                 : f.arena + place.at;
    device.copy(const_cast<void*>(outputs[to]), source, out[to].bytes());
  }
  for (size_t i = 0; i < out.size(); ++i) device.read(out[i].mutable_raw(), outputs[i], out[i].bytes());
  std::vector<uint32_t> barriers(most_teams * codegen::barrier_bytes / 4);
  device.read(barriers.data(), f.barriers, most_teams * codegen::barrier_bytes);
  int32_t status = 0;
  device.read(&status, f.status, 4);
  device.wait();
  ensure(std::all_of(barriers.begin(), barriers.end(), [](uint32_t b) { return b == 0; }),
         "a launch leaves its barriers as they are");
  return status != 0;
}

Worst worst_on_device(cuda::Device& device, const std::vector<Job>& all, codegen::Precision precision) {
  const codegen::Options  target{.target = codegen::cuda_target(device.processors(), device.shared_bytes())};
  std::vector<const Job*> jobs;
  std::vector<Program>    programs;
  for (const Job& j : all) {
    if (asks_host(*codegen::scheduled({j.program}, target).entries[0])) continue;
    jobs.push_back(&j);
    programs.push_back(j.program);
  }
  if (jobs.empty()) return {"no job runs on the device alone", INFINITY};
  const codegen::CudaText text   = codegen::emit_cuda(codegen::scheduled(programs, target), target.target, precision);
  const auto              module = device.load(text);
  Worst                   worst;
  for (size_t k = 0; k < jobs.size(); ++k) {
    const Job&   j    = *jobs[k];
    const Arrays want = evaluate(j.program, j.constants, j.args);
    Arrays       in   = j.constants, got;
    in.insert(in.end(), j.args.begin(), j.args.end());
    for (const Array& a : want) got.emplace_back(a.type());
    if (run_entry(device, text, *module, k, in, got)) worst = {j.name + ", an index", INFINITY};
    for (size_t r = 0; r < want.size(); ++r) {
      const double d = distance(got[r], want[r]);
      if (!(d <= worst.distance)) worst = {fmt::format("{}, result {}", j.name, r), d};
    }
  }
  return worst;
}

}  // namespace braintrace::testing_support
