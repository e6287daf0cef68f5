// SPDX-License-Identifier: Apache-2.0
// A program compiled for a device, with constants and scratch memory there. It is called through bindings: arguments
// and results at fixed addresses. The second call of a binding records it; later calls replay the recording.
#pragma once

#include <optional>

#include "braintrace/backends/cuda/walk.h"
#include "braintrace/ir/op.h"

namespace braintrace::cuda {

codegen::Target target_of(const Device& device);

class DeviceProgram {
 public:
  // Generates text for this device; load() transfers the program.
  DeviceProgram(const Device& device, const Program& program, const Arrays& constants, codegen::Precision precision);

  int64_t bytes() const;  // device memory that it needs
  Mask    reads() const;  // per argument: whether a kernel reads it
  bool    may_stop() const { return entry().may_stop; }
  // Whether this result may alias this argument: not if the program can fail halfway.
  bool may_share(size_t result, size_t arg) const;

  void load(Device& device);

  struct Binding {
    Walk::Frame                      frame;
    DeviceMemory                     tables;
    int64_t                          calls = 0;
    std::shared_ptr<const Recording> recording;
  };
  Binding bind(const std::vector<char*>& args, const std::vector<char*>& results, int32_t* status) const;
  // Queues the program. Afterwards, the status is 1 if an index was out of range.
  void run(Binding& binding);

  // Reruns the program in the interpreter, which throws the error message for a status of 1.
  [[noreturn]] void explain(const Arrays& args) const;

 private:
  const codegen::Function& entry() const { return *text_.schedule.entries[0]; }

  Program                       program_;
  Arrays                        constants_;
  codegen::Precision            precision_;
  codegen::CudaText             text_;
  Device*                       device_ = nullptr;
  std::shared_ptr<const Module> module_;
  DeviceMemory                  memory_;  // arena, constants of the program and the schedule, table of the latter
  std::vector<char*>            program_constants_;
  std::optional<Walk>           walk_;
};

}  // namespace braintrace::cuda
