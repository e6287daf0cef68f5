// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/held_states.h"

#include <algorithm>

#include "braintrace/base/warning.h"

namespace braintrace {

std::vector<Feed> feeds_of(const StatefulProgram& p) {
  std::vector<Feed> feeds;
  for (size_t w = 0; w < p.writes.size(); ++w)
    for (size_t r = 0; r < p.reads.size(); ++r)
      if (p.reads[r] == p.writes[w] && p.write_type(w) == p.read_type(r))
        feeds.push_back({p.num_results + w, p.num_args + r});
  return feeds;
}

namespace detail {

std::unique_ptr<HeldStates> HeldStates::make(Backend& backend, const StatefulProgram& p, const Arrays& constants) {
  const std::vector<Feed> feeds = feeds_of(p);
  if (feeds.empty()) return nullptr;
  auto program = backend.resident(p.program, constants, feeds);
  return program ? std::make_unique<HeldStates>(p, std::move(program)) : nullptr;
}

HeldStates::HeldStates(const StatefulProgram& p, std::unique_ptr<ResidentProgram> program)
    : program_(std::move(program)), num_results_(p.num_results), kept_(p.reads.size()) {
  std::vector<bool> written(p.writes.size());
  for (const Feed& f : program_->feeds()) {
    held_.push_back(p.reads[f.arg - p.num_args]);
    kept_[f.arg - p.num_args]         = true;
    written[f.result - p.num_results] = true;
  }
  for (size_t r = 0; r < kept_.size(); ++r)
    if (!kept_[r]) reads_.push_back(p.reads[r]);
  leave_results(p, written);
}

void HeldStates::leave_results(const StatefulProgram& p, const std::vector<bool>& written) {
  std::vector<size_t>    results;
  std::vector<StateLeaf> alone;
  for (size_t w = 0; w < written.size(); ++w) {
    const StateLeaf& leaf = p.writes[w];
    if (written[w]) continue;
    const bool is_alone = leaf.state.has_leaf(leaf.leaf) && leaf.state.cell()->leaves.size() == 1 &&
                          std::find(p.reads.begin(), p.reads.end(), leaf) == p.reads.end();
    (is_alone ? alone : writes_).push_back(leaf);
    if (is_alone) results.push_back(p.num_results + w);
  }
  if (!results.empty() && program_->leave(results)) {
    for (size_t i = 0; i < alone.size(); ++i) left_.emplace_back(*this, alone[i], i);
    return;
  }
  writes_.clear();
  for (size_t w = 0; w < written.size(); ++w)
    if (!written[w]) writes_.push_back(p.writes[w]);
}

void HeldStates::LeftState::hold() {
  StateCell& cell = *leaf_.state.cell();
  if (cell.holder == this) return;
  Tensor& value = cell.settled()[leaf_.leaf];
  before_       = value;
  value         = {};
  cell.is_new   = false;
  cell.holder   = this;
}

void HeldStates::LeftState::settle() {
  std::lock_guard lock(all_.mutex_);
  StateCell&      cell = *leaf_.state.cell();
  if (cell.holder != this) return;
  Tensor value = before_;
  try {
    value = all_.program_->left(index_);
  } catch (const UserError& lost) {
    warn(fmt::format("{}\n  {} has its value from before the first call.", lost.what(), leaf_.place()), "device lost");
  }
  cell.leaves.at(leaf_.leaf) = std::move(value);
  before_                    = {};
  cell.holder                = nullptr;
}

HeldStates::~HeldStates() {
  settle();
  for (LeftState& state : left_) state.settle();
}

Tensors HeldStates::call(const Tensors& args) {
  Arrays in;
  in.reserve(args.size() + reads_.size());
  for (const Tensor& t : args) in.push_back(t.array());
  for (const StateLeaf& leaf : reads_) in.push_back(read(leaf).array());
  // Other holders release them before the lock is taken, so that two holders never wait for each other.
  if (!holding_)
    for (const StateLeaf& leaf : held_) leaf.state.cell()->settled();
  Arrays out;
  {
    std::lock_guard lock(mutex_);
    if (!holding_) take();
    out = program_->run(in);
  }
  for (size_t w = 0; w < writes_.size(); ++w) write(writes_[w], std::move(out[num_results_ + w]));
  for (LeftState& state : left_) state.hold();
  out.resize(num_results_);
  return {std::make_move_iterator(out.begin()), std::make_move_iterator(out.end())};
}

void HeldStates::take() {
  Arrays values;
  values.reserve(held_.size());
  for (const StateLeaf& leaf : held_) values.push_back(leaf.value().array());
  for (const StateLeaf& leaf : held_) leaf.state.cell()->leaves.at(leaf.leaf) = {};  // `values` then owns them
  try {
    program_->hold(std::move(values));
  } catch (...) {
    for (size_t i = 0; i < held_.size(); ++i) held_[i].state.cell()->leaves.at(held_[i].leaf) = values[i];
    throw;
  }
  for (const StateLeaf& leaf : held_) {
    leaf.state.cell()->holder = this;
    leaf.state.cell()->is_new = false;
  }
  holding_ = true;
}

void HeldStates::settle() {
  std::lock_guard lock(mutex_);
  if (!holding_) return;
  Arrays values = program_->settle();
  for (size_t i = 0; i < held_.size(); ++i) held_[i].state.cell()->leaves.at(held_[i].leaf) = std::move(values[i]);
  for (const StateLeaf& leaf : held_) leaf.state.cell()->holder = nullptr;
  holding_ = false;
}

// Other leaves of a cell whose leaf is held stay in the cell.
Tensor HeldStates::read(const StateLeaf& leaf) const {
  StateCell& cell = *leaf.state.cell();
  return cell.holder == this ? cell.leaves.at(leaf.leaf) : leaf.value();
}
void HeldStates::write(const StateLeaf& leaf, Tensor value) const {
  StateCell& cell                                                 = *leaf.state.cell();
  (cell.holder == this ? cell.leaves : cell.settled())[leaf.leaf] = std::move(value);
  cell.is_new                                                     = false;
}

}  // namespace detail

}  // namespace braintrace
