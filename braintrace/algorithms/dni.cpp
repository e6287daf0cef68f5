// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/dni.h"

#include "braintrace/functions/functions.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

int64_t row_width(const Shape& shape) { return shape.size() < 2 ? size_of(shape) : shape.end()[-1] * shape.end()[-2]; }

}  // namespace

SyntheticGradient::SyntheticGradient(const std::vector<Shape>& group_shapes, double scale, uint64_t seed, DType dtype) {
  for (size_t g = 0; g < group_shapes.size(); ++g) {
    const int64_t n = row_width(group_shapes[g]);
    const Tensor  W = scale == 0 ? zeros({n, n}, dtype) : scale * random::normal(random::key(seed + g), {n, n}, dtype);
    weights_.push_back(state("weight" + std::to_string(g), ParamState(W)));
    biases_.push_back(state("bias" + std::to_string(g), ParamState(zeros({n}, dtype))));
  }
}

Tensors SyntheticGradient::operator()(const Tensors& hidden_per_group) const {
  require(
      hidden_per_group.size() == weights_.size(),
      "SyntheticGradient: made for {} hidden groups, the model has {}.\n  Make it with learner.group_signal_shapes().",
      weights_.size(), hidden_per_group.size());
  Tensors out;
  for (size_t g = 0; g < weights_.size(); ++g) {
    const Tensor& h     = hidden_per_group[g];
    const int64_t width = row_width(h.shape());
    require(weights_[g].value().shape() == Shape({width, width}),
            "SyntheticGradient: group {} has rows of {}, its weight is {}.", g, width,
            to_string(weights_[g].value().type()));
    const Tensor rows = reshape(h, {h.size() / width, width});
    const Tensor y    = dot(rows, convert(weights_[g].value(), h.dtype())) + convert(biases_[g].value(), h.dtype());
    out.push_back(reshape(y, h.shape()));
  }
  return out;
}

Tensor SyntheticGradient::error(const Tensors& hidden_per_group, const Tensors& target) const {
  const Tensors estimate = (*this)(hidden_per_group);
  Tensor        out(0.0);
  for (size_t g = 0; g < estimate.size(); ++g) out = out + convert(mean(square(estimate[g] - target[g])), DType::F64);
  return out;
}

DNI::DNI(Module& model, std::shared_ptr<const SyntheticGradient> synthesizer, LearnerOptions options,
         std::shared_ptr<const LearningRule> rule)
    : OnlineLearner(model, std::move(rule),
                    [&] {
                      options.vjp_method = VjpMethod::MultiStep;
                      return options;
                    }()),
      synthesizer_(std::move(synthesizer)) {}

Tensors DNI::exit_credit(const Tensors& hidden) const {
  require(synthesizer_ != nullptr,
          "DNI: no synthesizer is attached.\n  Create a SyntheticGradient from learner.group_signal_shapes(), and pass "
          "it to attach_synthesizer.");
  return (*synthesizer_)(hidden);
}

std::vector<double> train_synthetic_gradient(DNI& learner, SyntheticGradient& synthesizer, const Tensor& inputs,
                                             const SynthesizerTraining& options) {
  require(inputs.rank() > 0 && options.chunk_size > 0 && inputs.shape()[0] % options.chunk_size == 0,
          "train_synthetic_gradient: windows of {} steps do not divide the inputs {}.", options.chunk_size,
          to_string(inputs.type()));
  const ETraceGraph& graph   = learner.graph();
  const auto         loss    = options.loss ? options.loss : [](const Tensor& y) { return sum(square(y)); };
  const auto         run     = [&](Tensor xs) { return loss(learner(MultiStepData{{xs}})); };
  const auto         window  = jit(value_and_grad(run, hidden_states_of(graph)));
  const auto         regress = [&](std::vector<Tensor> hidden, std::vector<Tensor> target) {
    return synthesizer.error(hidden, target);
  };
  const auto learn  = jit(value_and_grad(regress, synthesizer.params()));
  const auto update = [&](const Gradients& grads) {
    if (options.update) return options.update(grads);
    for (const auto& [path, state] : synthesizer.params())
      for (const auto& [leaf, g] : grads.at(path)) state.set_leaf(leaf, state.leaf(leaf) - options.lr * g);
  };

  std::vector<double> errors;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    if (options.reset) learner.reset();
    double  total = 0;
    int64_t pairs = 0;
    auto    fit   = [&](const Tensors& hidden, const Tensors& target) {
      const auto [error, grads] = learn(hidden, target);
      update(grads);
      total += error.item();
      ++pairs;
    };
    for (int64_t t = 0; t < inputs.shape()[0]; t += options.chunk_size) {
      const Tensors entry       = hidden_per_group(graph);
      const auto [value, grads] = window(slice_axis(inputs, 0, t, t + options.chunk_size));
      fit(entry, per_group(graph, [&, &g = grads](const HiddenVar& h) { return g.at(h.path, ""); }));
    }
    const Tensors last = hidden_per_group(graph);
    Tensors       nothing;
    for (const Tensor& h : last) nothing.push_back(zeros_like(h));
    fit(last, nothing);
    errors.push_back(total / static_cast<double>(pairs));
  }
  return errors;
}

}  // namespace braintrace
