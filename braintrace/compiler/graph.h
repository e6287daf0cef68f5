// SPDX-License-Identifier: Apache-2.0
// What the compiler finds in a model: hidden groups and weight → operation → hidden relations.
#pragma once

#include <string>
#include <vector>

#include "braintrace/compiler/diagnostics.h"
#include "braintrace/compiler/flow.h"
#include "braintrace/etp/rules.h"
#include "braintrace/model/frame.h"
#include "braintrace/model/module.h"

namespace braintrace {

struct HiddenVar {
  Path  path;
  State state;
  Var   in = -1, out = -1;  // value at the start and at the end of the step
  Shape varshape;           // positions
  int   num_state = 1;      // slots per position
};
struct WeightVar {
  Path        path;
  State       state;
  std::string leaf;
  int         leaf_index = 0;  // among the leaves of the state, sorted by name
  Var         var        = -1;

  std::string name() const { return leaf.empty() ? path.str() : path.str() + "." + leaf; }
};

// One step of the model as a program, and which values are states.
struct ModuleInfo {
  StatefulProgram        step;
  StateMap               states;   // sorted by path
  std::vector<HiddenVar> hidden;   // in the order the step first touches them
  std::vector<WeightVar> weights;  // likewise

  const Program& program() const { return step.program; }
};

// States that feed each other position by position.
struct HiddenGroup {
  int               index = 0;
  std::vector<int>  members;  // indices into ModuleInfo::hidden
  std::vector<Path> hidden_paths;
  Shape             varshape;
  int               num_state = 0;
  Region            transition;       // old members → new members, products and other groups held
  bool              diagonal = true;  // proven: no position reads another
};

// How the result of an operation reaches a group.
enum class PathClass : uint8_t { Direct, Mixed, Windowed };

struct Connection {
  int       group = 0;
  PathClass path  = PathClass::Direct;
  Region    tail;                        // y → members, other products and other groups held
  bool      position_preserving = true;  // proven: state p reads y at p only
};

// A leaf behind an operand of the operation.
struct Trainable {
  std::string      key;
  int              weight  = 0;   // index among the operation's weights
  Var              operand = -1;  // what the operation reads
  std::vector<int> leaves;        // indices into ModuleInfo::weights
  Region           chain;         // leaves → operand
};

struct HiddenParamOpRelation {
  int                     eqn = -1;
  EtpCall                 call;
  Var                     x = -1, y = -1;
  std::vector<Trainable>  trainables;
  std::vector<Connection> connections;
  Path                    weight_path;
  std::vector<int>        hidden_groups;

  std::string primitive() const { return std::string(call.op->etp->primitive(call)); }
  bool        carries_trace() const;  // direct or mixed with some group
};

struct ETraceGraph {
  ModuleInfo                         module_info;
  std::vector<HiddenGroup>           hidden_groups;
  std::vector<HiddenParamOpRelation> hidden_param_op_relations;
  Diagnostics                        diagnostics;

  const HiddenGroup& group_of(const Path& hidden_path) const;
};

ModuleInfo                         extract_module_info(Module& model, const Types& args);
std::vector<HiddenGroup>           find_hidden_groups(const ModuleInfo& info, const Flow& flow, Diagnostics& log);
std::vector<HiddenParamOpRelation> find_relations(const ModuleInfo& info, const Flow& flow,
                                                  const std::vector<HiddenGroup>& groups, Diagnostics& log);
ETraceGraph                        compile_etrace_graph(Module& model, const Types& args);

// Groups, weight → operation → group, and the other weights, as text.
std::string show_graph(const ETraceGraph& graph);

}  // namespace braintrace
