// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/state.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "braintrace/base/warning.h"
#include "braintrace/model/frame.h"
#include "braintrace/model/module.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

[[noreturn]] void unknown_leaf(const State& state, const std::string& name) {
  const auto names = state.leaf_names();
  if (names.size() == 1 && names[0].empty())
    fail(ErrorKind::Name, "{} holds one tensor and has no leaf '{}'.", state.place(), name);
  fail(ErrorKind::Name, "{} has no leaf '{}'; it has: {}.", state.place(), name, fmt::join(names, ", "));
}

// The value of one sample, repeated for a batch.
Tensor for_batch(const Tensor& value, BatchSize batch) {
  if (!batch || value.rank() == 0) return value;
  Shape shape = value.shape();
  shape.insert(shape.begin(), *batch);
  return broadcast_to(value, shape);
}

// Traces of the previous sequence would affect the next one. Warns once per reset.
void warn_if_stale(const StateCell& cell, const Tensor& value) {
  if (value.is_literal(0)) return;
  bool stale = false;
  for (const auto& weak : cell.follows)
    if (const auto followed = weak.lock(); followed && std::exchange(followed->is_new, false)) stale = true;
  if (stale)
    warn(
        "hidden states were reset, but the eligibility traces that follow them still hold the sequence before.\n"
        "  Call learner.reset() for both, or learner.reset_state() after reset_all_states(model).");
}

// A state has a type: a bare number takes that of the value it replaces, as in an operation with it.
Tensor typed(const Tensor& value, const Tensor& old = {}) {
  if (!value.is_weak()) return value;
  return old.defined() ? promote_together({zeros_like(old), value})[1] : value.settled(value.dtype());
}

// A state owns its value: memory that others may write later is copied.
Tensor kept(const Tensor& value) {
  if (value.is_traced() || value.is_literal() || !value.array().is_borrowed()) return value;
  return Tensor(value.array().copy());
}

}  // namespace

State::State(StateKind kind, Leaves leaves) : State(kind, Init()) {
  for (auto& [name, value] : leaves) value = kept(typed(value));
  if (is_hidden() || kind == StateKind::ShortTerm) cell_->first = leaves;
  cell_->leaves = std::move(leaves);
}
State::State(StateKind kind, Init init) : cell_(std::make_shared<StateCell>()) {
  cell_->kind     = kind;
  cell_->init     = std::move(init);
  cell_->is_local = is_updating();
  if (const StateFrame* frame = StateFrame::current()) cell_->home = frame->serial();
}

StateKind State::kind() const { return cell_->kind; }
bool      State::is_hidden() const {
       return kind() == StateKind::Hidden || kind() == StateKind::HiddenGroup || kind() == StateKind::HiddenTree;
}
bool State::initialized() const { return !leaf_names().empty(); }

void State::init(BatchSize batch) const {
  if (!cell_->init && cell_->first.empty()) return;
  if (cell_->init)
    for (const auto& [name, value] : cell_->init(batch)) set_leaf(name, value);
  for (const auto& [name, value] : cell_->first) set_leaf(name, for_batch(value, batch));
  const StateFrame* frame = StateFrame::current();
  if (frame && !frame->is_home_of(*this)) return;
  cell_->batch  = batch;
  cell_->is_new = true;
}
void State::reset() const { init(StateFrame::hides_batch_of(*this) ? BatchSize() : cell_->batch); }

Tensor State::leaf(const std::string& name) const {
  check_known();
  if (StateFrame* frame = StateFrame::current()) return frame->read(*this, name);
  check_alive();
  const Tensor& value = stored(name);
  warn_if_stale(*cell_, value);
  return value;
}

Type State::type(const std::string& leaf) const {
  if (StateFrame* frame = StateFrame::current()) return frame->type_of(*this, leaf);
  check_alive();
  return stored(leaf).type();
}

void State::check_alive() const {
  if (cell_->home == 0) return;  // the common case: builds no message
  fail(ErrorKind::State,
       "{} ({}) was created inside a traced function and no longer exists.\n  Create persistent states before you call "
       "jit, grad, vmap or a loop.",
       place(), name_of(kind()));
}

const Tensor& State::stored(const std::string& name) const {
  const Leaves& leaves = cell_->settled();
  if (const auto it = leaves.find(name); it != leaves.end()) return it->second;
  require(initialized(), ErrorKind::State,
          "{} ({}) is read before it has a value.\n  Call init_all_states(model), with a batch size for a batch.",
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
  require(value.defined(), ErrorKind::State, "{}: the new value is an undefined tensor; assign it first.", place());
  require(!value.is_traced() || StateFrame::current(), ErrorKind::State,
          "{}: a tensor {} that is being traced cannot be stored outside a trace.\n  Call the function through jit, "
          "grad, vmap or a loop of this library: they pass the states through.",
          place(), to_string(value.type()));
}

void State::set_leaf(const std::string& name, const Tensor& value) const {
  check_storable(value);
  if (!cell_->init && !cell_->leaves.contains(name)) unknown_leaf(*this, name);
  if (value.is_weak()) {
    const Leaves& leaves = cell_->settled();
    const auto    old    = leaves.find(name);
    return set_leaf(name, typed(value, old == leaves.end() ? Tensor() : old->second));
  }
  check_known();
  if (StateFrame* frame = StateFrame::current()) return frame->write(*this, name, value);
  check_alive();
  cell_->settled()[name] = kept(value);
  cell_->is_new          = false;
}

const std::vector<std::string>& State::slots() const { return cell_->slots; }

Tensor HiddenTreeState::slot(const std::string& name) const {
  const auto it = std::find(slots().begin(), slots().end(), name);
  require(it != slots().end(), ErrorKind::Name, "{} has no slot '{}'; it has: {}.", place(), name,
          fmt::join(slots(), ", "));
  const Tensor  v = value();
  const int64_t i = it - slots().begin();
  return squeeze(slice_axis(v, -1, i, i + 1), {-1});
}

std::string_view name_of(StateKind kind) {
  constexpr std::string_view names[] = {"ParamState",     "HiddenState",   "HiddenGroupState", "HiddenTreeState",
                                        "ShortTermState", "LongTermState", "RandomStream"};
  return names[static_cast<size_t>(kind)];
}

std::string StateLeaf::place() const {
  return leaf.empty() ? state.place() : fmt::format("{} (leaf '{}')", state.place(), leaf);
}

}  // namespace braintrace
