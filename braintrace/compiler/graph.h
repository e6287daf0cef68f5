// SPDX-License-Identifier: Apache-2.0
// The results of the compiler: hidden groups and relations weight → operation → hidden group.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "braintrace/compiler/diagnostics.h"
#include "braintrace/compiler/dict.h"
#include "braintrace/compiler/flow.h"
#include "braintrace/compiler/options.h"
#include "braintrace/compiler/step_inputs.h"
#include "braintrace/etp/rules.h"
#include "braintrace/model/frame.h"
#include "braintrace/model/module.h"

namespace braintrace {

// A hidden state of the step.
struct HiddenVar {
  Path  path;
  State state;
  Var   in = -1, out = -1;  // value at the start and at the end of the step
  Shape varshape  = {};     // positions
  int   num_state = 1;      // slots per position
  bool  stacked   = false;  // the last axis of the value is the slot axis
  bool  descended = false;  // carried by a descended scan

  Type type(DType dtype) const;
};
// A leaf of a parameter.
struct WeightVar {
  Path        path;
  State       state;
  std::string leaf;
  int         leaf_index = 0;  // among the leaves of the state, sorted by name
  Var         var        = -1;

  std::string name() const { return leaf_name(path, leaf); }
};

// One run of the step.
struct StepValues {
  Tensors                              out;
  std::vector<std::pair<Path, Tensor>> etrace_vals,
      other_state_vals;  // new values of hidden states; of other states, without parameters
  Tensors temps;         // all values of the step
};

// One step of the model as a program, and which of its values are states.
struct ModuleInfo {
  StatefulProgram                            step;
  StateMap                                   states;  // below the module, sorted by path
  std::unordered_map<const StateCell*, Path> state_id_to_path;
  std::vector<HiddenVar>                     hidden;   // in the order of first use in the step
  std::vector<WeightVar>                     weights;  // likewise
  ControlFlowPolicy                          control_flow;
  std::vector<int>                           descended_scans;  // equations of the step
  // If the step is a function around a model: the output of the model inside the function. -1: the first result.
  Var output = -1;

  const Program& program() const { return step.program; }
  Path           path_of(const State& state) const;
  Vars           entries() const;  // of the hidden states

  // Runs the step; `old_state_vals` are the states it reads, in the order of step.reads (empty: their current values).
  StepValues jaxpr_call(const Tensors& args, const Tensors& old_state_vals = {}) const;
  // The same step, which also returns these values.
  ModuleInfo add_jaxpr_outs(const Vars& values) const;
  struct StateOuts {
    Vars weights, hidden, others;
  };
  StateOuts split_state_outvars() const;  // results of the step, grouped by kind of state
  Dict      dict() const;
};

// SnAp-n: for each position, the positions that it influences in at most n-1 steps, itself first, padded with itself.
struct SnapPattern {
  int               n = 1, width = 1;   // width = K, slots per position
  std::vector<int>  neighbors    = {};  // [P,K] flat positions
  std::vector<bool> valid        = {};  // [P,K]
  bool              conservative = false;
  std::string       reason;
};

// A long scan that is followed substep by substep. Its groups and relations refer to regions of the body.
struct ScanDescent {
  int     eqn    = -1;  // the scan in the step
  int64_t length = 0;
  Vars    outer;    // of each value of the body: the value of the step that holds it, or -1
  Mask    stacked;  // whether that value has one row per substep
};

// States that depend on each other at equal positions. Group arrays have shape [*varshape,S].
struct HiddenGroup {
  int                        index = 0;
  std::vector<int>           members;  // indices into ModuleInfo::hidden
  std::vector<Path>          hidden_paths;
  std::vector<HiddenVar>     hidden;  // the members themselves
  Shape                      varshape;
  int                        num_state = 0;
  Region                     transition;  // old members → new members; values outside the scope are constants
  bool                       is_diagonal_recurrence = true;  // scope: products are constants
  bool                       diagonal               = true;  // proven: no position reads another one
  std::optional<SnapPattern> snap                   = {};
  // In a descended scan: `transition` is one substep, from these values of the body.
  std::shared_ptr<const ScanDescent> descent         = nullptr;
  Vars                               substep_entries = {};

  int  trace_state_width() const { return snap ? snap->width * num_state : num_state; }
  Vars entries() const;
  Vars exits() const;

  Shape on_positions(std::initializer_list<int64_t> last) const;  // [*varshape, last…]
  // The S states at one position, in the order of the last axis of group arrays, of D and of feedback matrices: paths,
  // with a slot for stacked states ("rnn.h[1]", "rnn.h.u").
  std::vector<std::string> state_names() const;

  // Stacks members on a trailing state axis, and the inverse.
  Tensor  concat_hidden(const Tensors& members) const;
  Tensors split_hidden(const Tensor& stacked) const;

  // ∂h_t/∂h_{t-1} at given members and constants of the transition: the blocks of each position [*varshape,S,S], and
  // the full Jacobian [*varshape,S,*varshape,S].
  Tensor diagonal_jacobian(const Tensors& hidden_vals, const Tensors& const_vals) const;
  Tensor full_jacobian(const Tensors& hidden_vals, const Tensors& const_vals) const;
  Dict   dict() const;
};

// A group that outlives the graph it comes from:  for (const HiddenGroup& g : relation.hidden_groups) …
class SharedGroup {
 public:
  explicit SharedGroup(HiddenGroup group) : group_(std::make_shared<const HiddenGroup>(std::move(group))) {}
                     operator const HiddenGroup&() const { return *group_; }
  const HiddenGroup* operator->() const { return group_.get(); }
  const HiddenGroup& operator*() const { return *group_; }

 private:
  std::shared_ptr<const HiddenGroup> group_;
};

// Hidden states and their groups.
class GroupsByPath : public std::map<Path, SharedGroup> {
 public:
  const HiddenGroup& at(const Path& hidden_path) const;  // throws a UserError that lists the known paths
};

// How the result of an operation reaches a hidden state or group.
enum class PathClass : uint8_t { Direct, Mixed, Windowed };
std::string_view name_of(PathClass c);  // all_direct, mixed, windowed

// An operation and one group it reaches.
struct Connection {
  int                    group               = 0;
  PathClass              path                = PathClass::Direct;
  std::vector<Path>      hidden_paths        = {};  // members reached, in order of discovery
  std::vector<PathClass> path_classification = {};  // of each of them
  Region                 tail                = {};  // y → members; other products and other groups are constants
  // The shape of y on the axes of the group, with size one where its values are shared; none if it does not align.
  std::optional<Shape> y_layout        = {};
  bool                 has_direct_path = true;  // some path to the group passes no other product
  bool position_preserving             = true;  // proven: each position of the group reads y only at the same position
};

// An operand of the operation and the parameter leaves it is computed from.
struct Trainable {
  std::string              key;
  int                      weight  = 0;   // index among the operation's weights
  Var                      operand = -1;  // what the operation reads
  int                      slot    = 0;   // index among the operands of the equation
  std::vector<int>         leaves;        // indices into ModuleInfo::weights
  Region                   chain;         // leaves → operand
  std::vector<std::string> chain_ops;     // distinct operations of the chain, in order
};

// One trainable operation, its weights and the groups that it reaches.
struct HiddenParamOpRelation {
  int                      eqn  = -1;
  EtpCall                  call = {};
  Var                      x = -1, y = -1;
  std::vector<Trainable>   trainables;
  std::vector<Connection>  connections;
  Path                     weight_path;         // of the first trainable
  std::vector<SharedGroup> hidden_groups = {};  // of the connections
  std::vector<Path>        through;             // weights of the products on the paths to a group
  // In a descended scan, `eqn` is the scan, `x` and `y` have one row per substep, and the tails start at `substep_y`.
  std::shared_ptr<const ScanDescent> descent          = nullptr;
  Vars                               substep_operands = {};
  Var                                substep_y        = -1;

  std::string      primitive() const { return std::string(call.op->etp->primitive(call)); }
  bool             carries_trace() const;  // direct or mixed with some group
  bool             reaches(int group) const;
  std::vector<int> group_indices() const;  // of the connections
  const Path&      path() const { return weight_path; }
  Dict             dict() const;
};

// The step with an additive perturbation on the new value of every hidden state: ∂L/∂p equals ∂L/∂h.
struct HiddenPerturbation {
  template <class List>
  struct Inputs {
    List step, perturbation;
  };
  Program           program;  // arguments: those of the step, then one perturbation per hidden state
  Tensors           constants;
  std::vector<Path> hidden_paths;

  Inputs<Types> input_types() const;
  Tensors       init_perturb_data() const;  // zeros
  // Results of the step with the perturbations added; `inputs` are its arguments, then the states it reads.
  Tensors eval(const Tensors& inputs, const Tensors& perturb_data) const;
  Tensors eval_jaxpr(const Tensors& inputs, const Tensors& perturb_data) const { return eval(inputs, perturb_data); }
  // Throws a UserError that names the perturbation and its state unless each state has one of the right type.
  void check(const Tensors& perturb_data) const;
  // Per group: the perturbation data of its members, stacked.
  Tensors perturb_data_to_hidden_group_data(const Tensors& perturb_data, const std::vector<HiddenGroup>& groups) const;
  Dict    dict() const;
};

struct Explain {
  std::optional<Path>           weight_path = {};
  std::optional<Path>           hidden_path = {};
  std::optional<DiagnosticKind> kind        = {};
};

struct ETraceGraph {
  ModuleInfo                         module_info;
  std::vector<HiddenGroup>           hidden_groups;
  GroupsByPath                       hid_path_to_group;
  std::vector<HiddenParamOpRelation> hidden_param_op_relations;
  std::optional<HiddenPerturbation>  hidden_perturb;
  Diagnostics                        diagnostics;

  // Records that pass all given filters, in order of creation.
  Diagnostics explain(const Explain& filter = {}) const;
  // The step with perturbations added to the new hidden states.
  StepValues               call_hidden_perturb(const Tensors& args, const Tensors& perturb_data,
                                               const Tensors& old_state_vals = {}) const;
  Dict                     dict() const;
  std::vector<std::string> fields() const;  // names of dict()
};

ETraceGraph compile_etrace_graph(Module& model, const StepInputs& inputs, const CompileOptions& options = {});

// The individual passes; they do not follow long scans.
ModuleInfo extract_module_info(Module& model, const StepInputs& inputs, const CompileOptions& options = {});
std::vector<HiddenGroup> find_hidden_groups_from_minfo(const ModuleInfo& info, const CompileOptions& options = {});
std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_minfo(const ModuleInfo&               info,
                                                                             const std::vector<HiddenGroup>& groups,
                                                                             const CompileOptions& options = {});
GroupsByPath                       groups_by_path(const std::vector<HiddenGroup>& groups);

// The same, with records of their decisions.
ModuleInfo extract_module_info(Module& model, const Types& args, const CompileOptions& options, Diagnostics& log);
std::vector<HiddenGroup>           find_hidden_groups_from_minfo(const ModuleInfo& info, const CompileOptions& options,
                                                                 Diagnostics& log);
std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_minfo(const ModuleInfo&               info,
                                                                             const std::vector<HiddenGroup>& groups,
                                                                             const CompileOptions&           options,
                                                                             Diagnostics&                    log);
HiddenPerturbation                 add_hidden_perturbation_from_minfo(const ModuleInfo& info);

// One pass, preceded by those it depends on.
std::vector<HiddenGroup>           find_hidden_groups_from_module(Module& model, const StepInputs& inputs,
                                                                  const CompileOptions& options = {});
std::vector<HiddenParamOpRelation> find_hidden_param_op_relations_from_module(Module& model, const StepInputs& inputs,
                                                                              const CompileOptions& options = {});
HiddenPerturbation                 add_hidden_perturbation_in_module(Module& model, const StepInputs& inputs,
                                                                     const CompileOptions& options = {});

}  // namespace braintrace
