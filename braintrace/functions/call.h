// SPDX-License-Identifier: Apache-2.0
// Converts functions on trees to functions on lists of tensors: the only templates that the transforms need.
#pragma once

#include <concepts>
#include <functional>
#include <memory>

#include "braintrace/ir/op.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/frame.h"
#include "braintrace/model/tree.h"

namespace braintrace::detail {

// C++ floats become tensors if the function takes tensors, so that grad(f)(2.0) works.
template <class A>
using Lifted = std::conditional_t<std::is_floating_point_v<std::decay_t<A>>, Tensor, std::decay_t<A>>;
template <class F, class... A>
concept Takes = std::is_invocable_v<F&, Lifted<A>...> || std::is_invocable_v<F&, std::decay_t<A>...>;
template <class F, class... A>
using ArgsOf =
    std::conditional_t<std::is_invocable_v<F&, Lifted<A>...>, std::tuple<Lifted<A>...>, std::tuple<std::decay_t<A>...>>;

template <class Want, class A>
Want lifted(A&& a) {
  if constexpr (std::is_same_v<Want, Tensor> && std::is_floating_point_v<std::decay_t<A>>)
    return Tensor(Type{Environment::precision(), {}}, static_cast<double>(a));
  else
    return std::forward<A>(a);
}
template <class F, class... A>
ArgsOf<F, A...> packed(A&&... args) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return ArgsOf<F, A...>(lifted<std::tuple_element_t<I, ArgsOf<F, A...>>>(std::forward<A>(args))...);
  }
  (std::index_sequence_for<A...>{});
}

// What a function returns on a tuple of arguments; void counts as an empty tuple.
template <class F, class Args>
struct ResultOf;
template <class F, class... A>
struct ResultOf<F, std::tuple<A...>> {
  using Raw  = std::invoke_result_t<F&, A...>;
  using Type = std::conditional_t<std::is_void_v<Raw>, std::tuple<>, std::decay_t<Raw>>;
};

// One call of a function on trees, as a function on flat tensors. Stores the structure of the result to rebuild it.
template <class F, class Args>
class FlatCall {
 public:
  using Result = typename ResultOf<F, Args>::Type;

  FlatCall(F& f, Args args) : f_(f), leaves_(tree::flatten(args)), args_(std::move(args)) {}

  const Args&    args() const { return args_; }
  const Tensors& leaves() const { return leaves_; }

  Function function() {
    return [this](const Tensors& in) {
      Result  result = invoke(tree::unflatten(args_, in));
      Tensors out    = tree::flatten(result);
      like_          = std::make_shared<Result>(tree::unflatten(std::move(result), Tensors(out.size())));
      return out;
    };
  }
  const std::shared_ptr<Result>& like() const { return like_; }
  Result                         rebuild(const Tensors& out) const { return tree::unflatten(*like_, out); }

  // For each leaf, the number of the argument it belongs to.
  std::vector<size_t> argument_of_leaf() const {
    std::vector<size_t> out;
    size_t              index = 0;
    std::apply([&](const auto&... a) { (out.insert(out.end(), tree::num_leaves(a), index++), ...); }, args_);
    return out;
  }

 private:
  Result invoke(Args args) {
    if constexpr (std::is_void_v<typename ResultOf<F, Args>::Raw>) {
      std::apply(f_, std::move(args));
      return {};
    } else {
      return std::apply(f_, std::move(args));
    }
  }

  F&                      f_;
  Tensors                 leaves_;
  Args                    args_;
  std::shared_ptr<Result> like_;
};
template <class F, class Args>
FlatCall(F&, Args) -> FlatCall<F, Args>;

// Throws a UserError that names the transform if an argument leaf is undefined.
void check_arguments(const char* where, const Tensors& leaves);

}  // namespace braintrace::detail
