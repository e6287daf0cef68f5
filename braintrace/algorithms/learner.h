// SPDX-License-Identifier: Apache-2.0
// A learner wraps a model: calling it runs one step, advances the eligibility traces, and is differentiable. The
// gradient of a parameter is then the one its learning rule defines.
//
//   bt::D_RTRL learner(model);
//   learner.compile_graph(bt::zeros({10}));
//   auto loss  = [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square(learner(x) - y)); };
//   auto grads = bt::grad(loss, model.params())(x, y);
#pragma once

#include <optional>

#include "braintrace/executor/step_program.h"

namespace braintrace {

class OnlineLearner {
 public:
  // The model must outlive the learner.
  OnlineLearner(Module& model, std::shared_ptr<const LearningRule> rule, CompileOptions options = {})
      : model_(&model), rule_(std::move(rule)), options_(std::move(options)) {}

  // Finds groups and relations from one example of the inputs and makes the traces. A second call does nothing.
  void compile_graph(const Tensors& examples);
  void compile_graph(const Tensor& example) { compile_graph(Tensors{example}); }

  // One step of the model.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensors update(const Tensors& xs);

  // Sets all traces to zero; the model's states stay.
  void reset_state();

  bool                is_compiled() const { return compiled_.has_value(); }
  const ETraceGraph&  graph() const { return compiled().graph; }
  std::string         show_graph() const;  // groups, weights and the groups they reach, as text
  const LearningRule& rule() const { return *rule_; }
  // What the rule remembers, in the order of LearningRule::memory.
  Tensors memory() const;

 private:
  struct Compiled {
    ETraceGraph        graph;
    StepProgram        step;
    std::vector<State> memory;
  };
  const Compiled& compiled() const;

  Module*                             model_;
  std::shared_ptr<const LearningRule> rule_;
  CompileOptions                      options_;
  std::optional<Compiled>             compiled_;
};

}  // namespace braintrace
