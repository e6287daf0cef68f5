// SPDX-License-Identifier: Apache-2.0
// What the text of a CUDA kernel depends on in addition to the kernel, and its launch requirements. In the text, @v3 is
// a placeholder for the pointer to buffer 3 and @bt_exp for a function (c/library.h), f is the frame, t the team, and w
// the scratch memory.
#pragma once

#include <functional>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::codegen {

struct CudaKernelText {
  std::string body;
  int64_t     blocks = 1;      // number of blocks with work
  int64_t     shared = 0;      // bytes of shared memory
  bool        meets  = false;  // contains a barrier of the team
  bool        tiles  = false;  // calls functions of tiles.cu
};

struct CudaContext {
  const Target& target;
  Precision     precision;
  int64_t       parts;  // of the kernel
  int64_t       units;  // units that stay on one block (units.h); 0: elements are distributed over all threads
  // Prints a device function that keeps `units` units on their blocks; returns its call and launch requirements.
  std::function<const CudaKernelText&(const Function&, int64_t units)> function;

  static std::string name(Var v) { return "@v" + str(v); }

  // Number of blocks for one element per thread, or for `of_a_block` elements per block.
  int64_t blocks_for(int64_t elements) const { return blocks_for(elements, target.blocks.threads); }
  int64_t blocks_for(int64_t elements, int64_t of_a_block) const;
};

CudaKernelText cuda_text(const LoopNest& nest, const CudaContext& c);
CudaKernelText cuda_text(const Product& product, const CudaContext& c);
CudaKernelText cuda_text(const Routine& routine, const CudaContext& c);
CudaKernelText cuda_text(const Copies& copies, const CudaContext& c);
CudaKernelText cuda_text(const DynamicBlock& block, const CudaContext& c);
CudaKernelText cuda_text(const Window& window, const CudaContext& c);
CudaKernelText cuda_text(const Convolution& conv, const CudaContext& c);
CudaKernelText cuda_text(const HostCall& call, const CudaContext& c);
CudaKernelText cuda_text(const TimeLoop& loop, const CudaContext& c);
CudaKernelText cuda_text(const Branch& branch, const CudaContext& c);
CudaKernelText cuda_text(const WhileLoop& loop, const CudaContext& c);
CudaKernelText cuda_text(const Call& call, const CudaContext& c);

// An untyped pointer to a place, relative to the frame of a function.
std::string place_text(const Place& place);

// A strided loop that distributes elements over the threads of the team, or over the threads of the block that owns
// their unit. Adjacent threads process adjacent values of `name`, of type `index`, so that memory accesses coalesce:
//
//   for (uint32_t e_ = t.rank; e_ < 1000; e_ += t.size) { const int32_t e = (int32_t)e_; body }
std::string cuda_for_each(const std::string& name, int64_t count, DType index, const std::string& body,
                          int64_t units = 0);

// Recovers the counters of nested loops from the flat index `name`: i0 = e / 32, i1 = e % 32.
std::string cuda_counters(const std::string& name, const Shape& sizes, DType index,
                          const std::function<std::string(size_t)>& counter);
// Names the counters letter0, letter1, …
std::string cuda_counters(const std::string& name, const Shape& sizes, const std::string& letter);

}  // namespace braintrace::codegen
