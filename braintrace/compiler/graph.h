// SPDX-License-Identifier: Apache-2.0
// What the compiler finds in a model: hidden groups and weight → operation → hidden relations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braintrace/compiler/diagnostics.h"
#include "braintrace/compiler/flow.h"
#include "braintrace/compiler/options.h"
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

  Type type(DType dtype) const;
};
// A leaf of a parameter.
struct WeightVar {
  Path        path;
  State       state;
  std::string leaf;
  int         leaf_index = 0;  // among the leaves of the state, sorted by name
  Var         var        = -1;

  std::string name() const { return leaf.empty() ? path.str() : path.str() + "." + leaf; }
};

// One step of the model as a program, and which of its values are states.
struct ModuleInfo {
  StatefulProgram        step;
  StateMap               states;   // below the module, sorted by path
  std::vector<HiddenVar> hidden;   // in the order the step first touches them
  std::vector<WeightVar> weights;  // likewise
  ControlFlowPolicy      control_flow;

  const Program& program() const { return step.program; }
  Path           path_of(const State& state) const;
  Vars           entries() const;  // of the hidden states
};

// SnAp-n: for each position the positions it influences in at most n-1 steps, itself first, padded with itself.
struct SnapPattern {
  int               n = 1, width = 1;   // width = K, slots per position
  std::vector<int>  neighbours   = {};  // [P,K] flat positions
  std::vector<bool> valid        = {};  // [P,K]
  bool              conservative = false;
  std::string       reason;
};

// States that feed each other position by position. Group arrays have shape [*varshape,S].
struct HiddenGroup {
  int                        index = 0;
  std::vector<int>           members;  // indices into ModuleInfo::hidden
  std::vector<Path>          hidden_paths;
  std::vector<HiddenVar>     hidden;  // the members themselves
  Shape                      varshape;
  int                        num_state = 0;
  Region                     transition;  // old members → new members; what the scope holds are constants
  bool                       is_diagonal_recurrence = true;  // scope: products are held
  bool                       diagonal               = true;  // proven: no position reads another
  std::optional<SnapPattern> snap                   = {};

  int  trace_state_width() const { return snap ? snap->width * num_state : num_state; }
  Vars entries() const;
  Vars exits() const;

  // Members side by side on a trailing state axis, and back.
  Tensor  concat_hidden(const Tensors& members) const;
  Tensors split_hidden(const Tensor& stacked) const;
};

// How the result of an operation reaches a hidden state or group.
enum class PathClass : uint8_t { Direct, Mixed, Windowed };
std::string_view name_of(PathClass c);  // all_direct, mixed, windowed

// An operation and one group it reaches.
struct Connection {
  int                    group               = 0;
  PathClass              path                = PathClass::Direct;
  std::vector<Path>      hidden_paths        = {};    // members reached, in order of discovery
  std::vector<PathClass> path_classification = {};    // of each of them
  Region                 tail                = {};    // y → members; other products and other groups are constants
  bool                   position_preserving = true;  // proven: state p reads y at p only
};

// An operand of the operation and the parameter leaves behind it.
struct Trainable {
  std::string              key;
  int                      weight  = 0;   // index among the operation's weights
  Var                      operand = -1;  // what the operation reads
  std::vector<int>         leaves;        // indices into ModuleInfo::weights
  Region                   chain;         // leaves → operand
  std::vector<std::string> chain_ops;     // distinct operations of the chain, in order
};

// One trainable operation, its weights and the groups it feeds.
struct HiddenParamOpRelation {
  int                     eqn  = -1;
  EtpCall                 call = {};
  Var                     x = -1, y = -1;
  std::vector<Trainable>  trainables;
  std::vector<Connection> connections;
  Path                    weight_path;    // of the first trainable
  std::vector<int>        hidden_groups;  // of the connections
  std::vector<Path>       through;        // windowed: weights of the products it passes

  std::string primitive() const { return std::string(call.op->etp->primitive(call)); }
  bool        carries_trace() const;  // direct or mixed with some group
};

// The step with an additive perturbation on the new value of every hidden state: reading ∂L/∂p gives ∂L/∂h.
struct HiddenPerturbation {
  Program           program;  // arguments: those of the step, then one perturbation per hidden state
  std::vector<Path> hidden_paths;

  Tensors init_perturb_data() const;  // zeros
  // Results of the step, evaluated with the perturbations added.
  Tensors eval(const ModuleInfo& info, const Tensors& inputs, const Tensors& perturb_data) const;
  // Per group: the perturbation data of its members side by side.
  Tensors perturb_data_to_hidden_group_data(const Tensors& perturb_data, const std::vector<HiddenGroup>& groups) const;
};

struct Explain {
  std::optional<Path>           weight_path = {};
  std::optional<Path>           hidden_path = {};
  std::optional<DiagnosticKind> kind        = {};
};

struct ETraceGraph {
  ModuleInfo                         module_info;
  std::vector<HiddenGroup>           hidden_groups;
  std::vector<HiddenParamOpRelation> hidden_param_op_relations;
  std::optional<HiddenPerturbation>  hidden_perturb;
  Diagnostics                        diagnostics;

  const HiddenGroup& hid_path_to_group(const Path& hidden_path) const;
  // Records that pass all given filters, in order of emission.
  Diagnostics              explain(const Explain& filter = {}) const;
  std::vector<std::string> fields() const;
};

ETraceGraph compile_etrace_graph(Module& model, const Types& args, const CompileOptions& options = {});

// The passes.
ModuleInfo extract_module_info(Module& model, const Types& args, const CompileOptions& options, Diagnostics& log);
std::vector<HiddenGroup> find_hidden_groups(const ModuleInfo& info, const CompileOptions& options, Diagnostics& log);
std::vector<HiddenParamOpRelation> find_relations(const ModuleInfo& info, const std::vector<HiddenGroup>& groups,
                                                  const CompileOptions& options, Diagnostics& log);
HiddenPerturbation                 add_hidden_perturbation(const ModuleInfo& info);

}  // namespace braintrace
