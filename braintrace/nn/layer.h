// SPDX-License-Identifier: Apache-2.0
// Code that layers share: sizes, optional initializers, hidden states of a given size, folding of batch axes.
#pragma once

#include <optional>

#include "braintrace/model/module.h"
#include "braintrace/nn/init.h"

namespace braintrace::nn {

using braintrace::init_all_states;
using braintrace::Module;

// One number or a list of them: `10`, `{28, 28, 1}`.
class Size {
 public:
  Size(int64_t n) : dims_{n} {}
  Size(int n) : dims_{n} {}
  Size(size_t n) : dims_{static_cast<int64_t>(n)} {}
  Size(std::initializer_list<int64_t> dims) : dims_(dims) {}
  Size(Ints dims) : dims_(std::move(dims)) {}

  const Ints& dims() const { return dims_; }
  int64_t     last() const { return dims_.empty() ? 0 : dims_.back(); }
  size_t      rank() const { return dims_.size(); }
  std::string text() const;  // (10,) or (28, 28, 1)
  // Throws UserError unless every entry is positive.
  const Size& checked(const char* layer, const char* what) const;

 private:
  Ints dims_;
};

using OptionalInit                      = std::optional<Initializer>;  // none: the parameter does not exist
inline constexpr std::nullopt_t no_bias = std::nullopt;

// (B, *size), or size without a batch.
Shape       batched(const Ints& size, BatchSize batch);
HiddenState hidden_state(const Ints& size, const Initializer& init = 0);

// Parameter leaves "weight" and, if given, "bias".
Leaves weight_and_bias(const Shape& weight, const Initializer& w_init, const Shape& bias, const OptionalInit& b_init);
// A leaf, or an undefined tensor if the parameter has no leaf of that name.
Tensor leaf_or_none(const ParamState& p, const std::string& name);

// Calls f with all axes before the last `trailing` ones folded into one, and unfolds the result.
Tensor fold_batch(const Tensor& x, int trailing, const std::function<Tensor(const Tensor&)>& f);

// [x; h] on the last axis; the state h may lack leading batch axes of the input x.
Tensor joined(const Tensor& x, const Tensor& h);

// A constant with the element type of `like`.
Tensor constant_like(const Tensor& constant, const Tensor& like);

}  // namespace braintrace::nn
