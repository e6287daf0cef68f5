// SPDX-License-Identifier: Apache-2.0
// A Python function of trees as a function of flat tensors.
#pragma once

#include "braintrace/model/frame.h"
#include "tree.h"

namespace pybraintrace {

// One call: f(*args, **kwargs), where the tree `(args, kwargs)` is taken apart. It remembers the structure of the
// result.
class FlatCall {
 public:
  FlatCall(nb::handle f, Tree in) : f_(f), in_(std::move(in)) {}
  FlatCall(nb::handle f, const nb::args& args, const nb::kwargs& kwargs, const char* where);

  const bt::Tensors& leaves() const { return leaves_; }
  const Tree&        in() const { return in_; }
  // For each leaf, the number of the positional argument it belongs to; those of keyword arguments get the next ones.
  const std::vector<size_t>& owners() const { return owners_; }
  size_t                     num_arguments() const { return num_arguments_; }
  const Tree&                argument(size_t index) const { return arguments_[index]; }

  // Runs f, on whichever thread, with the GIL. `this` must live as long.
  bt::Function function();
  const Tree&  out() const { return out_; }
  nb::object   rebuild(const bt::Tensors& out) const { return out_.unflatten(out); }

 private:
  nb::handle          f_;
  Tree                in_, out_;
  bt::Tensors         leaves_;
  std::vector<size_t> owners_;
  std::vector<Tree>   arguments_;
  size_t              num_arguments_ = 0;
};

}  // namespace pybraintrace
