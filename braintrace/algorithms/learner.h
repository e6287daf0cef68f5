// SPDX-License-Identifier: Apache-2.0
// A learner wraps a model: calling it runs the model, advances the eligibility traces, and is differentiable. The
// gradient of a parameter is then the one its learning rule defines.
//
//   bt::D_RTRL learner(model);
//   learner.compile_graph(bt::zeros({10}));
//   auto loss  = [&](bt::Tensor x, bt::Tensor y) { return bt::mean(bt::square(learner(x) - y)); };
//   auto grads = bt::grad(loss, model.params())(x, y);
//
// Given MultiStepData a call runs a window: outputs have a leading time axis, and the gradient is the rule's for the
// whole window, which for most rules needs no trace inside it.
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

// Inputs of one step, and of several steps along a leading time axis.
struct SingleStepData {
  Tensors data;
};
struct MultiStepData {
  Tensors data;
};
using StepData = std::variant<SingleStepData, MultiStepData>;

struct LearnerOptions {
  VjpMethod      vjp_method = VjpMethod::SingleStep;
  CompileOptions compile    = {};
  std::string    name       = {};
  // Inputs, states, traces and all values between them are watched: one that is not finite is an error that names the
  // step, the equation and the states. For finding the cause; slower.
  bool check_finite = false;
};

class OnlineLearner {
 public:
  // The model must outlive the learner.
  OnlineLearner(Module& model, std::shared_ptr<const LearningRule> rule, LearnerOptions options = {});
  virtual ~OnlineLearner();
  OnlineLearner(const OnlineLearner&)            = delete;
  OnlineLearner& operator=(const OnlineLearner&) = delete;

  // Finds groups and relations from one example of a step's inputs and makes the traces. A second call does nothing.
  // Warnings of the compiler go to stderr, or to the hook of set_warning_hook.
  void compile_graph(const StepInputs& inputs);

  // One step of the model, or a window of steps.
  Tensor  operator()(const Tensor& x) { return update({x}).front(); }
  Tensor  operator()(const SingleStepData& x) { return update(x.data).front(); }
  Tensor  operator()(const MultiStepData& xs) { return update(xs).front(); }
  Tensors update(const Tensors& x);
  // `drop_traces`: the window starts from zero traces and leaves none, so that nothing of their size is formed.
  Tensors update(const MultiStepData& xs, bool drop_traces = false);
  // Some inputs with a time axis and some that are the same in every step, in the order of the model's.
  Tensors update(const std::vector<StepData>& inputs);

  // A learner with the same rule and memory for a function that calls this one once per step. Windows of it then
  // include what the function does around the model.
  std::unique_ptr<OnlineLearner> around(Function step, const Types& args);

  // What some rules are given besides a loss (Algorithm::needs). A learner of any other rule throws a UserError.
  virtual void set_modulator(Tensor modulator);
  virtual void attach_synthesizer(std::shared_ptr<const SyntheticGradient> synthesizer);
  // The shapes [*varshape,S] of what a synthesizer makes, one per hidden group.
  std::vector<Shape> group_signal_shapes() const;

  // This learner as the class of its rule:
  //   compile(model, "ThreeFactor", x)->as<ThreeFactor>()(x, modulator)
  template <std::derived_from<OnlineLearner> L>
  L& as() {
    auto* mine = dynamic_cast<L*>(this);
    require(mine != nullptr, "learner: the learner of {} does not have the requested class.", rule_->name());
    return *mine;
  }

  // Before a new sequence: the model's states start again, and so do the traces.
  void reset();
  // Zero traces, filters and number of calls; the model's states stay, and so does what the rule keeps for good: the
  // step count of UORO, from which it draws.
  void reset_state();
  // Zero what is remembered for one parameter.
  void reset_state(const Path& parameter);
  // Makes all that is remembered anew, as compile_graph did.
  void init_etrace_state();

  struct EtraceEntry {
    std::string kind;  // trace, filter, x, f, …
    int         relation, group;
    std::string key;  // of the operation's weight: weight, bias, …; a leaf of the parameter where there is no relation
    Tensor      value;
  };
  // What the rule remembers for a parameter, named by its path or any leaf of it.
  std::vector<EtraceEntry> get_etrace_of(const Path& parameter) const;

  const std::string& name() const { return options_.name; }
  Module&            model() const { return *model_; }
  bool               is_compiled() const { return compiled_ != nullptr; }
  const ETraceGraph& graph() const;
  CompilationReport  report() const;
  // Groups, weights and the groups they reach, as text.
  [[nodiscard("show_graph() gives a text; show_graph(std::cout) prints it")]] std::string show_graph() const;
  void                show_graph(std::ostream& out) const;
  const LearningRule& rule() const { return *rule_; }
  VjpMethod           vjp_method() const { return options_.vjp_method; }
  int64_t             running_index() const;  // completed calls since the last reset
  StateMap            param_states() const;
  StateMap            hidden_states() const;
  StateMap            other_states() const;
  StateMap            path_to_states() const { return model_->states(); }
  Path                state_id_to_path(const State& state) const;

  // What the rule remembers, written out; in lanes with a leading axis.
  std::vector<Remembered> remembered() const;
  // What is kept for it, in the order of LearningRule::memory.
  const MemorySlots& memory_slots() const;
  Tensors            memory() const;
  StateMap           memory_states() const;   // the states that hold it: etrace.0, …
  StateMap           lasting_states() const;  // those of them that a reset leaves alone
  StateMap           own_states() const;      // the states that hold the memory, and the number of calls
  void               set_memory(const Tensors& values);

 protected:
  // What each step is given besides its inputs; with a leading time axis in a window of `length` steps.
  virtual Tensors aux(const std::optional<int64_t>& /*length*/) const { return {}; }
  // An estimate of ∂(later losses)/∂h per hidden group at the end of a call, from the states there; empty for none.
  virtual Tensors exit_credit(const Tensors& /*hidden per group*/) const { return {}; }

 private:
  void    compile(const Types& args);
  Tensors run(const Tensors& xs, const WindowOptions& options);
  // The differentiable call of a window program, and what it keeps for the way back.
  template <class List>
  struct Called {
    List step, memory;
  };
  template <class List>
  struct Kept {
    List residuals, future;
  };
  Called<Tensors> call(const WindowProgram& p, const WindowInputs<Tensors>& given, bool fresh) const;
  // The inputs of a call. States that an earlier call left are cut off: its traces carry their credit already.
  Tensors inputs_of(const Tensors& xs) const;
  // What a loss outside the model reads of states as they were before the first call: contracted with the traces.
  EntryCredit entry_credit();
  Tensors     recalled(const Tensors& hidden_ct);

  struct Compiled;  // what a learner has once its graph is known (compiled_learner.h)
  const Compiled& compiled() const;
  // Operands of the relation of a slot that read the parameter, or leaves the slot belongs to; the parameter is named
  // by its path or any leaf of it.
  std::vector<std::string> keys_of(const MemorySlot& slot, const Path& parameter) const;
  // Cotangents of the step's results that stand for the estimated future; empty without an estimate.
  Tensors exit_cotangents(const Tensors& results) const;
  // Adds them where no trace carries the future already.
  void                 add_untraced(const Tensors& from_future, Tensors& in_ct) const;
  const WindowProgram& program(const WindowOptions& options);

  Module*                             model_;
  std::shared_ptr<const LearningRule> rule_;
  LearnerOptions                      options_;
  std::unique_ptr<Compiled>           compiled_;
  std::optional<ShortTermState>       inlined_ = {};       // calls run the bare model and leave its output here
  const OnlineLearner*                aux_of_  = nullptr;  // the learner this one is around
};

}  // namespace braintrace
