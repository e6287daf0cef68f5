// SPDX-License-Identifier: Apache-2.0
// Memory and states of a learner.
#include <algorithm>
#include <ostream>

#include "braintrace/algorithms/compiled_learner.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

StateMap chosen_states(const Module& model, bool (*wanted)(StateKind)) {
  StateMap out;
  for (const auto& [path, state] : model.states())
    if (wanted(state.kind())) out.emplace_back(path, state);
  return out;
}
bool is_hidden(StateKind k) {
  return k == StateKind::Hidden || k == StateKind::HiddenGroup || k == StateKind::HiddenTree;
}

}  // namespace

void OnlineLearner::reset() {
  reset_all_states(*model_);
  reset_state();
}

void OnlineLearner::reset_state() {
  for (size_t i = 0; i < memory_slots().size(); ++i)
    if (const State& m = compiled().memory[i]; !memory_slots()[i].lasts) m.set(Tensor(m.type(), 0));
  compiled().running_index.set(0);
}

void OnlineLearner::reset_state(const Path& parameter) {
  get_etrace_of(parameter);  // throws if the parameter has no memory
  for (size_t i = 0; i < memory_slots().size(); ++i)
    if (const State& m = compiled().memory[i]; !keys_of(memory_slots()[i], parameter).empty())
      m.set(Tensor(m.type(), 0));
}

void OnlineLearner::init_etrace_state() {
  for (size_t i = 0; i < memory_slots().size(); ++i) compiled().memory[i].set(Tensor(memory_slots()[i].type, 0));
  compiled().running_index.set(0);
}

std::vector<std::string> OnlineLearner::keys_of(const MemorySlot& slot, const Path& parameter) const {
  const auto is_leaf = [&](int l) {
    const WeightVar& w = graph().module_info.weights[l];
    return w.path == parameter || w.name() == parameter.str();
  };
  std::vector<std::string> out;
  if (slot.leaf >= 0 && is_leaf(slot.leaf)) out.push_back(graph().module_info.weights[slot.leaf].leaf);
  if (slot.relation < 0) return out;
  const auto& trainables = graph().hidden_param_op_relations[slot.relation].trainables;
  for (size_t k = 0; k < trainables.size(); ++k)
    if ((slot.trainable < 0 || slot.trainable == static_cast<int>(k)) &&
        std::any_of(trainables[k].leaves.begin(), trainables[k].leaves.end(), is_leaf))
      out.push_back(trainables[k].key);
  return out;
}

std::vector<OnlineLearner::EtraceEntry> OnlineLearner::get_etrace_of(const Path& parameter) const {
  std::vector<EtraceEntry> out;
  for (const auto& [slot, value] : remembered())
    for (const std::string& key : keys_of(slot, parameter))
      out.push_back({slot.kind, slot.relation, slot.group, key, value});
  require(
      !out.empty(),
      "get_etrace_of: '{}' carries no trace.\n  It is not a parameter of the model, or no trainable operation connects "
      "it to a hidden state; show_graph() lists those that do.",
      parameter.str());
  return out;
}

CompilationReport OnlineLearner::report() const { return CompilationReport(graph()); }
std::string       OnlineLearner::show_graph() const { return braintrace::show_graph(graph()); }
void              OnlineLearner::show_graph(std::ostream& out) const { out << show_graph(); }
int64_t           OnlineLearner::running_index() const {
            return static_cast<int64_t>(at(compiled().running_index.value().array(), 0));
}

StateMap OnlineLearner::param_states() const { return model_->params(); }
StateMap OnlineLearner::hidden_states() const { return chosen_states(*model_, is_hidden); }
StateMap OnlineLearner::other_states() const {
  return chosen_states(*model_, [](StateKind k) { return k != StateKind::Param && !is_hidden(k); });
}

Tensors OnlineLearner::memory() const {
  Tensors out;
  for (const State& m : compiled().memory) out.push_back(m.value());
  return out;
}

std::vector<Remembered> OnlineLearner::remembered() const {
  const Tensors           kept  = memory();
  const Types             types = types_of(memory_slots());
  std::vector<Remembered> out;
  const Traced            one      = trace(types, [&](const Tensors& in) {
    out = written_out(*rule_, graph(), in);
    Tensors values;
    for (const Remembered& r : out) values.push_back(r.value);
    return values;
  });
  const bool              in_lanes = types_of(kept) != types;
  const Tensors           inputs   = joined(one.constants, kept);
  Mask                    batched(inputs.size(), in_lanes);
  std::fill_n(batched.begin(), one.constants.size(), false);
  const Tensors values =
      in_lanes ? vmap(one.program, inputs, batched, kept[0].shape()[0]).out : replay(one.program, one.constants, kept);
  for (size_t i = 0; i < out.size(); ++i) out[i].value = values[i];
  return out;
}

StateMap OnlineLearner::memory_states() const {
  StateMap out;
  for (size_t i = 0; i < compiled().memory.size(); ++i)
    out.emplace_back(Path{"etrace", std::to_string(i)}, compiled().memory[i]);
  return out;
}

StateMap OnlineLearner::lasting_states() const {
  const StateMap all = memory_states();
  StateMap       out;
  for (size_t i = 0; i < all.size(); ++i)
    if (memory_slots()[i].lasts) out.push_back(all[i]);
  return out;
}

StateMap OnlineLearner::own_states() const {
  StateMap out = memory_states();
  out.emplace_back(Path{"running_index"}, compiled().running_index);
  return out;
}

Path OnlineLearner::state_id_to_path(const State& state) const {
  for (const auto& [path, mine] : model_->states())
    if (mine == state) return path;
  fail("learner: {} is not a state of the model.", state.place());
}

}  // namespace braintrace
