// SPDX-License-Identifier: Apache-2.0
// Kernels, one after the other, that share a launch. A launch takes longer than the work of a small kernel, so
//
//   side by side   kernels that wait for nothing of each other are one launch, as large as the largest,
//   in one block   small ones are, whether they wait or not: threads of a block meet at no cost.
#pragma once

#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/cuda/hazards.h"

namespace braintrace::codegen {

class Together {
 public:
  Together(const Function& f, const Target& target) : of_(target.blocks), hazards_(f) {}

  // Whether the kernel may join those that are there.
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
  bool                       is_small_ = true, meets_ = false;  // meets: between or inside
};

}  // namespace braintrace::codegen
