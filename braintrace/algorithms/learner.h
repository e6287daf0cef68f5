// SPDX-License-Identifier: Apache-2.0
// A learner wraps a model. A call runs the model and advances the eligibility traces, and it is differentiable: the
// gradient of a parameter is the one its learning rule defines.
//
//   bt::D_RTRL learner(model);
//   learner.compile_graph(bt::zeros({10}));
//   auto loss  = [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square(learner(x) - y)); };
//   auto grads = bt::grad(loss, model.params())(x, y);
//
// A call with MultiStepData runs a window of steps. Outputs have a leading time axis, and the gradient is the rule's
// gradient for the whole window, which most rules compute without forming traces inside the window.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <variant>

#include "braintrace/compiler/report.h"
#include "braintrace/executor/rule.h"

namespace braintrace {

class SyntheticGradient;
struct WindowOptions;
struct WindowProgram;
template <class List>
struct WindowInputs;

// Inputs of one step, and of several steps stacked along a leading time axis.
struct SingleStepData {
  Tensors data;
};
struct MultiStepData {
  Tensors data;
};
using StepData = std::variant<SingleStepData, MultiStepData>;

// Options of every learner.
struct LearnerOptions {
  VjpMethod      vjp_method = VjpMethod::SingleStep;
  CompileOptions compile    = {};
  std::string    name       = {};
  // Check every input, state, trace and intermediate value. A non-finite one is an error that names the step, the
  // equation and the states it reaches. Slower; for debugging.
  bool check_finite = false;
};

// A model with a learning rule and its traces; the base class of all learners.
class OnlineLearner {
 public:
  // The model must outlive the learner.
  OnlineLearner(Module& model, std::shared_ptr<const LearningRule> rule, LearnerOptions options = {});
  virtual ~OnlineLearner();
  OnlineLearner(const OnlineLearner&)            = delete;
  OnlineLearner& operator=(const OnlineLearner&) = delete;

  // Finds hidden groups and relations from example inputs of one step, and allocates the traces. A second call has no
  // effect. Compiler warnings go to stderr, or to the hook given to set_warning_hook.
  void compile_graph(const StepInputs& inputs);

  // Runs one step of the model, or a window of steps.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensor  operator()(const SingleStepData& x) { return update(x.data).front(); }
  Tensor  operator()(const MultiStepData& xs) { return update(xs).front(); }
  Tensors update(const Tensors& x);
  // `drop_traces`: the window starts from zero traces and discards them at the end, so no trace is ever formed.
  Tensors update(const MultiStepData& xs, bool drop_traces = false);
  // Inputs in the order of the model's arguments, each with a time axis or constant over the window.
  Tensors update(const std::vector<StepData>& inputs);

  // A learner with the same rule and memory for a step function that calls this learner once. Its windows include the
  // computation of the function around the model.
  std::unique_ptr<OnlineLearner> around(Function step, const Types& args);

  // Inputs that some rules need in addition to a loss (Algorithm::needs). With other rules these throw a UserError.
  virtual void set_modulator(Tensor modulator);
  virtual void attach_synthesizer(std::shared_ptr<const SyntheticGradient> synthesizer);
  // Shapes [*varshape,S] of a synthetic gradient, one per hidden group.
  std::vector<Shape> group_signal_shapes() const;

  // Downcasts to the learner class of the rule:
  //   compile(model, "ThreeFactor", x)->as<ThreeFactor>()(x, modulator)
  template <std::derived_from<OnlineLearner> L>
  L& as() {
    auto* mine = dynamic_cast<L*>(this);
    require(mine != nullptr, "learner: the learner of {} does not have the requested class.", rule_->name());
    return *mine;
  }

  // Call before a new sequence: resets the model's states and the traces.
  void reset();
  // Zeroes traces, filters and the number of calls. Keeps the model's states, and memory that must survive a reset: the
  // step count of UORO, which seeds its random signs.
  void reset_state();
  // Zeroes the memory of one parameter.
  void reset_state(const Path& parameter);
  // Reallocates the rule's memory, as compile_graph does.
  void init_etrace_state();

  struct EtraceEntry {
    std::string kind;  // trace, filter, x, f, …
    int         relation, group;
    std::string key;  // name of the operation's weight (weight, bias, …), or a leaf of the parameter
    Tensor      value;
  };
  // The rule's memory for a parameter, given by its path or the path of any of its leaves.
  std::vector<EtraceEntry> get_etrace_of(const Path& parameter) const;

  const std::string& name() const { return options_.name; }
  Module&            model() const { return *model_; }
  bool               is_compiled() const { return compiled_ != nullptr; }
  const ETraceGraph& graph() const;
  CompilationReport  report() const;
  // Hidden groups, weights, and the groups each weight reaches, as text.
  [[nodiscard("show_graph() gives a text; show_graph(std::cout) prints it")]] std::string show_graph() const;
  void                show_graph(std::ostream& out) const;
  const LearningRule& rule() const { return *rule_; }
  VjpMethod           vjp_method() const { return options_.vjp_method; }
  int64_t             running_index() const;  // number of completed calls since the last reset
  StateMap            param_states() const;
  StateMap            hidden_states() const;
  StateMap            other_states() const;
  StateMap            path_to_states() const { return model_->states(); }
  Path                state_id_to_path(const State& state) const;

  // The rule's memory in expanded form, even if a compact form is stored. In an ETraceVmap with a leading lane axis.
  std::vector<Remembered> remembered() const;
  // The memory as stored, in the order of LearningRule::memory.
  const MemorySlots& memory_slots() const;
  Tensors            memory() const;
  StateMap           memory_states() const;   // the states that store it: etrace.0, …
  StateMap           lasting_states() const;  // the subset that a reset does not clear
  StateMap           own_states() const;      // memory_states() and the number of calls
  void               set_memory(const Tensors& values);

 protected:
  // Additional inputs of each step, such as a modulator; with a leading time axis in a window of `length` steps.
  virtual Tensors aux(const std::optional<int64_t>& /*length*/) const { return {}; }
  // An estimate of ∂(later losses)/∂h per hidden group, from the states at the end of a call. Empty: no estimate.
  virtual Tensors exit_credit(const Tensors& /*hidden per group*/) const { return {}; }

 private:
  void    compile(const Types& args);
  Tensors run(const Tensors& xs, const WindowOptions& options);
  // The differentiable call of a window program, and the values it saves for the backward pass.
  template <class List>
  struct Called {
    List step, memory;
  };
  template <class List>
  struct Kept {
    List residuals, future;
  };
  Called<Tensors> call(const WindowProgram& p, const WindowInputs<Tensors>& given, bool fresh) const;
  // The inputs of a call. Detaches states written by an earlier call: the traces already carry their credit.
  Tensors inputs_of(const Tensors& xs) const;
  // Credit of states that a loss outside the model reads before the first call, contracted with the traces.
  EntryCredit entry_credit();
  Tensors     recalled(const Tensors& hidden_ct);

  struct Compiled;  // defined in compiled_learner.h
  const Compiled& compiled() const;
  // The graph is that of the states which the model had when it was compiled.
  void check_parts() const;
  // The operands of the slot's relation that read the parameter, or the leaves the slot belongs to. The parameter is
  // given by its path or the path of any of its leaves.
  std::vector<std::string> keys_of(const MemorySlot& slot, const Path& parameter) const;
  // Cotangents of the step's results that represent the estimated future losses; empty without an estimate.
  Tensors exit_cotangents(const Tensors& results) const;
  // Adds them to the inputs whose credit for the future is not in a trace.
  void                 add_untraced(const Tensors& from_future, Tensors& in_ct) const;
  const WindowProgram& program(const WindowOptions& options);

  Module*                             model_;
  std::shared_ptr<const LearningRule> rule_;
  LearnerOptions                      options_;
  std::unique_ptr<Compiled>           compiled_;
  std::optional<ShortTermState>       inlined_ = {};       // if set, calls run the bare model and store its output here
  const OnlineLearner*                aux_of_  = nullptr;  // the learner that `around` wrapped
};

}  // namespace braintrace
