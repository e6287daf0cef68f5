// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/drivers.h"

#include "braintrace/algorithms/group_values.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/loops.h"
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

// [T, …] as [T/K, K, …]
Tensors windows_of(const Tensors& sequences, int64_t K) {
  Tensors out;
  for (const Tensor& s : sequences) {
    Shape shape = s.shape();
    shape[0] /= K;
    shape.insert(shape.begin() + 1, K);
    out.push_back(reshape(s, shape));
  }
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
  for (const Tensor& s : sequences) out.push_back({s.dtype(), Shape(s.shape().begin() + 1, s.shape().end())});
  return out;
}

// States as they were, should a later window fail.
class Snapshot {
 public:
  explicit Snapshot(const OnlineLearner& learner) {
    for (const StateMap& states : {learner.model().states(), learner.own_states()})
      for (const auto& [path, state] : states)
        for (const std::string& leaf : state.leaf_names()) values_.push_back({{state, leaf}, state.leaf(leaf)});
  }
  void restore() const {
    for (const auto& [where, value] : values_) where.set(value);
  }

 private:
  std::vector<std::pair<StateLeaf, Tensor>> values_;
};

// The mask with the axes of the losses [T, …]; ones when there is none.
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

}  // namespace

Window Window::of(int64_t steps) {
  require(steps > 0, "Window: a window needs at least one step, got {}.", steps);
  return {steps};
}

int64_t Window::steps_of(int64_t length) const {
  if (code < 0) return length;
  return std::min(length, code == 0 ? longest_automatic_window : code);
}

namespace detail {

EtraceOutcome run_etrace_grad(OnlineLearner& learner, const Function& step, const Tensors& sequences,
                              const EtraceGradOptions& options) {
  const int64_t T = length_of("etrace_grad", sequences), K = options.window.steps_of(T);
  require(!options.drop_traces || K == T,
          "etrace_grad: drop_traces needs one window for the whole call; the window has {} of {} steps.", K, T);
  const auto  whole   = learner.around(step, step_types(sequences));
  const Types outputs = whole->graph().module_info.step.result_types();
  require(!outputs.empty() && is_float(outputs[0].dtype), "etrace_grad: the step function must return a loss.");
  Type losses = outputs[0];
  losses.shape.insert(losses.shape.begin(), T);
  const Tensor   mask    = mask_of(options.mask, losses, T);
  const StateMap weights = options.weights.empty() ? learner.param_states() : options.weights;

  const auto run = [&](std::vector<Tensor> xs, Tensor w) {
    const Tensors out = whole->update(MultiStepData{xs}, options.drop_traces);
    return std::pair(sum(w * out[0]), out);
  };
  StateMap sources = weights;
  if (options.behind_window)
    for (const auto& hidden : hidden_states_of(learner.graph())) sources.push_back(hidden);
  const auto derivative = value_and_grad(run, sources, has_aux);
  const auto window     = [&](const Tensors& xs, const Tensor& w) {
    const Tensors entry  = options.behind_window ? hidden_per_group(learner.graph()) : Tensors{};
    auto [total, g, out] = derivative(std::vector<Tensor>(xs), w);
    if (options.behind_window) {
      const Gradients& all = g;
      options.behind_window(entry, per_group(learner.graph(), [&](const HiddenVar& h) { return all.at(h.path, ""); }));
    }
    return std::pair(of_states(g, weights), out);
  };
  // Full windows in a loop, then what is left over.
  const int64_t        loops = T / K, rest = T - loops * K;
  const Snapshot       before(learner);
  Gradients            grads;
  std::vector<Tensors> parts(outputs.size());
  try {
    if (loops == 1) {
      auto [g, out] = window(rows(sequences, 0, K), slice_axis(mask, 0, 0, K));
      grads         = g;
      for (size_t k = 0; k < out.size(); ++k) parts[k].push_back(out[k]);
    } else {
      const auto body = [&](Gradients sum, std::pair<std::vector<Tensor>, Tensor> at) {
        auto [g, out] = window(at.first, at.second);
        return std::pair(sum + g, out);
      };
      auto [g, out] = scan(body, zeros_of(weights),
                           std::pair(std::vector<Tensor>(windows_of(rows(sequences, 0, loops * K), K)),
                                     windows_of({slice_axis(mask, 0, 0, loops * K)}, K)[0]));
      grads         = g;
      for (size_t k = 0; k < out.size(); ++k) {
        Shape shape(out[k].shape().begin() + 1, out[k].shape().end());
        shape[0] = loops * K;
        parts[k].push_back(reshape(out[k], shape));
      }
    }
    if (rest > 0) {
      auto [g, out] = window(rows(sequences, T - rest, T), slice_axis(mask, 0, T - rest, T));
      grads         = grads + g;
      for (size_t k = 0; k < out.size(); ++k) parts[k].push_back(out[k]);
    }
  } catch (...) {
    before.restore();
    throw;
  }
  EtraceOutcome result{std::move(grads), {}};
  for (const Tensors& p : parts) result.out.push_back(p.size() == 1 ? p[0] : concat(p, 0));
  const Tensor count = maximum(sum(mask), 1.0);
  if (options.reduction == Reduction::Mean) result.grads = result.grads / count;
  Tensor& loss = result.out[0];
  if (options.loss_output != LossOutput::PerStep) loss = loss * mask;
  if (options.loss_output == LossOutput::Scalar)
    loss = options.reduction == Reduction::Mean ? sum(loss) / count : sum(loss);
  return result;
}

}  // namespace detail

Tensors etrace_evolve(OnlineLearner& learner, const Tensors& sequences, bool return_outputs) {
  length_of("etrace_evolve", sequences);
  const auto run = jit([&](std::vector<Tensor> xs) {
    return for_loop(
        [&](std::vector<Tensor> x) { return return_outputs ? learner.update(x) : (learner.update(x), Tensors{}); }, xs);
  });
  return run(sequences);
}

}  // namespace braintrace
