// SPDX-License-Identifier: Apache-2.0
// A compiled model, and the quantities of one step of it as values: for looking at them, and for rules written outside.
#pragma once

#include <memory>
#include <optional>

#include "braintrace/executor/step.h"

namespace braintrace {

// Holds the graph of a model. The model must outlive it.
class ETraceGraphExecutor {
 public:
  explicit ETraceGraphExecutor(Module& model, CompileOptions options = {}) : model_(&model), options_(options) {}

  // Finds groups and relations from the types of one step's inputs. A second call does nothing.
  void compile_graph(const Types& args);
  void compile_graph(const Tensors& examples) { compile_graph(types_of(examples)); }

  bool               is_compiled() const { return graph_.has_value(); }
  const ETraceGraph& graph() const;
  StateMap           states() const { return model_->states(); }
  StateMap           path_to_states() const { return model_->states(); }
  Path               state_id_to_path(const State& state) const;
  std::string        show_graph() const;

 protected:
  Module* model_;

 private:
  CompileOptions             options_;
  std::optional<ETraceGraph> graph_;
};

// One step from the present states, which stay as they are.
struct StepJacobians {
  struct Sensitivity {
    int    relation, group;
    Tensor value;  // [*varshape,S]; zeros where structurally zero
  };
  Tensors                  out;                      // of the model
  StateMap                 hidden_paths;             // of hidden_vals
  Tensors                  hidden_vals, other_vals;  // new values of hidden states, and of others the step writes
  Tensors                  xs;                       // what each relation's operation reads
  std::vector<Sensitivity> dfs;                      // D_f of each relation and group
  Tensors                  Ds;                       // D of each group [*varshape,S,S]
};

class ETraceVjpGraphExecutor : public ETraceGraphExecutor {
 public:
  using ETraceGraphExecutor::ETraceGraphExecutor;

  // x, D_f, D.
  StepJacobians solve_h2w_h2h_jacobian(const Tensors& args) const;
  // The same, and the step to pull cotangents of its results back through: its learning signals and same-step
  // gradients are step->pull(ct).
  struct WithStep {
    StepJacobians               jacobians;
    std::shared_ptr<const Step> step;
  };
  WithStep solve_h2w_h2h_l2h_jacobian(const Tensors& args) const;
};

}  // namespace braintrace
