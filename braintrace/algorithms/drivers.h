// SPDX-License-Identifier: Apache-2.0
// Gradients over sequences, from a step function that calls the learner once and returns the loss, or pair(loss, aux).
//
//   auto step  = [&](bt::Tensor x, bt::Tensor y) { return bt::losses::mse(learner(x), y); };
//   auto sweep = bt::etrace_grad(step, learner, {.reduction = bt::Reduction::Mean});
//   auto r     = sweep(xs, ys);                       // r.grads, r.losses [T]
//
// The weights are constant during a call, so the sequence is processed in windows. For weights with a trace the window
// length does not change the gradient; for all others credit is truncated at the start of the window. Traces and states
// persist from call to call. For an ETraceVmap, sequences are [T, B, …] and every window has one step.
#pragma once

#include <functional>

#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/functions/call.h"
#include "braintrace/functions/gradients.h"

namespace braintrace {

// How the losses of the steps are combined into the loss that is differentiated.
enum class Reduction : uint8_t { Mean, Sum };
// The losses that etrace_grad returns: of each step, of each step times its mask, or combined by the reduction.
enum class LossOutput : uint8_t { PerStep, Masked, Scalar };

// Number of steps per window.
struct Window {
  static Window automatic() { return {0}; }  // the whole sequence, at most 128 steps
  static Window all() { return {-1}; }
  static Window of(int64_t steps);

  int64_t steps_of(int64_t length) const;

  int64_t code = 0;
};

// Options of etrace_grad.
struct EtraceGradOptions {
  // Weight of each step's loss: [T], or [T, …] with the shape of a loss. States and traces advance at every step.
  Tensor     mask        = {};
  Window     window      = {};
  Reduction  reduction   = Reduction::Mean;  // Mean divides by max(Σ mask, 1)
  LossOutput loss_output = LossOutput::PerStep;
  StateMap   weights     = {};     // the parameters to differentiate; empty: all
  bool       drop_traces = false;  // start from zero traces and discard them at the end; needs a single window
  // Called after every window with the hidden states at its start, per group, and their cotangents. May write states.
  std::function<void(const Tensors& hidden, const Tensors& cotangents)> after_window = nullptr;
};

namespace flat {

struct EtraceOutcome {
  Gradients grads;
  Tensors   out;  // losses, then the other results of the step function, stacked over time
};
// step : (one time slice of each sequence) → (loss, …)
EtraceOutcome run_etrace_grad(OnlineLearner& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options);
EtraceOutcome run_etrace_grad(ETraceVmap& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options);

}  // namespace flat

namespace detail {

template <class Result>
struct EtraceResult {  // for step functions that return pair(loss, aux)
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

// A function of sequences that returns the gradient of the summed or mean loss, the losses, and aux if there is any.
template <class F>
auto etrace_grad(F&& step_fn, OnlineLearner& learner, EtraceGradOptions options = {}) {
  return detail::EtraceGradFunction<std::decay_t<F>, OnlineLearner>(std::forward<F>(step_fn), learner,
                                                                    std::move(options));
}
template <class F>
auto etrace_grad(F&& step_fn, ETraceVmap& learner, EtraceGradOptions options = {}) {
  return detail::EtraceGradFunction<std::decay_t<F>, ETraceVmap>(std::forward<F>(step_fn), learner, std::move(options));
}

// Runs the learner over sequences without gradients: states and traces advance. Returns the outputs, stacked.
Tensors       etrace_evolve(OnlineLearner& learner, const Tensors& sequences, bool return_outputs = true);
Tensors       etrace_evolve(ETraceVmap& learner, const Tensors& sequences, bool return_outputs = true);
inline Tensor etrace_evolve(OnlineLearner& learner, const Tensor& xs) {
  return etrace_evolve(learner, Tensors{xs}).front();
}

}  // namespace braintrace
