// SPDX-License-Identifier: Apache-2.0
// What the text of a kernel depends on besides the kernel, and what it needs besides its text. In it @v3 points to
// buffer 3, under whatever name (c/c_text.h); f is the frame, t the team, w the working memory of the kernel.
#pragma once

#include <functional>

#include <fmt/format.h>

#include "braintrace/codegen/c/c_text.h"
#include "braintrace/codegen/cuda/emit.h"

namespace braintrace::codegen {

struct CudaKernelText {
  std::string body;
  int64_t     blocks = 1;      // that have work
  int64_t     shared = 0;      // bytes of shared memory
  bool        meets  = false;  // the team meets inside
  bool        tiles  = false;  // it calls functions of tiles.cu
};

struct CudaContext {
  const Target& target;
  Precision     precision;
  int64_t       parts;  // of the kernel
  int64_t       units;  // that blocks keep for themselves, units.h; 0: all threads share all elements
  // The name of a device function that keeps so many units apart, and what it needs besides.
  std::function<const CudaKernelText&(const Function&, int64_t units)> function;

  static std::string name(Var v) { return "@v" + str(v); }

  // So many blocks for threads that take one element each, or for blocks that take so many.
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

// A pointer to what lies there, as the frame of a function gives it, without its type.
std::string place_text(const Place& place);

// The team's threads take the elements in turn, or those of a block those of its units: neighbors in `name`, of the
// type `index`, at the same time.
std::string cuda_for_each(const std::string& name, int64_t count, DType index, const std::string& body,
                          int64_t units = 0);

// The counters of nested loops over the sizes, `name` as one number: counter(k) for each, the last fastest.
std::string cuda_counters(const std::string& name, const Shape& sizes, DType index,
                          const std::function<std::string(size_t)>& counter);
// letter0, letter1, …
std::string cuda_counters(const std::string& name, const Shape& sizes, const std::string& letter);

}  // namespace braintrace::codegen
