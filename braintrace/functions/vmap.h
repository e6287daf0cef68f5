// SPDX-License-Identifier: Apache-2.0
// vmap of functions on trees and states: f is written for one sample and runs on a batch.
//
//   vmap(f)(xs)                                                   over axis 0 of every argument
//   vmap(f, {.in_axes = {0, {}}})(xs, w)                          w is the same for all samples
//   vmap(f, {.batched_states = model.states<HiddenState>()})(xs)  these states have one value per sample
//
// All samples share the other states, which may be written only with values that do not depend on the sample. With
// random streams, every sample gets its own keys.
#pragma once

#include "braintrace/functions/call.h"
#include "braintrace/model/module.h"

namespace braintrace {

struct VmapOptions {
  std::vector<std::optional<int64_t>> in_axes        = {};  // one per argument; empty: axis 0 of all
  int64_t                             out_axis       = 0;   // of every result
  std::optional<int64_t>              size           = {};  // needed if nothing is mapped
  StateMap                            batched_states = {};  // mapped over their leading axis
};

namespace flat {

// An argument may be several tensors with one entry of in_axes: args[i] belongs to argument argument_of_leaf[i].
Tensors call_mapped(const Function& f, const Tensors& args, const std::vector<size_t>& argument_of_leaf,
                    size_t num_arguments, const VmapOptions& options);

}  // namespace flat

namespace detail {

template <class F>
class MappedFunction {
 public:
  MappedFunction(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}

  template <class... A>
  requires Takes<F, A...>
  auto operator()(A&&... args) const {
    FlatCall call(f_, packed<F>(std::forward<A>(args)...));
    return call.rebuild(
        flat::call_mapped(call.function(), call.leaves(), call.argument_of_leaf(), sizeof...(A), options_));
  }

 private:
  mutable F   f_;
  VmapOptions options_;
};

}  // namespace detail

template <class F>
auto vmap(F&& f, VmapOptions options = {}) {
  return detail::MappedFunction<std::decay_t<F>>(std::forward<F>(f), std::move(options));
}

}  // namespace braintrace
