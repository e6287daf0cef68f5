// SPDX-License-Identifier: Apache-2.0
// The host-side executor of a schedule: queues the kernels, calls the device's library for large matrix products, and
// executes what kernels cannot: host calls, and loops and branches around them.
#pragma once

#include <vector>

#include "braintrace/backends/cuda/device_memory.h"
#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::cuda {

// Whether the whole program can be queued without reading from the device, and therefore be recorded.
bool is_queued_blindly(const codegen::CudaText& text);

class Walk {
 public:
  // `constants`: those of the schedule, on the device; `constant_table`: their addresses, also on the device.
  Walk(Device& device, const codegen::CudaText& text, const Module& module, codegen::Precision precision,
       std::vector<char*> constants, const void* const* constant_table);

  // Device memory of one call of a function; the tables contain the addresses in `in` and `out`.
  struct Frame {
    char*                  arena;
    std::vector<char*>     in, out;
    codegen::bt_cuda_frame tables;
  };
  Frame frame(char* arena, std::vector<char*> in, std::vector<char*> out, const void* const* in_table,
              void* const* out_table, int32_t* status) const;

  // Queues the entry function; waits if it must read from the device.
  void run(const Frame& frame) { run(*text_.schedule.entries[0], frame, 0); }

 private:
  void  run(const codegen::Function& f, const Frame& frame, size_t depth);
  void  run(const codegen::Function& f, const codegen::Kernel& k, const Frame& frame, size_t depth);
  void  call(const codegen::FunctionPtr& g, char* arena, std::vector<char*> in, std::vector<char*> out,
             const Frame& around, size_t depth);
  bool  product(const codegen::Function& f, const codegen::Product& p, const Frame& frame);
  void  host_call(const codegen::Function& f, const codegen::HostCall& k, const Frame& frame);
  void  time_loop(const codegen::Function& f, const codegen::Kernel& k, const Frame& frame, size_t depth);
  void  branch(const codegen::Function& f, const codegen::Kernel& k, const Frame& frame, size_t depth);
  void  while_loop(const codegen::Function& f, const codegen::Kernel& k, const Frame& frame, size_t depth);
  char* at(const codegen::Function& f, Var v, const Frame& frame) const;

  Device&                   device_;
  const codegen::CudaText&  text_;
  const Module&             module_;
  codegen::Precision        precision_;
  std::vector<char*>        constants_;
  const void* const*        constant_table_;
  DeviceMemory              barriers_;
  DeviceMemory              flag_;    // condition of while loops that the host executes
  std::vector<DeviceMemory> tables_;  // per depth: of functions that the host calls
};

}  // namespace braintrace::cuda
