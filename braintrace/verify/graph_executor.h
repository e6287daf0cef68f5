// SPDX-License-Identifier: Apache-2.0
// A compiled model, and the quantities of one step as values, for inspection and for external rules.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>

#include "braintrace/executor/step.h"

namespace braintrace {

// Holds the graph of a model. The model must outlive it.
class ETraceGraphExecutor {
 public:
  explicit ETraceGraphExecutor(Module& model, CompileOptions options = {}) : model_(&model), options_(options) {}

  // Finds groups and relations from the types of one step's inputs. A second call does nothing.
  // Warnings of the compiler go to stderr or to the hook of set_warning_hook.
  void compile_graph(const StepInputs& inputs);

  // One step of the model, as the compiler sees it; the states it writes are stored.
  Tensors forward(const Tensors& args);
  Tensor  operator()(const Tensor& x) { return forward({x}).at(0); }

  bool               is_compiled() const { return graph_.has_value(); }
  const ETraceGraph& graph() const;
  StateMap           states() const { return model_->states(); }
  StateMap           path_to_states() const { return model_->states(); }
  Path               state_id_to_path(const State& state) const;
  [[nodiscard("show_graph() gives a text; show_graph(std::cout) prints it")]] std::string show_graph() const;
  void show_graph(std::ostream& out) const;

 protected:
  // Inputs of the compiled step at the current states.
  Tensors inputs_of(const Tensors& args) const;

  Module* model_;

 private:
  CompileOptions             options_;
  std::optional<ETraceGraph> graph_;
};

// One step from the current states, which do not change.
struct StepJacobians {
  struct Sensitivity {
    int    relation, group;
    Tensor value;  // [*varshape,S]; zeros if structurally zero
  };
  Tensors                  out;                      // of the model
  StateMap                 hidden_paths;             // of hidden_vals
  Tensors                  hidden_vals, other_vals;  // new values of hidden states, and of others the step writes
  Tensors                  xs;                       // the input of each relation's operation
  std::vector<Sensitivity> dfs;                      // D_f of each relation and group
  Tensors                  Ds;                       // D of each group [*varshape,S,S]
};

class ETraceVjpGraphExecutor : public ETraceGraphExecutor {
 public:
  using ETraceGraphExecutor::ETraceGraphExecutor;

  // x, D_f, D.
  StepJacobians solve_h2w_h2h_jacobian(const Tensors& args) const;
  StepJacobians solve_h2w_h2h_jacobian(const Tensor& x) const { return solve_h2w_h2h_jacobian(Tensors{x}); }
  // The same, and the step to pull cotangents of its results back through: its learning signals and same-step
  // gradients are step->pull(ct).
  struct WithStep {
    StepJacobians               jacobians;
    std::shared_ptr<const Step> step;
  };
  WithStep solve_h2w_h2h_l2h_jacobian(const Tensors& args) const;
  WithStep solve_h2w_h2h_l2h_jacobian(const Tensor& x) const { return solve_h2w_h2h_l2h_jacobian(Tensors{x}); }
};

}  // namespace braintrace
