// SPDX-License-Identifier: Apache-2.0
// jvp, vjp and Jacobians of functions on trees, with respect to arguments. Written states are stored.
#pragma once

#include "braintrace/functions/call.h"
#include "braintrace/functions/grad.h"

namespace braintrace {

namespace flat {

struct JvpOutcome {
  Tensors out, tangents;
};
JvpOutcome push_forward(const Function& f, const Tensors& args, const Tensors& tangents);

struct VjpOutcome {
  Tensors                                out;
  std::function<Tensors(const Tensors&)> pullback;  // result cotangents → cotangents of all argument leaves
};
VjpOutcome pull_back(const Function& f, const Tensors& args);

// blocks[result leaf][wanted argument leaf] : result shape ++ argument shape
using JacobianBlocks = std::vector<std::vector<Tensor>>;
enum class JacobianMode { Forward, Reverse };
JacobianBlocks jacobian(JacobianMode mode, const Function& f, const Tensors& args, const Mask& wrt);

}  // namespace flat

namespace detail {

template <class T>
struct AsTuple {
  static std::tuple<T> of(T t) { return std::tuple<T>(std::move(t)); }
};
template <class... T>
struct AsTuple<std::tuple<T...>> {
  static std::tuple<T...> of(std::tuple<T...> t) { return t; }
};
template <class T>
auto as_tuple(T t) {
  return AsTuple<T>::of(std::move(t));
}
template <class F, class Tuple>
inline constexpr bool takes_tuple = false;
template <class F, class... A>
inline constexpr bool takes_tuple<F, std::tuple<A...>> = Takes<F, A...>;
template <class F, class P>
concept TakesPrimals = takes_tuple<F, decltype(as_tuple(std::declval<P>()))>;

template <class F, class... A>
ArgsOf<F, A...> packed_tuple(std::tuple<A...> args) {
  return std::apply([](auto&&... a) { return packed<F>(std::move(a)...); }, std::move(args));
}

template <class Tuple>
auto alone_or_tuple(Tuple t) {
  if constexpr (std::tuple_size_v<Tuple> == 1)
    return std::get<0>(std::move(t));
  else
    return t;
}

template <class F, flat::JacobianMode mode, size_t N>
class JacobianFunction {
 public:
  explicit JacobianFunction(F f) : f_(std::move(f)) {}

  template <class... A>
  requires(Takes<F, A...>&& N < sizeof...(A)) auto operator()(A&&... args) const {
    FlatCall call(f_, packed<F>(std::forward<A>(args)...));
    using Result   = typename decltype(call)::Result;
    using Argument = std::tuple_element_t<N, ArgsOf<F, A...>>;
    Mask wrt;
    for (size_t n : call.argument_of_leaf()) wrt.push_back(n == N);
    flat::JacobianBlocks blocks = flat::jacobian(mode, call.function(), call.leaves(), wrt);
    if constexpr (std::is_same_v<Result, Tensor>) {
      return tree::unflatten(std::get<N>(call.args()), blocks.at(0));
    } else if constexpr (std::is_same_v<Argument, Tensor>) {
      Tensors column;
      for (const auto& row : blocks) column.push_back(row.at(0));
      return call.rebuild(column);
    } else {
      return blocks;
    }
  }

 private:
  mutable F f_;
};

}  // namespace detail

// pair<f(primals), its derivative along the tangents>. Pass one argument directly, several as a tuple.
template <class F, class P>
requires detail::TakesPrimals<F, P>
auto jvp(F&& f, const P& primals, const P& tangents) {
  auto args = detail::packed_tuple<F>(detail::as_tuple(primals));
  auto dots = detail::packed_tuple<F>(detail::as_tuple(tangents));
  require(tree::structure(args) == tree::structure(dots), "jvp: primals and tangents differ in structure.");
  detail::FlatCall call(f, std::move(args));
  const auto       r = flat::push_forward(call.function(), call.leaves(), tree::flatten(dots));
  return std::pair(call.rebuild(r.out), call.rebuild(r.tangents));
}

// pair<result, pullback>; pullback(cotangent of the result) returns one cotangent, or a tuple of them.
template <class F, class... A>
requires(detail::Takes<F, A...> && sizeof...(A) > 0) auto vjp(F&& f, A&&... args) {
  detail::FlatCall call(f, detail::packed<F>(std::forward<A>(args)...));
  using Result  = typename decltype(call)::Result;
  auto r        = flat::pull_back(call.function(), call.leaves());
  auto pullback = [like = *call.like(), args = call.args(), back = std::move(r.pullback)](const Result& ct) {
    require(tree::structure(like) == tree::structure(ct), "vjp: the cotangent and the result differ in structure.");
    return detail::alone_or_tuple(tree::unflatten(args, back(tree::flatten(ct))));
  };
  return std::pair(call.rebuild(r.out), std::move(pullback));
}

// The derivative of every result element with respect to every element of argument N: shape result ++ argument. The
// tree has the structure of the argument if f returns one tensor, that of the result if the argument is one tensor, and
// otherwise [result leaf][argument leaf]. Forward mode for few inputs, reverse mode for few results.
template <size_t N = 0, class F>
auto jacfwd(F&& f) {
  return detail::JacobianFunction<std::decay_t<F>, flat::JacobianMode::Forward, N>(std::forward<F>(f));
}
template <size_t N = 0, class F>
auto jacrev(F&& f) {
  return detail::JacobianFunction<std::decay_t<F>, flat::JacobianMode::Reverse, N>(std::forward<F>(f));
}
// Second derivatives of a scalar function of one tensor argument.
template <size_t N = 0, class F>
auto hessian(F&& f) {
  return jacfwd<N>(jacrev<N>(std::forward<F>(f)));
}

}  // namespace braintrace
