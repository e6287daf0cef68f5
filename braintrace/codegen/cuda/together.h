// SPDX-License-Identifier: Apache-2.0
// Horizontal fusion of consecutive kernels into one launch, because a launch takes longer than a small kernel:
//
//   side by side   independent kernels share a launch as large as the largest of them,
//   in one block   small kernels do even if they depend on each other: a barrier within a block is almost free.
//
//   launch a(x); launch b(y); launch c(a)   →   launch { a(x); b(y); } launch { c(a) }
#pragma once

#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/hazards.h"

namespace braintrace::codegen {

class Together {
 public:
  Together(const Function& f, const Target& target) : of_(target.blocks), hazards_(f) {}

  // Whether the kernel can join the current group.
  bool takes(const Kernel& k, const CudaKernelText& text) const;
  void add(const Kernel& k, const CudaKernelText& text);

  Launch launch(std::string name) const;

  const std::vector<const Kernel*>& kernels() const { return kernels_; }
  const std::string&                body() const { return body_; }

 private:
  const Target::Blocks&      of_;
  Hazards                    hazards_;
  std::vector<const Kernel*> kernels_;
  std::string                body_;
  int64_t                    blocks_ = 1, shared_ = 0, work_ = 0;
  bool                       is_small_ = true, meets_ = false;  // meets: a barrier between or inside
};

}  // namespace braintrace::codegen
