// SPDX-License-Identifier: Apache-2.0
// Traces one step of a model. Afterwards every hidden state has its own entry value and exit value, with an equation
// that computes the exit: a state that is only read, aliased or set to a constant is then not a special case. A state
// whose old value is not read carries no information: it is not a hidden state, and its new value is an ordinary value.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/compiler/graph.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/copy.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// Indices of leaves in a list.
class LeafIndex {
 public:
  explicit LeafIndex(const std::vector<StateLeaf>& leaves) {
    for (const StateLeaf& leaf : leaves) add(leaf);
  }
  // False if it is already there.
  bool add(const StateLeaf& leaf) { return at_.try_emplace({leaf.state.cell().get(), leaf.leaf}, at_.size()).second; }
  std::optional<size_t> find(const StateLeaf& leaf) const {
    const auto it = at_.find({leaf.state.cell().get(), leaf.leaf});
    return it == at_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::map<std::pair<const StateCell*, std::string>, size_t> at_;
};

// The step while its leaves are looked up.
struct IndexedStep {
  StatefulProgram& step;
  LeafIndex        reads{step.reads}, writes{step.writes};

  Var& entry(const StateLeaf& leaf) { return step.program.args[step.num_args + *reads.find(leaf)]; }
  Var& exit(const StateLeaf& leaf) { return step.program.results[step.num_results + *writes.find(leaf)]; }
};

// Adds a missing argument or result of the step for `leaf`.
void complete_leaf(IndexedStep& in, const StateLeaf& leaf) {
  Program& p = in.step.program;
  if (in.reads.add(leaf)) {
    p.args.push_back(p.add_value(leaf.value().type()));
    in.step.reads.push_back(leaf);
  }
  if (in.writes.add(leaf)) {
    p.results.push_back(in.entry(leaf));
    in.step.writes.push_back(leaf);
  }
}

// Makes `leaf`'s new value the result of an equation that no other hidden state shares.
void own_exit(IndexedStep& in, const StateLeaf& leaf, std::set<Var>& taken) {
  Program& p    = in.step.program;
  Var&     exit = in.exit(leaf);
  if (!taken.insert(exit).second) {
    const Var fresh = p.add_value(p.type(exit));
    p.eqns.push_back({&copy_op, {exit}, {fresh}, {}, 0});
    exit = fresh;
    taken.insert(fresh);
  }
}

// A loop that uses v only as the initial value of a carry, which its first iteration replaces without reading it.
bool replaces(const Eqn& e, Var v) {
  if (e.op != &scan_op) return false;
  const ScanParts scan(e.attrs);
  const auto      is_v = map_sections(
      [v](const Vars& operands) {
        Mask m;
        for (Var o : operands) m.push_back(o == v);
        return m;
      },
      scan.split(e.in));
  if (any_true(is_v.consts) || any_true(is_v.xs)) return false;
  return scan.length > 0 && !any_true(result_dependence(scan.body, joined(is_v)));
}

// Whether some result of the step depends on the old value.
bool reads_old_value(IndexedStep& in, const StateLeaf& leaf) {
  if (!in.reads.find(leaf)) return false;
  const Program& p   = in.step.program;
  const Var      old = in.entry(leaf);
  Mask           depends(p.types.size());
  depends[old] = true;
  for (const Eqn& e : p.eqns)
    if (std::any_of(e.in.begin(), e.in.end(), [&](Var v) { return depends[v] && (v != old || !replaces(e, v)); }))
      for (Var v : e.out) depends[v] = true;
  return std::any_of(p.results.begin(), p.results.end(), [&](Var v) { return depends[v]; });
}

// Which short-term states carry a recurrence through a trainable operation: their old value reaches their new one, and
// so does the result of a trainable operation. One pass over the program handles 63 states.
LeafIndex recurrent_short_term_states(IndexedStep& in) {
  const Program&         p = in.step.program;
  std::vector<StateLeaf> candidates;
  for (const StateLeaf& leaf : in.step.reads)
    if (leaf.state.kind() == StateKind::ShortTerm && in.writes.find(leaf) && is_float(p.type(in.entry(leaf)).dtype))
      candidates.push_back(leaf);
  constexpr uint64_t trainable = 1;
  LeafIndex          out({});
  for (size_t begin = 0; begin < candidates.size(); begin += 63) {
    const std::span<const StateLeaf> some(&candidates[begin], std::min<size_t>(63, candidates.size() - begin));
    std::vector<uint64_t>            reached_by(p.types.size());  // by value: trainable operations, candidates
    for (size_t i = 0; i < some.size(); ++i) reached_by[in.entry(some[i])] = trainable << (i + 1);
    for (const Eqn& e : p.eqns) {
      uint64_t all = e.op->etp ? trainable : 0;
      for (Var v : e.in) all |= reached_by[v];
      for (Var v : e.out) reached_by[v] = all;
    }
    for (size_t i = 0; i < some.size(); ++i) {
      const uint64_t both = trainable | trainable << (i + 1);
      if ((reached_by[in.exit(some[i])] & both) == both) out.add(some[i]);
    }
  }
  return out;
}

HiddenVar hidden_var(const ModuleInfo& info, IndexedStep& in, const StateLeaf& leaf) {
  HiddenVar h{.path = info.path_of(leaf.state), .state = leaf.state};
  h.in            = in.entry(leaf);
  h.out           = in.exit(leaf);
  const Type &old = info.program().type(h.in), &now = info.program().type(h.out);
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

// In order of first use, as are reads and writes.
std::vector<StateLeaf> touched_leaves(const IndexedStep& in) {
  std::vector<StateLeaf> out = in.step.reads;
  for (const StateLeaf& leaf : in.step.writes)
    if (!in.reads.find(leaf)) out.push_back(leaf);
  return out;
}

// Gives every used state a path.
void name_states(ModuleInfo& info, const std::vector<StateLeaf>& touched, const CompileOptions& options,
                 Diagnostics& log) {
  std::set<const StateCell*> cells;
  int                        unknown = 0;
  for (const StateLeaf& leaf : touched) {
    cells.insert(leaf.state.cell().get());
    if (!info.path_of(leaf.state).empty()) continue;
    require(options.allow_states_outside || leaf.state.kind() == StateKind::Random,
            "compile_graph: the step of the model uses {} ({} {}), which is not part of the model: it would not be "
            "learned, reset or saved.\n  Register it with state(), or the module that has it with children().",
            leaf.place(), name_of(leaf.state.kind()), to_string(leaf.state.type(leaf.leaf)));
    const Path path{fmt::format("_unknown_path_{}", unknown++)};
    info.states.emplace_back(path, leaf.state);
    info.state_id_to_path.emplace(leaf.state.cell().get(), path);
    log.push_back({DiagnosticKind::StateMismatch, DiagnosticLevel::Warning,
                   fmt::format("the step uses a state outside the module tree; it is named {}", path.str())});
  }
  for (const auto& [path, state] : info.states)
    if (!cells.count(state.cell().get()))
      log.push_back(
          {DiagnosticKind::StateMismatch, DiagnosticLevel::Warning, fmt::format("the step never uses {}", path.str())});
}

std::vector<StateLeaf> hidden_leaves(const ModuleInfo& info, IndexedStep& step, const std::vector<StateLeaf>& touched,
                                     const CompileOptions& options, Diagnostics& log) {
  const auto note = [&](const StateLeaf& leaf, DiagnosticKind kind, const char* message) {
    log.push_back({kind, DiagnosticLevel::Info, message, "", {}, {info.path_of(leaf.state)}});
  };
  const LeafIndex recurrent = options.promote_short_term_states ? recurrent_short_term_states(step) : LeafIndex({});
  std::vector<StateLeaf> hidden;
  for (const StateLeaf& leaf : touched) {
    require(!leaf.state.is_param() || !step.writes.find(leaf),
            "parameter {}: the step writes it; only an optimizer may.", info.path_of(leaf.state).str());
    const bool promoted = !leaf.state.is_hidden() && recurrent.find(leaf);
    if (leaf.state.is_hidden() && !options.as_reference && !reads_old_value(step, leaf))
      note(leaf, DiagnosticKind::StateHoldsNothing,
           "nothing reads the old value of this state, so it is not memory; credit passes through its new value");
    else if (leaf.state.is_hidden() || promoted)
      hidden.push_back(leaf);
    if (promoted)
      note(leaf, DiagnosticKind::ShortTermStatePromoted,
           "this short-term state carries a recurrence through a trainable operation and is treated as hidden");
  }
  return hidden;
}

// Gives each hidden state its own entry and exit.
std::vector<HiddenVar> hidden_vars(const ModuleInfo& info, IndexedStep& step, const std::vector<StateLeaf>& hidden) {
  for (const StateLeaf& leaf : hidden) complete_leaf(step, leaf);
  const Vars    inputs = program_inputs(info.program());
  std::set<Var> taken(inputs.begin(), inputs.end());  // exits shared with other states
  for (const StateLeaf& leaf : hidden) own_exit(step, leaf, taken);
  std::vector<HiddenVar> out;
  for (const StateLeaf& leaf : hidden) out.push_back(hidden_var(info, step, leaf));
  return out;
}

std::vector<WeightVar> weight_vars(const ModuleInfo& info, IndexedStep& step) {
  std::vector<WeightVar> out;
  for (const StateLeaf& leaf : info.step.reads) {
    if (!leaf.state.is_param()) continue;
    const auto names = leaf.state.leaf_names();
    const auto index = std::find(names.begin(), names.end(), leaf.leaf) - names.begin();
    out.push_back({info.path_of(leaf.state), leaf.state, leaf.leaf, static_cast<int>(index), step.entry(leaf)});
  }
  return out;
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
  const auto it = state_id_to_path.find(state.cell().get());
  return it == state_id_to_path.end() ? Path() : it->second;
}

ModuleInfo extract_module_info(Module& model, const Types& args, const CompileOptions& options, Diagnostics& log) {
  ModuleInfo info;
  info.states = model.states();
  for (const auto& [path, state] : info.states) info.state_id_to_path.emplace(state.cell().get(), path);
  info.control_flow = options.control_flow;
  info.step         = trace_function(args, [&](const Tensors& xs) { return model.call(xs); });

  flatten(info.step, options, log);

  IndexedStep step{info.step};
  const auto  touched = touched_leaves(step);
  name_states(info, touched, options, log);
  info.hidden  = hidden_vars(info, step, hidden_leaves(info, step, touched, options, log));
  info.weights = weight_vars(info, step);
  return info;
}

}  // namespace braintrace
