// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/cuda/together.h"

#include <algorithm>

namespace braintrace::codegen {

namespace {

struct Effort {
  bool    joins;  // can share a launch, whether small or not
  int64_t steps;
};
Effort effort_of(const Kernel& k, const Target::Blocks& of) {
  if (const auto* n = std::get_if<LoopNest>(&k.what)) {
    int64_t      steps = 1, kept = 1;
    const size_t all = n->loops.size(), last = n->tiling.form != Tiling::Form::Blocks ? 0 : n->tiling.two_axes ? 2 : 1;
    for (size_t i = 0; i < all; ++i) {
      steps *= n->extent(i);
      if (i < n->kept || i + last >= all) kept *= n->extent(i);
    }
    // In a long sum, each thread of a single block would add many terms.
    const bool is_long = !n->reductions.empty() && steps / std::max<int64_t>(kept, 1) > of.small_sum;
    return {true, is_long ? std::max(steps, of.small_kernel + 1) : steps};
  }
  if (const auto* c = std::get_if<Copies>(&k.what)) {
    int64_t steps = c->fill ? c->size : 0;
    for (const BlockCopy& b : c->blocks) steps += size_of(b.shape);
    return {true, steps};
  }
  // A library may compute a large product.
  if (const auto* p = std::get_if<Product>(&k.what)) {
    const int64_t steps = size_of(p->batch) * size_of(p->rows) * size_of(p->columns) * size_of(p->inner);
    return {steps <= of.small_kernel, steps};
  }
  return {false, 0};
}

}  // namespace

bool Together::takes(const Kernel& k, const CudaKernelText& text) const {
  const Effort effort = effort_of(k, of_);
  if (!effort.joins || !effort_of(*kernels_.front(), of_).joins) return false;
  if (is_small_ && effort.steps <= of_.small_kernel && work_ + effort.steps <= of_.small_kernels) return true;
  return !meets_ && !text.meets && !hazards_.must_wait(k);
}

void Together::add(const Kernel& k, const CudaKernelText& text) {
  const Effort effort = effort_of(k, of_);
  if (hazards_.must_wait(k)) {
    body_ += "bt_meet(t);\n";
    meets_ = true;
    hazards_.clear();
  }
  hazards_.add(k);
  kernels_.push_back(&k);
  body_ += text.body;
  meets_    = meets_ || text.meets;
  is_small_ = is_small_ && effort.joins && effort.steps <= of_.small_kernel;
  blocks_   = std::max(blocks_, text.blocks);
  shared_   = std::max(shared_, text.shared);
  work_ += effort.steps;
}

Launch Together::launch(std::string name) const {
  const auto* loop         = kernels_.size() == 1 ? std::get_if<TimeLoop>(&kernels_[0]->what) : nullptr;
  const bool  in_one_block = meets_ && is_small_;
  return {.name    = std::move(name),
          .teams   = loop ? kernels_[0]->parts : 1,
          .blocks  = in_one_block ? 1 : blocks_,
          .threads = of_.threads,
          .shared  = shared_,
          .meets   = meets_ && !in_one_block};
}

}  // namespace braintrace::codegen
