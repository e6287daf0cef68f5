// SPDX-License-Identifier: Apache-2.0
// A custom learning rule: D-RTRL that remembers only one step. The program checks that it equals D-RTRL where it must,
// and lies between the same-step gradient and D-RTRL elsewhere.
#include <cmath>

#include "braintrace/braintrace.h"

//   η_t = D_f,t ⊗ ∂y_t/∂w              ∇_t = s_t + L_t · D_t η_{t-1}
struct OneStepBack : bt::LearningRule {
  OneStepBack() : LearningRule({.name = "OneStepBack"}) {}

  // One tensor for every weight and each hidden group that it reaches.
  bt::MemorySlots memory(const bt::ETraceGraph& graph) const override {
    bt::MemorySlots out;
    for (const bt::TraceSite& site : bt::trace_sites(graph)) {
      bt::Shape shape = bt::trace_shape(site.call, site.weight);
      shape.push_back(graph.hidden_groups[site.group].num_state);
      out.push_back({{site.call.y.dtype, shape}, "trace", site.relation, site.group, site.trainable});
    }
    return out;
  }

  // η_t
  bt::Tensors advance(bt::Step& step, const bt::Tensors& memory, const bt::Tensors&) const override {
    bt::Tensors out;
    for (const bt::TraceSite& site : bt::trace_sites(step.graph())) {
      const bt::Tensor D_f  = step.D_f(site.relation, site.connection);
      const bt::Type   slot = memory[out.size()].type();
      if (!D_f.defined()) {  // structurally zero
        out.emplace_back(slot, 0);
        continue;
      }
      const bt::Tensor on_y = bt::as_output(site.call, step.graph().hidden_groups[site.group], D_f);
      out.push_back(
          bt::broadcast_to(bt::instant(site.call, site.weight, step.operands(site.relation), on_y), slot.shape));
    }
    return out;
  }

  // credit · η, for a cotangent of the hidden states of each group
  void recall(bt::Step& step, const bt::Tensors& memory, const bt::Tensors& credit,
              bt::Tensors& gradients) const override {
    const auto sites = bt::trace_sites(step.graph());
    for (size_t i = 0; i < sites.size(); ++i) {
      const bt::TraceSite& site = sites[i];
      if (!credit[site.group].defined()) continue;
      const bt::Tensor on_y = bt::as_output(site.call, step.graph().hidden_groups[site.group], credit[site.group]);
      step.add_operand_gradient(site.relation, site.trainable,
                                bt::contract(site.call, site.weight, step.operands(site.relation), on_y, memory[i]),
                                gradients);
    }
  }

  // s_t + (D_tᵀ L_t) · η_{t-1}
  bt::Retreat retreat(bt::Step& step, const bt::StepBack& at) const override {
    bt::Step::SameStep now = step.pull(at.ct);
    bt::Tensors        credit, gradients(step.graph().module_info.weights.size());
    for (const bt::HiddenGroup& g : step.graph().hidden_groups) {
      const bt::Tensor D = step.D(g.index);
      credit.push_back(D.defined() ? bt::sum(D * bt::expand_dims(now.L[g.index], -1), bt::Ints{-2}) : bt::Tensor());
    }
    recall(step, at.before, credit, gradients);
    step.add_to_inputs(gradients, now.inputs);
    return {now.inputs, {}};
  }
};

// h ← 0.8 h + tanh(W x)
struct Leaky : bt::nn::Module {
  bt::nn::Linear  W{3, 4};
  bt::HiddenState h = state("h", bt::HiddenState(bt::zeros({4})));
  Leaky() { children({{"W", W}}); }
  bt::Tensor update(const bt::Tensor& x) override {
    h.set(0.8 * h.value() + bt::tanh(W(x)));
    return h.value();
  }
};

// Σ_t ∇_t of Σ y² over some steps.
bt::Gradients gradient(std::shared_ptr<const bt::LearningRule> rule, int steps) {
  bt::random::seed(1);
  Leaky             model;
  bt::OnlineLearner learner(model, std::move(rule));
  learner.compile_graph(bt::zeros({3}));
  const auto    step = bt::jit(bt::grad([&](bt::Tensor x) { return bt::sum(bt::square(learner(x))); }, model.params()));
  bt::Rng       rng(7);
  bt::Gradients total;
  for (int t = 0; t < steps; ++t) {
    const std::vector<float> x = {static_cast<float>(rng.normal()), static_cast<float>(rng.normal()), 1};
    const bt::Gradients      g = step(bt::Tensor(bt::Array::of<float>(x, {3})));
    total                      = t == 0 ? g : total + g;
  }
  return total;
}

// Relative to D-RTRL, which is exact here.
double error(const bt::Gradients& a, const bt::Gradients& exact) {
  return std::sqrt((a - exact).squared_norm().item() / exact.squared_norm().item());
}

int main() {
  const auto own       = std::make_shared<OneStepBack>();
  const auto d_rtrl    = std::make_shared<bt::ParamDimRule>("D_RTRL");
  const auto same_step = std::make_shared<bt::BpttRule>();  // in windows of one step
  const auto far       = [&](auto rule, int steps) { return error(gradient(rule, steps), gradient(d_rtrl, steps)); };
  for (int steps : {2, 10})
    fmt::print("{:>2} steps: same step {:.2f}, one step back {:.2f}\n", steps, far(same_step, steps), far(own, steps));
  return far(own, 2) < 1e-5 && far(own, 10) < far(same_step, 10) ? 0 : 1;
}
