// SPDX-License-Identifier: Apache-2.0
// Layers without recurrence, and readouts.
#include "braintrace/nn/activation.h"
#include "braintrace/nn/embedding.h"
#include "braintrace/nn/readout.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::zoo {

namespace {

ModulePtr function(std::function<Tensor(const Tensor&)> f) {
  auto cell  = make_cell();
  cell->step = std::move(f);
  return cell;
}

nn::LinearOptions linear_options(const Fields& f) {
  return {.b_init = f.flag("bias") ? nn::OptionalInit(0) : nn::no_bias};
}

Tensor flattened(const Tensor& x, int64_t trailing, int64_t kept) {
  require(trailing + kept <= x.rank(), "flatten: {} trailing axes cannot be taken from {}.", trailing + kept,
          to_string(x.type()));
  Shape shape(x.shape().begin(), x.shape().end() - kept - trailing);
  shape.push_back(-1);
  shape.insert(shape.end(), x.shape().end() - kept, x.shape().end());
  return reshape(x, shape);
}

// Features first … first + Π size - 1 of the last axis, in this shape: one of several concatenated inputs.
Tensor side_of(const Tensor& x, int64_t first, const Ints& size) {
  const int64_t n = size_of(size), all = x.rank() > 0 ? x.shape().back() : 0;
  require(first + n <= all, "part: features {} to {} of {} are asked for.", first, first + n - 1, to_string(x.type()));
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.insert(shape.end(), size.begin(), size.end());
  return reshape(slice_axis(x, x.rank() - 1, first, first + n), shape);
}

}  // namespace

std::vector<LayerType> basic_layers() {
  return {
      {"linear", "y = x (W ∘ mask) + b, mask = 1 by default", "n_in n_out bias=true mask?",
       [](const Fields& f) -> ModulePtr {
         nn::LinearOptions o = linear_options(f);
         o.w_mask            = mask_of(f);
         return std::make_shared<nn::Linear>(f.integer("n_in"), f.integer("n_out"), o);
       }},
      {"plain_linear", "y = x w + b with plain operations: same-step gradient only", "n_in n_out bias=true",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::PlainLinear>(f.integer("n_in"), f.integer("n_out"), linear_options(f));
       }},
      {"embedding", "y = weight[ids]", "vocab n_out",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::Embedding>(f.integer("vocab"), f.integer("n_out"));
       }},
      {"activation", "y = φ(x)", "activation",
       [](const Fields& f) { return function(nn::Activation(f.choice("activation", nn::activation_names()))); }},
      {"flatten", "merges the last `n_trailing_axes` axes, except the last `n_kept_axes`",
       "n_trailing_axes n_kept_axes=0",
       [](const Fields& f) {
         const Ints kept = f.integers("n_kept_axes");
         if (kept.size() != 1 || kept[0] < 0) f.refuse("n_kept_axes", "expected a number of axes.");
         return function(
             [n = f.integer("n_trailing_axes"), k = kept[0]](const Tensor& x) { return flattened(x, n, k); });
       }},
      {"part", "features `first` … of the last axis, as many as `size` says, in that shape", "first=0 size",
       [](const Fields& f) {
         const Ints first = f.integers("first"), size = f.integers("size");
         if (first.size() != 1 || first[0] < 0 || first[0] > 1 << 30) f.refuse("first", "expected a number from 0.");
         int64_t all = 1;
         for (const int64_t n : size) {
           if (n < 1 || n > (1 << 30) / all) f.refuse("size", "expected positive numbers, not more than 2³⁰ in all.");
           all *= n;
         }
         return function([first = first[0], size](const Tensor& x) { return side_of(x, first, size); });
       }},
      {"mean_pool_hw", "mean over the two axes before the channels", "",
       [](const Fields&) { return function([](const Tensor& x) {
                             return mean(x, {-3, -2});
                           }); }},
      {"leaky_rate_readout", "r ← e^{-dt/τ} r + x W; y = r", "n_in n_out tau_ms=5.0 dt_ms=1.0 decay?",
       [](const Fields& f) -> ModulePtr {
         return std::make_shared<nn::LeakyRateReadout>(
             f.integer("n_in"), f.integer("n_out"),
             nn::ReadoutOptions{.tau = units::Time(f.number("tau_ms")), .dt = f.number("dt_ms")});
       }},
  };
}

}  // namespace braintrace::zoo
