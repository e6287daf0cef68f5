// SPDX-License-Identifier: Apache-2.0
// Linear layers with structure, normalization, dropout, pooling and changes of shape.
#include <algorithm>

#include "braintrace/nn/factored.h"
#include "braintrace/nn/generic.h"
#include "braintrace/nn/norm.h"
#include "braintrace/zoo/parts.h"
#include "braintrace/zoo/registry.h"

namespace braintrace::zoo {

namespace {

nn::OptionalInit bias_of(const Fields& f) { return f.flag("bias") ? nn::OptionalInit(0) : nn::no_bias; }

double keep_of(const Fields& f) {
  const double keep = f.number("keep");
  if (!(keep > 0 && keep <= 1)) f.refuse("keep", fmt::format("expected a probability above 0, got {}.", keep));
  return keep;
}

nn::PoolKind adaptive_kind(const Fields& f) {
  return f.choice("kind", {"max", "mean"}) == "max" ? nn::PoolKind::Max : nn::PoolKind::Mean;
}
nn::PoolKind pool_kind(const Fields& f) {
  const std::string kind = f.choice("kind", {"max", "mean", "sum", "mean_of_all"});
  return kind == "max"    ? nn::PoolKind::Max
         : kind == "mean" ? nn::PoolKind::Mean
         : kind == "sum"  ? nn::PoolKind::Sum
                          : nn::PoolKind::MeanOfAll;
}

PoolOptions pool_options(const Fields& f) {
  PoolOptions o{.window = f.integers("window"), .stride = {}, .padding = {}, .layout = {}};
  if (f.has("stride")) o.stride = f.integers("stride");
  if (o.stride.size() == 1) o.stride.assign(o.window.size(), o.stride[0]);
  if (f.flag("channel_first")) o.layout = std::string("NCDHW").erase(2, 3 - std::min<size_t>(o.window.size(), 3));
  if (f.is_list("padding")) {
    o.padding.kind = Padding::Kind::Explicit;
    for (const auto& [lo, hi] : f.pairs("padding")) {
      if (lo < 0 || hi < 0) f.refuse("padding", "expected numbers of at least zero.");
      o.padding.lo.push_back(lo);
      o.padding.hi.push_back(hi);
    }
    if (o.padding.lo.size() != o.window.size()) f.refuse("padding", "expected one entry for each size of the window.");
    return o;
  }
  o.padding.kind = f.choice("padding", {"VALID", "SAME"}) == "SAME" ? Padding::Kind::Same : Padding::Kind::Valid;
  return o;
}

ModulePtr batch_norm(const Fields& f) {
  const Ints axes = f.integers("spatial_axes");
  if (axes.size() != 1 || axes[0] < 0 || axes[0] > 3) f.refuse("spatial_axes", "expected a number from 0 to 3.");
  return std::make_shared<nn::BatchNorm>(
      static_cast<size_t>(axes[0]), f.integer("n"),
      nn::BatchNormOptions{.momentum = f.number("momentum"), .eps = f.number("eps"), .affine = f.flag("affine")});
}

ModulePtr lora(const Fields& f) {
  nn::LoRAOptions o;
  if (f.has("alpha")) o.alpha = f.number("alpha");
  return std::make_shared<nn::LoRA>(f.integer("n_in"), f.integer("rank"), f.integer("n_out"), o);
}

ModulePtr sparse_linear(const Fields& f) {
  const SparsePattern p = pattern_of(f, "csr");
  return std::make_shared<nn::SparseLinear>(p, nn::init::normal(0, 0.5)(p.rows.shape()), bias_of(f));
}

}  // namespace

std::vector<LayerType> kit_layers() {
  return {
      {"signed_linear", "y = x (|W| ∘ sign), sign = 1 by default", "n_in n_out sign?",
       [](const Fields& f) -> ModulePtr {
         const Tensor sign = f.has("sign") ? f.array("sign") : Tensor();
         return std::make_shared<nn::SignedWLinear>(f.integer("n_in"), f.integer("n_out"),
                                                    nn::SignedWLinearOptions{.w_sign = sign});
       }},
      {"scaled_ws_linear", "y = (x (Ŵ ∘ mask)) g + b, Ŵ = (W - mean)/√max(I var, ε) over inputs, mask = 1 by default",
       "n_in n_out gain=true bias=true eps=1e-4 mask?",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::ScaledWSLinear>(
             f.integer("n_in"), f.integer("n_out"),
             nn::ScaledWSLinearOptions{
                 .b_init = bias_of(f), .w_mask = mask_of(f), .ws_gain = f.flag("gain"), .eps = f.number("eps")});
       }},
      {"sparse_linear", "y = x W + b, W with a fixed pattern", "csr bias=false", sparse_linear},
      {"grouped_linear", "y_g = x_g W_g + b_g", "groups n_in n_out bias=true",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::GroupedLinear>(f.integer("groups"), f.integer("n_in"), f.integer("n_out"),
                                                    nn::init::plain::kaiming_normal(), bias_of(f));
       }},
      {"lora", "y = α x A B, α = 1/rank by default; B starts at zero", "n_in rank n_out alpha?", lora},
      {"batch_norm", "(x - mean)/√(var + ε) scale + bias per channel; statistics of the batch while training",
       "n spatial_axes=0 momentum=0.99 eps=1e-5 affine=true", batch_norm},
      {"layer_norm", "(x - mean)/√(var + ε) scale + bias over the last axis", "n eps=1e-6",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::LayerNorm>(f.integer("n"), nn::LayerNormOptions{.eps = f.number("eps")});
       }},
      {"rms_norm", "x/√(mean(x²) + ε) scale over the last axis", "n eps=1e-6",
       [](const Fields& f) -> ModulePtr { return std::make_shared<nn::RMSNorm>(f.integer("n"), f.number("eps")); }},
      {"group_norm", "layer_norm within groups of channels and over spatial axes", "n groups=32 eps=1e-6",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::GroupNorm>(f.integer("n"), f.integer("groups"),
                                                nn::LayerNormOptions{.eps = f.number("eps")});
       }},
      {"dropout", "while training, x/keep with probability keep, else 0", "keep=0.5",
       [](const Fields& f) -> ModulePtr { return std::make_shared<nn::Dropout>(keep_of(f)); }},
      {"pool",
       "maximum, mean or sum of windows over the axes before the channels, or after them; mean_of_all counts padding",
       "kind window stride? padding=\"VALID\" channel_first=false",
       [](const Fields& f) -> ModulePtr { return std::make_shared<nn::Pool>(pool_kind(f), pool_options(f)); }},
      {"adaptive_pool", "maximum or mean of each of `out` parts of the axes before the channels", "kind out",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::AdaptivePool>(adaptive_kind(f), f.integers("out"));
       }},
      {"prelu", "y = x where x > 0, else a x; a trainable", "n=1 init=0.25",
       [](const Fields& f) -> ModulePtr { return std::make_shared<nn::PReLU>(f.integer("n"), f.number("init")); }},
      {"glu", "a σ(b), [a;b] = x", "", [](const Fields&) -> ModulePtr { return std::make_shared<nn::GLU>(); }},
      {"unflatten", "splits the last axis into axes of these sizes", "sizes",
       [](const Fields& f) -> ModulePtr { return std::make_shared<nn::Unflatten>(nn::Size(f.integers("sizes"))); }},
  };
}

}  // namespace braintrace::zoo
