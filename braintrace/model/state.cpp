// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/state.h"

#include <algorithm>

#include "braintrace/model/frame.h"
#include "braintrace/ops/move.h"

namespace braintrace {

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
bool State::initialized() const { return !cell_->leaves.empty(); }

void State::init(BatchSize batch) const {
  if (!cell_->init) return;
  for (const auto& [name, value] : cell_->init(batch)) set_leaf(name, value);
}

Tensor State::leaf(const std::string& name) const {
  if (StateFrame* frame = StateFrame::current()) return frame->read(*this, name);
  require(
      initialized(),
      "{} ({}) is read before it has a value.\n  Call init_all_states(model), with {{.batch_size = B}} for a batch.",
      cell_->place, name_of(kind()));
  const auto it = cell_->leaves.find(name);
  require(it != cell_->leaves.end(), "{} has no leaf '{}'.", cell_->place, name);
  return it->second;
}

std::vector<std::string> State::leaf_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : cell_->leaves) names.push_back(name);
  return names;
}

void State::set_leaf(const std::string& name, const Tensor& value) const {
  require(value.defined(), "{}: the new value is an undefined tensor.", cell_->place);
  if (StateFrame* frame = StateFrame::current()) return frame->write(*this, name, value);
  require(!value.is_traced(), "{}: a traced tensor cannot be stored outside a trace.", cell_->place);
  cell_->leaves[name] = value;
}

const std::vector<std::string>& State::slots() const { return cell_->slots; }

Tensor HiddenTreeState::slot(const std::string& name) const {
  const auto it = std::find(slots().begin(), slots().end(), name);
  require(it != slots().end(), "{} has no slot '{}'.", cell_->place, name);
  const Tensor  v = value();
  const int64_t i = it - slots().begin();
  return squeeze(slice_axis(v, -1, i, i + 1), {-1});
}

std::string_view name_of(StateKind kind) {
  constexpr std::string_view names[] = {"ParamState",      "HiddenState",    "HiddenGroupState",
                                        "HiddenTreeState", "ShortTermState", "LongTermState"};
  return names[static_cast<size_t>(kind)];
}

}  // namespace braintrace
