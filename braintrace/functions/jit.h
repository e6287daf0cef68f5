// SPDX-License-Identifier: Apache-2.0
// jit: a function traced once per signature, simplified, and compiled as one program. States that it reads and writes
// stay with the program from call to call (held_states.h), which affects only time and memory.
//
// The signature is the structure and types of the arguments, the types of the states the function reads, and the
// environment. Tensors that the function captures in other ways are frozen at the first trace; keep values that change
// in states, or pass them as arguments. Inside another trace, the program is inlined.
#pragma once

#include "braintrace/functions/call.h"

namespace braintrace {

namespace flat {

// The programs of one jitted function.
class JitCache;
std::shared_ptr<JitCache> make_jit_cache();
int64_t                   num_traces(const JitCache& cache);

struct JitResult {
  Tensors                     out;
  std::shared_ptr<const void> like;  // structure of the result, as returned by `like` when the program was traced
};
// `signature` describes everything that the function depends on: types and structure of `args`, static values. `f` is
// called only if no program in the cache matches; `like` is called after it.
JitResult call_jitted(JitCache& cache, std::string&& signature, const Tensors& args, const Function& f,
                      const std::function<std::shared_ptr<const void>()>& like);

}  // namespace flat

namespace detail {

// Distinguishes C++ types with equal trees.
template <class T>
inline constexpr char type_tag = 0;
template <class T>
std::string_view type_key() {
  static constexpr const char* tag = &type_tag<T>;
  return {reinterpret_cast<const char*>(&tag), sizeof tag};
}

}  // namespace detail

// Copies share their compiled programs. Calls from several threads are safe if they use different states.
template <class F>
class Jitted {
 public:
  explicit Jitted(F f) : f_(std::move(f)), cache_(flat::make_jit_cache()) {}

  template <class... A>
  requires detail::Takes<F, A...>
  auto operator()(A&&... args) const {
    detail::FlatCall call(f_, detail::packed<F>(std::forward<A>(args)...));
    using Result    = typename decltype(call)::Result;
    std::string key = tree::signature(call.args());
    key += detail::type_key<std::pair<decltype(call.args()), Result>>();
    const auto r = flat::call_jitted(*cache_, std::move(key), call.leaves(), call.function(),
                                     [&] { return std::shared_ptr<const void>(call.like()); });
    return tree::unflatten(*static_cast<const Result*>(r.like.get()), r.out);
  }

  int64_t num_traces() const { return flat::num_traces(*cache_); }

 private:
  mutable F                       f_;
  std::shared_ptr<flat::JitCache> cache_;
};

template <class F>
Jitted<std::decay_t<F>> jit(F&& f) {
  return Jitted<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace braintrace
