// SPDX-License-Identifier: Apache-2.0
// grad and value_and_grad of functions on trees and states. f returns a float scalar; the states it writes are stored.
//
//   grad(f)(x, y)                       ∂f/∂x, a tree like x
//   grad<0, 1>(f)(x, y)                 a tuple, one for each chosen argument
//   grad(f, model.params())(x, y)       Gradients by path
//   grad<0>(f, model.params())(x, y)    both: pair<Gradients, …>
//   value_and_grad(…)                   pair<value, grads>
//   …(f, …, has_aux)                    f returns pair<loss, aux>: grad returns pair<grads, aux>,
//                                       value_and_grad returns tuple<loss, grads, aux>
#pragma once

#include "braintrace/functions/call.h"
#include "braintrace/functions/gradients.h"
#include "braintrace/model/module.h"

namespace braintrace {

struct HasAux {};
inline constexpr HasAux has_aux{};

namespace flat {

struct GradOutcome {
  Tensors   out;    // results of f; the first is the loss
  Tensors   grads;  // of all argument leaves; undefined if not requested
  Gradients states;
};
// `wrt` selects the arguments; `where` names the caller in messages.
GradOutcome differentiate(const char* where, const Function& f, const Tensors& args, const Mask& wrt,
                          const StateMap& states);

}  // namespace flat

namespace detail {

struct GradMode {
  bool value, aux, states;
};

template <class T>
inline constexpr bool is_loss_and_aux = false;
template <class Aux>
inline constexpr bool is_loss_and_aux<std::pair<Tensor, Aux>> = true;

template <class F, GradMode mode, size_t... I>
class GradFunction {
 public:
  GradFunction(F f, StateMap states) : f_(std::move(f)), states_(std::move(states)) {}

  template <class... A>
  requires(Takes<F, A...> && ((I < sizeof...(A)) && ...)) auto operator()(A&&... args) const {
    FlatCall call(f_, packed<F>(std::forward<A>(args)...));
    using Result = typename decltype(call)::Result;
    static_assert(mode.aux || std::is_same_v<Result, Tensor>,
                  "grad: the function must return one Tensor; to return more, return pair<loss, aux> and pass has_aux");
    static_assert(!mode.aux || is_loss_and_aux<Result>, "grad with has_aux: return std::pair<Tensor, Aux>");

    const std::vector<size_t> owner = call.argument_of_leaf();
    Mask                      wrt;
    for ([[maybe_unused]] size_t n : owner) wrt.push_back(((n == I) || ...));
    const char*       where = mode.value ? "value_and_grad" : "grad";
    flat::GradOutcome r     = flat::differentiate(where, call.function(), call.leaves(), wrt, states_);
    const Result      value = call.rebuild(r.out);
    auto              grads = gradients(call.args(), owner, std::move(r));
    if constexpr (mode.value && mode.aux)
      return std::tuple(value.first, std::move(grads), value.second);
    else if constexpr (mode.value)
      return std::pair(value, std::move(grads));
    else if constexpr (mode.aux)
      return std::pair(std::move(grads), value.second);
    else
      return grads;
  }

 private:
  // The gradient of argument N, as a tree of the same structure.
  template <size_t N, class Args>
  static auto of_argument(const Args& args, const std::vector<size_t>& owner, const Tensors& grads) {
    size_t first = 0;
    while (first < owner.size() && owner[first] < N) ++first;
    return tree::unflatten(std::get<N>(args), grads.data() + first);
  }
  template <class Args>
  static auto gradients(const Args& args, const std::vector<size_t>& owner, flat::GradOutcome r) {
    auto of_arguments = [&] {
      if constexpr (sizeof...(I) == 1)
        return (of_argument<I>(args, owner, r.grads), ...);
      else
        return std::tuple(of_argument<I>(args, owner, r.grads)...);
    };
    if constexpr (!mode.states)
      return of_arguments();
    else if constexpr (sizeof...(I) == 0)
      return std::move(r.states);
    else
      return std::pair(r.states, of_arguments());
  }

  mutable F f_;
  StateMap  states_;
};

// With respect to arguments; default: the first.
template <GradMode mode, size_t... I, class F>
auto grad_of_arguments(F&& f) {
  if constexpr (sizeof...(I) == 0)
    return GradFunction<std::decay_t<F>, mode, 0>(std::forward<F>(f), {});
  else
    return GradFunction<std::decay_t<F>, mode, I...>(std::forward<F>(f), {});
}
template <GradMode mode, size_t... I, class F>
auto grad_of_states(F&& f, const StateMap& states) {
  return GradFunction<std::decay_t<F>, mode, I...>(std::forward<F>(f), states);
}

}  // namespace detail

template <size_t... I, class F>
auto grad(F&& f) {
  return detail::grad_of_arguments<detail::GradMode{false, false, false}, I...>(std::forward<F>(f));
}
template <size_t... I, class F>
auto grad(F&& f, HasAux) {
  return detail::grad_of_arguments<detail::GradMode{false, true, false}, I...>(std::forward<F>(f));
}
template <size_t... I, class F>
auto grad(F&& f, const StateMap& states) {
  return detail::grad_of_states<detail::GradMode{false, false, true}, I...>(std::forward<F>(f), states);
}
template <size_t... I, class F>
auto grad(F&& f, const StateMap& states, HasAux) {
  return detail::grad_of_states<detail::GradMode{false, true, true}, I...>(std::forward<F>(f), states);
}

template <size_t... I, class F>
auto value_and_grad(F&& f) {
  return detail::grad_of_arguments<detail::GradMode{true, false, false}, I...>(std::forward<F>(f));
}
template <size_t... I, class F>
auto value_and_grad(F&& f, HasAux) {
  return detail::grad_of_arguments<detail::GradMode{true, true, false}, I...>(std::forward<F>(f));
}
template <size_t... I, class F>
auto value_and_grad(F&& f, const StateMap& states) {
  return detail::grad_of_states<detail::GradMode{true, false, true}, I...>(std::forward<F>(f), states);
}
template <size_t... I, class F>
auto value_and_grad(F&& f, const StateMap& states, HasAux) {
  return detail::grad_of_states<detail::GradMode{true, true, true}, I...>(std::forward<F>(f), states);
}

}  // namespace braintrace
