// SPDX-License-Identifier: Apache-2.0
// Gradients over sequences. A step function, written for one step, calls the learner once and returns the loss of the
// step; it may return pair(loss, aux).
//
//   auto step  = [&](bt::Tensor x, bt::Tensor y) { return bt::losses::mse(learner(x), y); };
//   auto sweep = bt::etrace_grad(step, learner, {.reduction = bt::Reduction::Mean});
//   auto r     = sweep(xs, ys);                       // r.grads, r.losses [T]
//
// The weights are constant during a call, so the sequence is cut into windows: for directly related weights their size
// never changes the result, for windowed ones credit reaches back to the start of the window. Traces and states go on
// from call to call. Of a learner in lanes (ETraceVmap) sequences are [T, B, …], and a window has one step.
#pragma once

#include <functional>

#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/functions/call.h"
#include "braintrace/functions/gradients.h"

namespace braintrace {

enum class Reduction : uint8_t { Mean, Sum };
enum class LossOutput : uint8_t { PerStep, Masked, Scalar };

// How many steps a window has.
struct Window {
  static Window automatic() { return {0}; }  // all steps, at most 128
  static Window all() { return {-1}; }
  static Window of(int64_t steps);

  int64_t steps_of(int64_t length) const;

  int64_t code = 0;
};

struct EtraceGradOptions {
  // Weight of each step's loss: [T], or [T, …] with the shape of a loss per step. States and traces advance all the
  // same.
  Tensor     mask        = {};
  Window     window      = {};
  Reduction  reduction   = Reduction::Mean;  // Mean divides once, by max(Σ mask, 1)
  LossOutput loss_output = LossOutput::PerStep;
  StateMap   weights     = {};     // those to differentiate; all parameters when empty
  bool       drop_traces = false;  // start from zero traces and leave none; needs one window for the whole call
  // Called after every window: per hidden group the states it began with, and their cotangents. It may write states.
  std::function<void(const Tensors& hidden, const Tensors& cotangents)> after_window = nullptr;
};

namespace flat {

struct EtraceOutcome {
  Gradients grads;
  Tensors   out;  // losses, then what else the step function returned, stacked
};
// step : slices of the sequences → (loss, …)
EtraceOutcome run_etrace_grad(OnlineLearner& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options);
EtraceOutcome run_etrace_grad(ETraceVmap& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options);

}  // namespace flat

namespace detail {

template <class Result>
struct EtraceResult {  // of step functions that return pair(loss, aux)
  Gradients                    grads;
  Tensor                       losses;
  typename Result::second_type aux;
};
template <>
struct EtraceResult<Tensor> {
  Gradients grads;
  Tensor    losses;
};

template <class F, class Learner>
class EtraceGradFunction {
 public:
  EtraceGradFunction(F f, Learner& learner, EtraceGradOptions options)
      : f_(std::move(f)), learner_(&learner), options_(std::move(options)) {}

  template <class... A>
  requires(Takes<F, A...> && sizeof...(A) > 0) auto operator()(A&&... sequences) const {
    FlatCall call(f_, packed<F>(std::forward<A>(sequences)...));
    using Result              = typename decltype(call)::Result;
    flat::EtraceOutcome r     = flat::run_etrace_grad(*learner_, call.function(), call.leaves(), options_);
    const Result        value = call.rebuild(r.out);
    if constexpr (std::is_same_v<Result, Tensor>)
      return EtraceResult<Tensor>{std::move(r.grads), value};
    else
      return EtraceResult<Result>{std::move(r.grads), value.first, value.second};
  }

 private:
  mutable F         f_;
  Learner*          learner_;
  EtraceGradOptions options_;
};

}  // namespace detail

template <class F>
auto etrace_grad(F&& step_fn, OnlineLearner& learner, EtraceGradOptions options = {}) {
  return detail::EtraceGradFunction<std::decay_t<F>, OnlineLearner>(std::forward<F>(step_fn), learner,
                                                                    std::move(options));
}
template <class F>
auto etrace_grad(F&& step_fn, ETraceVmap& learner, EtraceGradOptions options = {}) {
  return detail::EtraceGradFunction<std::decay_t<F>, ETraceVmap>(std::forward<F>(step_fn), learner, std::move(options));
}

// Runs the learner along sequences without gradients: states and traces advance. Gives its outputs stacked.
Tensors       etrace_evolve(OnlineLearner& learner, const Tensors& sequences, bool return_outputs = true);
Tensors       etrace_evolve(ETraceVmap& learner, const Tensors& sequences, bool return_outputs = true);
inline Tensor etrace_evolve(OnlineLearner& learner, const Tensor& xs) {
  return etrace_evolve(learner, Tensors{xs}).front();
}

}  // namespace braintrace
