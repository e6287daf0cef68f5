// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cuda/device_program.h"

#include <algorithm>

#include "braintrace/codegen/known_indices.h"

namespace braintrace::cuda {

namespace {

// Shared memory in which blocks may keep weights: none without tensor cores, where it does not pay off.
int64_t kept_bytes(const Device& device) { return device.capability() >= 80 ? device.shared_bytes() : 0; }

int64_t in_whole_lines(int64_t bytes) { return (bytes + 255) / 256 * 256; }

codegen::CudaText text_of(const Device& device, const Program& program, const Arrays& constants,
                          codegen::Precision precision) {
  codegen::Options options;
  options.target = target_of(device);
  return codegen::emit_cuda(codegen::scheduled({codegen::with_known_indices(program, constants, options)}, options),
                            options.target, precision);
}

}  // namespace

codegen::Target target_of(const Device& device) {
  return codegen::cuda_target(device.processors(), kept_bytes(device));
}

DeviceProgram::DeviceProgram(const Device& device, const Program& program, const Arrays& constants,
                             codegen::Precision precision)
    : program_(program),
      constants_(constants),
      precision_(precision),
      text_(text_of(device, program, constants, precision)) {}

int64_t DeviceProgram::bytes() const {
  int64_t n = in_whole_lines(entry().arena_bytes);
  for (const Array& a : constants_) n += in_whole_lines(static_cast<int64_t>(a.bytes()));
  for (const Array& a : text_.schedule.constants) n += in_whole_lines(static_cast<int64_t>(a.bytes()));
  return n + static_cast<int64_t>(text_.schedule.constants.size() * sizeof(char*));
}

Mask DeviceProgram::reads() const {
  Mask       out(program_.args.size());
  const auto note = [&](Var v) {
    const codegen::Place& p     = entry().buffers[static_cast<size_t>(v)].place;
    const auto            first = static_cast<int64_t>(constants_.size());
    if (p.kind == codegen::Place::Kind::Input && p.at >= first) out[static_cast<size_t>(p.at - first)] = true;
  };
  for (const codegen::Kernel& k : entry().kernels)
    for (Var v : k.reads) note(v);
  for (const auto& [from, result] : entry().copies) note(from);
  return out;
}

bool DeviceProgram::may_share(size_t result, size_t arg) const { return !may_stop() && entry().may_share(result, arg); }

void DeviceProgram::load(Device& device) {
  device_    = &device;
  module_    = device.load(text_);
  memory_    = DeviceMemory(device, bytes());
  char* next = memory_.data() + in_whole_lines(entry().arena_bytes);
  // Compiled code reads the device copies; the interpreter reads the host's.
  const auto placed = [&](const Arrays& arrays) {
    std::vector<char*> out;
    for (const Array& a : arrays) {
      device.write(next, a.raw(), static_cast<int64_t>(a.bytes()));
      out.push_back(next);
      next += in_whole_lines(static_cast<int64_t>(a.bytes()));
    }
    return out;
  };
  program_constants_           = placed(constants_);
  const std::vector<char*> own = placed(text_.schedule.constants);
  if (!own.empty()) device.write(next, own.data(), static_cast<int64_t>(own.size() * sizeof(char*)));
  walk_.emplace(device, text_, *module_, precision_, own, reinterpret_cast<const void* const*>(next));
}

DeviceProgram::Binding DeviceProgram::bind(const std::vector<char*>& args, const std::vector<char*>& results,
                                           int32_t* status) const {
  std::vector<char*> in = program_constants_;
  in.insert(in.end(), args.begin(), args.end());
  const auto   in_bytes  = static_cast<int64_t>(in.size() * sizeof(char*));
  const auto   out_bytes = static_cast<int64_t>(results.size() * sizeof(char*));
  DeviceMemory tables(*device_, in_bytes + out_bytes);
  char* const  out_table = tables.data() + in_bytes;
  if (in_bytes > 0) device_->write(tables.data(), in.data(), in_bytes);
  if (out_bytes > 0) device_->write(out_table, results.data(), out_bytes);
  Walk::Frame frame =
      walk_->frame(memory_.data(), std::move(in), results, reinterpret_cast<const void* const*>(tables.data()),
                   reinterpret_cast<void* const*>(out_table), status);
  return {std::move(frame), std::move(tables), 0, nullptr};
}

void DeviceProgram::run(Binding& b) {
  const auto queue = [&] {
    if (may_stop()) device_->clear(b.frame.tables.status, sizeof(int32_t));
    walk_->run(b.frame);
  };
  if (b.recording) return device_->replay(*b.recording);
  // A program that runs once is not worth recording.
  if (b.calls++ != 1 || !is_queued_blindly(text_)) return queue();
  device_->begin_recording();
  try {
    queue();
  } catch (...) {
    device_->end_recording();
    throw;
  }
  b.recording = device_->end_recording();
  if (b.recording)
    device_->replay(*b.recording);
  else
    queue();
}

void DeviceProgram::explain(const Arrays& args) const {
  evaluate(program_, constants_, args);
  throw InternalError("cuda: a kernel found an index outside its axis, the interpreter did not");
}

}  // namespace braintrace::cuda
