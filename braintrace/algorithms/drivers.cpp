// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/drivers.h"

#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
#include "braintrace/model/snapshot.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr int64_t longest_automatic_window = 128;

int64_t length_of(const char* where, const Tensors& sequences) {
  require(!sequences.empty(), "{}: there is no sequence.", where);
  for (const Tensor& s : sequences) {
    require(s.rank() > 0, "{}: a sequence is {}; sequences need a leading time axis.", where, to_string(s.type()));
    require(s.shape()[0] == sequences[0].shape()[0], "{}: sequences of {} and {} steps; all must be equally long.",
            where, sequences[0].shape()[0], s.shape()[0]);
  }
  require(sequences[0].shape()[0] > 0, "{}: the sequences are empty.", where);
  return sequences[0].shape()[0];
}

Tensors rows(const Tensors& sequences, int64_t from, int64_t to) {
  Tensors out;
  for (const Tensor& s : sequences) out.push_back(slice_axis(s, 0, from, to));
  return out;
}

// [T, …] → [T/K, K, …]
Tensors windows_of(const Tensors& sequences, int64_t K) {
  Tensors out;
  for (const Tensor& s : sequences)
    out.push_back(reshape(s, joined(Shape{s.shape()[0] / K, K}, part(s.shape(), 1, s.rank()))));
  return out;
}

Gradients zeros_of(const StateMap& weights) {
  Gradients::Map out;
  for (const auto& [path, state] : weights)
    for (const std::string& leaf : state.leaf_names()) out[path][leaf] = zeros_like(state.leaf(leaf));
  return Gradients(out);
}

Gradients of_states(const Gradients& all, const StateMap& states) {
  Gradients::Map out;
  for (const auto& [path, state] : states) out[path] = all.at(path);
  return Gradients(out);
}

Types step_types(const Tensors& sequences) {
  Types out;
  for (const Tensor& s : sequences) out.push_back({s.dtype(), part(s.shape(), 1, s.rank())});
  return out;
}

// The mask broadcast to the losses [T, …]; ones if there is none.
Tensor mask_of(const Tensor& mask, const Type& losses, int64_t T) {
  if (!mask.defined()) return Tensor(losses, 1);
  require(mask.rank() > 0 && mask.shape()[0] == T,
          "etrace_grad: the mask is {}, it needs one entry for each of {} steps.", to_string(mask.type()), T);
  Shape shape = mask.shape();
  require(shape.size() == 1 || shape == losses.shape,
          "etrace_grad: the mask is {}; give [{}] or the shape {} of the losses.", to_string(mask.type()), T,
          to_string(losses.shape));
  shape.resize(losses.shape.size(), 1);
  return broadcast_to(reshape(convert(mask, losses.dtype), shape), losses.shape);
}

// Runs a step function around a learner, window by window.
class Sweep {
 public:
  // Runs a window of steps: their outputs, stacked, and the output types of one step.
  struct Steps {
    Function run;
    Types    outputs;
  };

  Sweep(OnlineLearner& learner, const EtraceGradOptions& options, Steps steps)
      : learner_(learner),
        options_(options),
        steps_(std::move(steps)),
        weights_(options.weights.empty() ? learner.param_states() : options.weights) {
    require(!outputs().empty() && is_float(outputs()[0].dtype), "etrace_grad: the step function must return a loss.");
  }

  const Types& outputs() const { return steps_.outputs; }

  flat::EtraceOutcome window(const Tensors& xs, const Tensor& mask) const {
    const auto run = [&](std::vector<Tensor> in, Tensor w) {
      const Tensors out = steps_.run(in);
      return std::pair(sum(w * out[0]), out);
    };
    const ETraceGraph& graph   = learner_.graph();
    StateMap           sources = weights_;
    if (options_.after_window)
      for (const auto& hidden : hidden_states_of(graph)) sources.push_back(hidden);
    const Tensors entry        = options_.after_window ? hidden_per_group(graph) : Tensors{};
    const auto [total, g, out] = value_and_grad(run, sources, has_aux)(std::vector<Tensor>(xs), mask);
    const Gradients& all       = g;
    if (options_.after_window)
      options_.after_window(entry, per_group(graph, [&](const HiddenVar& h) { return all.at(h.path, ""); }));
    return {of_states(all, weights_), out};
  }

  // Windows of K steps; a scan if there are several.
  flat::EtraceOutcome windows(const Tensors& xs, const Tensor& mask, int64_t K) const {
    const int64_t T = mask.shape()[0];
    if (T == K) return window(xs, mask);
    const auto body = [&](Gradients sum, std::pair<std::vector<Tensor>, Tensor> at) {
      const flat::EtraceOutcome one = window(at.first, at.second);
      return std::pair(sum + one.grads, one.out);
    };
    const auto [grads, out] =
        scan(body, zeros_of(weights_), std::pair(std::vector<Tensor>(windows_of(xs, K)), windows_of({mask}, K)[0]));
    flat::EtraceOutcome all{grads, {}};
    for (const Tensor& t : out) all.out.push_back(reshape(t, joined(Shape{T}, part(t.shape(), 2, t.rank()))));
    return all;
  }

 private:
  OnlineLearner&           learner_;
  const EtraceGradOptions& options_;
  Steps                    steps_;
  StateMap                 weights_;
};

// Processes the whole sequence in windows of K steps; a shorter window takes the remainder.
flat::EtraceOutcome swept(OnlineLearner& learner, const Sweep& sweep, const Tensors& sequences,
                          const EtraceGradOptions& options, int64_t T, int64_t K) {
  const int64_t full = T - T % K;
  const Tensor  mask = mask_of(options.mask, stacked(sweep.outputs()[0], T), T);

  flat::EtraceOutcome result;
  const Snapshot      before(joined(learner.model().states(), learner.own_states()));  // restored on failure
  try {
    result = sweep.windows(rows(sequences, 0, full), slice_axis(mask, 0, 0, full), K);
    if (full < T) {
      const flat::EtraceOutcome rest = sweep.window(rows(sequences, full, T), slice_axis(mask, 0, full, T));
      result.grads                   = result.grads + rest.grads;
      for (size_t k = 0; k < rest.out.size(); ++k) result.out[k] = concat({result.out[k], rest.out[k]}, 0);
    }
  } catch (...) {
    before.restore();
    throw;
  }
  const Tensor count = maximum(sum(mask), 1.0);
  if (options.reduction == Reduction::Mean) result.grads = result.grads / count;
  Tensor& loss = result.out[0];
  if (options.loss_output != LossOutput::PerStep) loss = loss * mask;
  if (options.loss_output == LossOutput::Scalar)
    loss = options.reduction == Reduction::Mean ? sum(loss) / count : sum(loss);
  return result;
}

}  // namespace

Window Window::of(int64_t steps) {
  require(steps > 0, "Window: a window needs at least one step, got {}.", steps);
  return {steps};
}

int64_t Window::steps_of(int64_t length) const {
  if (code < 0) return length;
  return std::min(length, code == 0 ? longest_automatic_window : code);
}

namespace flat {

EtraceOutcome run_etrace_grad(OnlineLearner& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options) {
  const int64_t T = length_of("etrace_grad", sequences), K = options.window.steps_of(T);
  require(!options.drop_traces || K == T,
          "etrace_grad: drop_traces needs one window for the whole call; the window has {} of {} steps.", K, T);
  const auto  whole  = learner.around(step, step_types(sequences));
  const auto  window = [&](const Tensors& xs) { return whole->update(MultiStepData{xs}, options.drop_traces); };
  const Sweep sweep(learner, options, {window, whole->graph().module_info.step.result_types()});
  return swept(learner, sweep, sequences, options, T, K);
}

EtraceOutcome run_etrace_grad(ETraceVmap& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options) {
  const int64_t T = length_of("etrace_grad", sequences);
  require((options.window.code == 0 || options.window.code == 1) && !options.drop_traces && !options.after_window,
          "etrace_grad: ETraceVmap supports windows of one step only, without drop_traces and after_window.\n  Write "
          "the model for batched inputs instead.");
  const auto window = [&](const Tensors& xs) {
    Tensors one, out;
    for (const Tensor& x : xs) one.push_back(squeeze(x, {0}));
    for (const Tensor& y : step(one)) out.push_back(expand_dims(y, 0));
    return out;
  };
  const Sweep sweep(learner.learner(), options, {window, trace_function(step_types(sequences), step).result_types()});
  return swept(learner.learner(), sweep, sequences, options, T, 1);
}

}  // namespace flat

namespace {

template <class Learner>
Tensors evolved(Learner& learner, const Tensors& sequences, bool return_outputs) {
  length_of("etrace_evolve", sequences);
  const auto run = jit([&](std::vector<Tensor> xs) {
    return for_loop(
        [&](std::vector<Tensor> x) { return return_outputs ? learner.update(x) : (learner.update(x), Tensors{}); }, xs);
  });
  return run(sequences);
}

}  // namespace

Tensors etrace_evolve(OnlineLearner& learner, const Tensors& sequences, bool return_outputs) {
  return evolved(learner, sequences, return_outputs);
}
Tensors etrace_evolve(ETraceVmap& learner, const Tensors& sequences, bool return_outputs) {
  return evolved(learner, sequences, return_outputs);
}

}  // namespace braintrace
