// SPDX-License-Identifier: Apache-2.0
#include "function.h"

namespace pybraintrace {

FlatCall::FlatCall(nb::handle f, const nb::args& args, const nb::kwargs& kwargs, const char* where) : f_(f) {
  Tree::Leaves leaves;
  in_.open(Tree::Kind::Tuple, 2);
  in_.open(Tree::Kind::Tuple, args.size());
  for (nb::handle a : args) {
    arguments_.push_back(Tree::of(a, leaves, is_captured));
    in_.append(arguments_.back());
    owners_.resize(leaves.size(), num_arguments_++);
  }
  in_.add(kwargs, leaves, is_captured);
  if (owners_.size() < leaves.size()) owners_.resize(leaves.size(), num_arguments_++);
  leaves_ = tensors_of(leaves, where);
}

bt::Function FlatCall::function() {
  return [this](const bt::Tensors& in) {
    WithGil      gil;
    nb::object   packed = in_.unflatten(in);
    nb::object   result = f_(*nb::borrow<nb::tuple>(packed[0]), **nb::borrow<nb::dict>(packed[1]));
    Tree::Leaves leaves;
    out_ = Tree::of(result, leaves);
    return tensors_of(leaves, "the result of a function");
  };
}

}  // namespace pybraintrace
