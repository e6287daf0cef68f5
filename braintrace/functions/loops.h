// SPDX-License-Identifier: Apache-2.0
// Loops and conditionals on trees, whose bodies may read and write states. Written states are carried from step to
// step, and stored when the loop ends; the type of a state must not change. The body is traced once, inside and outside
// of traces.
#pragma once

#include "braintrace/base/pack.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/functions/call.h"

namespace braintrace {

namespace flat {

struct ScanOutcome {
  Tensors carry, ys;
};
// f : (carry, x) → (carry, y), one list after the other; `where` names the caller in messages.
ScanOutcome run_scan(const char* where, const Function& f, const Tensors& carry, const Tensors& xs,
                     const ScanOptions& options);
Tensors     run_cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& args);
Tensors     run_while(const Function& go_on, const Function& body, const Tensors& init, const WhileOptions& options);

}  // namespace flat

namespace detail {

// Throws UserError if a body returns a wrong structure.
void check_structure(const char* where, const char* what, const std::string& want, const std::string& got);

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class F, class C, class X>
concept ScanFunction = Takes<F, C, X> && is_pair<typename ResultOf<std::remove_reference_t<F>, ArgsOf<F, C, X>>::Type>;

}  // namespace detail

// f(xs[t]…) for t = 0, 1, …; returns the results, stacked along a new leading axis.
template <class F, class... A>
requires(detail::Takes<F, A...> && sizeof...(A) > 0) auto for_loop(F&& f, A&&... xs) {
  detail::FlatCall call(f, detail::packed<F>(std::forward<A>(xs)...));
  return call.rebuild(flat::run_scan("for_loop", call.function(), {}, call.leaves(), {}).ys);
}

// pair(carry, y_t) = f(carry, xs[t]); returns pair(last carry, all y stacked). The types of the carry must not change.
template <class F, class C, class X>
requires detail::ScanFunction<F, C, X>
auto scan(F&& f, C&& carry, X&& xs, const ScanOptions& options = {}) {
  detail::FlatCall call(f, detail::packed<F>(std::forward<C>(carry), std::forward<X>(xs)));
  using Result = typename decltype(call)::Result;
  static_assert(std::is_same_v<typename Result::first_type, std::decay_t<decltype(std::get<0>(call.args()))>>,
                "scan: f must return pair(carry, y) with a carry of the type it is given");
  const size_t n      = tree::num_leaves(std::get<0>(call.args()));
  const auto   leaves = split(call.leaves(), ScanRoles<size_t>{0, n, call.leaves().size() - n});
  auto         body   = [&, f = call.function()](const Tensors& in) {
    Tensors out = f(in);
    detail::check_structure("scan", "the carry", tree::structure(std::get<0>(call.args())),
                                      tree::structure(call.like()->first));
    return out;
  };
  const auto r = flat::run_scan("scan", body, leaves.carry, leaves.xs, options);
  return call.rebuild(joined(r.carry, r.ys));
}

// if_true(args…) if the bool scalar pred is true, else if_false(args…). Both are traced and must return the same types;
// a state that only one of them writes keeps its value in the other.
template <class F, class G, class... A>
requires(detail::Takes<F, A...>&& detail::Takes<G, A...>) auto cond(const Tensor& pred, F&& if_true, G&& if_false,
                                                                    A&&... args) {
  detail::FlatCall yes(if_true, detail::packed<F>(args...));
  detail::FlatCall no(if_false, detail::packed<G>(std::forward<A>(args)...));
  static_assert(std::is_same_v<typename decltype(yes)::Result, typename decltype(no)::Result>,
                "cond: both functions must return the same C++ type");
  auto otherwise = [&, f = no.function()](const Tensors& in) {
    Tensors out = f(in);
    detail::check_structure("cond", "the result of if_false", tree::structure(*yes.like()),
                            tree::structure(*no.like()));
    return out;
  };
  return yes.rebuild(flat::run_cond(pred, yes.function(), otherwise, yes.leaves()));
}

// value = body(value) while go_on(value), a bool scalar, is true. go_on may read states but not write them.
template <class C, class F, class T>
requires(detail::Takes<C, T>&& detail::Takes<F, T>) auto while_loop(C&& go_on, F&& body, T&& init,
                                                                    const WhileOptions& options = {}) {
  auto             args = detail::packed<F>(std::forward<T>(init));
  detail::FlatCall test(go_on, args);
  detail::FlatCall step(body, args);
  static_assert(std::is_same_v<typename decltype(test)::Result, Tensor>, "while_loop: go_on must return a Tensor");
  static_assert(std::is_same_v<typename decltype(step)::Result, std::tuple_element_t<0, decltype(args)>>,
                "while_loop: body must return the type it is given");
  auto checked = [&, f = step.function()](const Tensors& in) {
    Tensors out = f(in);
    detail::check_structure("while_loop", "the value", tree::structure(std::get<0>(args)),
                            tree::structure(*step.like()));
    return out;
  };
  return step.rebuild(flat::run_while(test.function(), checked, step.leaves(), options));
}

}  // namespace braintrace
