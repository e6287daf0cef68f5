// SPDX-License-Identifier: Apache-2.0
// Traces one step of a model. Afterwards every hidden state has an entry value and an exit value of its own, the exit
// made by an equation: a state that is only read, only overwritten, aliased or set to a constant is no special case
// later.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/ops/copy.h"

namespace braintrace {

namespace {

int position(const std::vector<StateLeaf>& leaves, const StateLeaf& leaf) {
  const auto it = std::find(leaves.begin(), leaves.end(), leaf);
  return it == leaves.end() ? -1 : static_cast<int>(it - leaves.begin());
}

// Gives `leaf` an argument and a result of the step when it lacks one.
void complete_leaf(StatefulProgram& step, const StateLeaf& leaf) {
  Program& p = step.program;
  if (position(step.reads, leaf) < 0) {
    p.args.push_back(p.add_value(leaf.value().type()));
    step.reads.push_back(leaf);
  }
  if (position(step.writes, leaf) < 0) {
    p.results.push_back(p.args[step.num_args + static_cast<size_t>(position(step.reads, leaf))]);
    step.writes.push_back(leaf);
  }
}

// Makes `leaf`'s new value the result of an equation that no other hidden state shares.
void own_exit(StatefulProgram& step, const StateLeaf& leaf, std::set<Var>& taken) {
  Program&   p        = step.program;
  Var&       exit     = p.results[step.num_results + static_cast<size_t>(position(step.writes, leaf))];
  const auto is_input = [&](const Vars& vars) { return std::find(vars.begin(), vars.end(), exit) != vars.end(); };
  if (is_input(p.args) || is_input(p.constants) || taken.count(exit)) {
    const Var fresh = p.add_value(p.type(exit));
    p.eqns.push_back({&copy_op, {exit}, {fresh}, {}, 0});
    exit = fresh;
  }
  taken.insert(exit);
}

// A short-term state that carries a recurrence through a trainable operation: its old value reaches its new one, and so
// does the result of a trainable operation.
bool carries_recurrence(const StatefulProgram& step, const StateLeaf& leaf) {
  const int r = position(step.reads, leaf), w = position(step.writes, leaf);
  if (r < 0 || w < 0) return false;
  const Program& p = step.program;
  const Flow     flow(p);
  const Vars     makes = reach_backward(flow, {p.results[step.num_results + static_cast<size_t>(w)]});
  const Var      entry = p.args[step.num_args + static_cast<size_t>(r)];
  const bool     etp   = std::any_of(makes.begin(), makes.end(),
                                     [&](Var v) { return flow.producer[v] >= 0 && p.eqns[flow.producer[v]].op->etp; });
  return etp && std::find(makes.begin(), makes.end(), entry) != makes.end() && is_float(p.type(entry).dtype);
}

HiddenVar hidden_var(const ModuleInfo& info, const StateLeaf& leaf) {
  const StatefulProgram& step = info.step;
  HiddenVar              h{.path = info.path_of(leaf.state), .state = leaf.state};
  h.in            = step.program.args[step.num_args + static_cast<size_t>(position(step.reads, leaf))];
  h.out           = step.program.results[step.num_results + static_cast<size_t>(position(step.writes, leaf))];
  const Type &old = step.program.type(h.in), &now = step.program.type(h.out);
  require(old == now, "hidden state {}: one step changes its type from {} to {}; a hidden state keeps its type.",
          h.path.str(), to_string(old), to_string(now));
  require(is_float(old.dtype), "hidden state {}: its elements are {}; a hidden state holds floating-point numbers.",
          h.path.str(), name_of(old.dtype));
  h.varshape = old.shape;
  h.stacked  = leaf.state.kind() == StateKind::HiddenGroup || leaf.state.kind() == StateKind::HiddenTree;
  if (h.stacked) {
    require(old.rank() >= 1, "hidden state {}: a stacked state needs an axis for its slots, got {}.", h.path.str(),
            to_string(old));
    h.num_state = static_cast<int>(old.shape.back());
    h.varshape.pop_back();
  }
  return h;
}

// Control flow around states and weights is flattened as far as the policy allows.
void flatten(StatefulProgram& step, const CompileOptions& options, Diagnostics& log) {
  const auto may_be_hidden = [&](const StateLeaf& leaf) {
    return leaf.state.is_hidden() || (options.promote_short_term_states && leaf.state.kind() == StateKind::ShortTerm);
  };
  const size_t before = step.constants.size() + step.num_args;
  StepRoles    roles{Mask(before, false), Mask(before, false), Mask(step.num_results, false)};
  for (const StateLeaf& leaf : step.reads) {
    roles.weight.push_back(leaf.state.is_param());
    roles.hidden.push_back(may_be_hidden(leaf));
  }
  for (const StateLeaf& leaf : step.writes) roles.exit.push_back(may_be_hidden(leaf));
  Traced flat    = canonicalize({step.program, step.constants}, roles, options.control_flow, log);
  step.program   = std::move(flat.program);
  step.constants = std::move(flat.constants);
}

}  // namespace

Vars ModuleInfo::entries() const {
  Vars out;
  for (const HiddenVar& h : hidden) out.push_back(h.in);
  return out;
}

Type HiddenVar::type(DType dtype) const {
  Type t{dtype, varshape};
  if (stacked) t.shape.push_back(num_state);
  return t;
}

Path ModuleInfo::path_of(const State& state) const {
  for (const auto& [path, s] : states)
    if (s == state) return path;
  return {};
}

ModuleInfo extract_module_info(Module& model, const Types& args, const CompileOptions& options, Diagnostics& log) {
  ModuleInfo info;
  info.states       = model.states();
  info.control_flow = options.control_flow;
  info.step         = trace_function(args, [&](const Tensors& xs) { return model.call(xs); });

  flatten(info.step, options, log);

  // States in the order of first touch: reads and writes are each in that order.
  std::vector<StateLeaf> touched = info.step.reads;
  for (const StateLeaf& leaf : info.step.writes)
    if (position(touched, leaf) < 0) touched.push_back(leaf);
  int unknown = 0;
  for (const StateLeaf& leaf : touched)
    if (info.path_of(leaf.state).empty()) {
      const Path path{fmt::format("_unknown_path_{}", unknown++)};
      info.states.emplace_back(path, leaf.state);
      log.push_back({DiagnosticKind::StateMismatch, DiagnosticLevel::Warning,
                     fmt::format("the step touches a state outside the module tree; it is called {}", path.str())});
    }
  for (const auto& entry : info.states) {
    const State& state = entry.second;
    if (std::none_of(touched.begin(), touched.end(), [&](const StateLeaf& l) { return l.state == state; }))
      log.push_back({DiagnosticKind::StateMismatch, DiagnosticLevel::Warning,
                     fmt::format("{} is never touched by the step", entry.first.str())});
  }

  std::vector<StateLeaf> hidden;
  for (const StateLeaf& leaf : touched) {
    require(!leaf.state.is_param() || position(info.step.writes, leaf) < 0,
            "parameter {}: the step writes it; only an optimiser may.", info.path_of(leaf.state).str());
    if (leaf.state.is_hidden())
      hidden.push_back(leaf);
    else if (leaf.state.kind() == StateKind::ShortTerm && options.promote_short_term_states &&
             carries_recurrence(info.step, leaf)) {
      hidden.push_back(leaf);
      log.push_back(
          {DiagnosticKind::ShortTermStatePromoted,
           DiagnosticLevel::Info,
           "this short-term state carries a recurrence through a trainable operation and is treated as hidden",
           "",
           {},
           {info.path_of(leaf.state)}});
    }
  }
  std::set<Var> taken;
  for (const StateLeaf& leaf : hidden) complete_leaf(info.step, leaf);
  for (const StateLeaf& leaf : hidden) own_exit(info.step, leaf, taken);
  for (const StateLeaf& leaf : hidden) info.hidden.push_back(hidden_var(info, leaf));
  for (size_t i = 0; i < info.step.reads.size(); ++i) {
    const StateLeaf& leaf = info.step.reads[i];
    if (!leaf.state.is_param()) continue;
    const auto names = leaf.state.leaf_names();
    const auto index = std::find(names.begin(), names.end(), leaf.leaf) - names.begin();
    info.weights.push_back({info.path_of(leaf.state), leaf.state, leaf.leaf, static_cast<int>(index),
                            info.step.program.args[info.step.num_args + i]});
  }
  return info;
}

}  // namespace braintrace
