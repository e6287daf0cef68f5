// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/state.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/model/frame.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

[[noreturn]] void unknown_leaf(const State& state, const std::string& name) {
  const auto names = state.leaf_names();
  if (names.size() == 1 && names[0].empty()) fail("{} holds one tensor and has no leaf '{}'.", state.place(), name);
  fail("{} has no leaf '{}'; it has: {}.", state.place(), name, fmt::join(names, ", "));
}

}  // namespace

State::State(StateKind kind, Leaves leaves) : cell_(std::make_shared<StateCell>()) {
  cell_->kind   = kind;
  cell_->leaves = std::move(leaves);
}
State::State(StateKind kind, Init init) : cell_(std::make_shared<StateCell>()) {
  cell_->kind = kind;
  cell_->init = std::move(init);
}

StateKind State::kind() const { return cell_->kind; }
bool      State::is_hidden() const {
       return kind() == StateKind::Hidden || kind() == StateKind::HiddenGroup || kind() == StateKind::HiddenTree;
}
bool State::initialized() const { return !leaf_names().empty(); }

void State::init(BatchSize batch) const {
  if (!cell_->init) return;
  for (const auto& [name, value] : cell_->init(batch)) set_leaf(name, value);
  if (!StateFrame::current()) cell_->batch = batch;
}
void State::reset() const { init(cell_->batch); }

Tensor State::leaf(const std::string& name) const {
  if (StateFrame* frame = StateFrame::current()) return frame->read(*this, name);
  const Leaves& leaves = cell_->settled();
  if (const auto it = leaves.find(name); it != leaves.end()) return it->second;
  require(
      initialized(),
      "{} ({}) is read before it has a value.\n  Call init_all_states(model), with {{.batch_size = B}} for a batch.",
      place(), name_of(kind()));
  unknown_leaf(*this, name);
}

std::vector<std::string> State::leaf_names() const {
  std::set<std::string> names;
  for (const auto& [name, value] : cell_->leaves) names.insert(name);
  for (const StateFrame* frame = StateFrame::current(); frame; frame = frame->outer()) frame->add_names(*this, names);
  return {names.begin(), names.end()};
}

bool State::has_leaf(const std::string& name) const {
  if (cell_->leaves.contains(name) || !StateFrame::current()) return cell_->leaves.contains(name);
  const auto names = leaf_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

void State::check_storable(const Tensor& value) const {
  require(value.defined(), "{}: the new value is an undefined tensor; assign it first.", place());
  require(!value.is_traced() || StateFrame::current(),
          "{}: a tensor {} that is being traced cannot be stored outside a trace.\n"
          "  Call the function through jit, grad, vmap or a loop of this library: they hand the states through.",
          place(), to_string(value.type()));
}

void State::set_leaf(const std::string& name, const Tensor& value) const {
  check_storable(value);
  if (!cell_->init && !cell_->leaves.contains(name)) unknown_leaf(*this, name);
  if (StateFrame* frame = StateFrame::current()) return frame->write(*this, name, value);
  cell_->settled()[name] = value;
}

const std::vector<std::string>& State::slots() const { return cell_->slots; }

Tensor HiddenTreeState::slot(const std::string& name) const {
  const auto it = std::find(slots().begin(), slots().end(), name);
  require(it != slots().end(), "{} has no slot '{}'; it has: {}.", place(), name, fmt::join(slots(), ", "));
  const Tensor  v = value();
  const int64_t i = it - slots().begin();
  return squeeze(slice_axis(v, -1, i, i + 1), {-1});
}

std::string_view name_of(StateKind kind) {
  constexpr std::string_view names[] = {"ParamState",     "HiddenState",   "HiddenGroupState", "HiddenTreeState",
                                        "ShortTermState", "LongTermState", "RandomStream"};
  return names[static_cast<size_t>(kind)];
}

}  // namespace braintrace
