// SPDX-License-Identifier: Apache-2.0
// A program compiled for a device, with constants and working memory there. It is called through bindings: arguments
// and results that stay at their addresses. A binding that is called again is recorded, and then runs as one.
#pragma once

#include <optional>

#include "braintrace/backends/cuda/walk.h"
#include "braintrace/ir/op.h"

namespace braintrace::cuda {

codegen::Target target_of(const Device& device);

class DeviceProgram {
 public:
  // The text is made for this device; load() puts the program there.
  DeviceProgram(const Device& device, const Program& program, const Arrays& constants, codegen::Precision precision);

  int64_t bytes() const;
  Mask    reads() const;  // by argument: whether a kernel does  // of the device's memory that it takes
  bool    may_stop() const { return entry().may_stop; }
  // Whether this result may lie where this argument does: not where the program may stop halfway.
  bool may_share(size_t result, size_t arg) const;

  void load(Device& device);

  struct Binding {
    Walk::Frame                      frame;
    DeviceMemory                     tables;
    int64_t                          calls = 0;
    std::shared_ptr<const Recording> recording;
  };
  Binding bind(const std::vector<char*>& args, const std::vector<char*>& results, int32_t* status) const;
  // Queues it. The status is 1 afterwards where an index was outside its axis.
  void run(Binding& binding);

  // Finds the words for a status of 1, in the interpreter, and throws.
  [[noreturn]] void explain(const Arrays& args) const;

 private:
  const codegen::Function& entry() const { return *text_.schedule.entries[0]; }

  Program                       program_;
  Arrays                        constants_;
  codegen::Precision            precision_;
  codegen::CudaText             text_;
  Device*                       device_ = nullptr;
  std::shared_ptr<const Module> module_;
  DeviceMemory                  memory_;  // arena, constants of the program and of the schedule, the latter's table
  std::vector<char*>            program_constants_;
  std::optional<Walk>           walk_;
};

}  // namespace braintrace::cuda
