// SPDX-License-Identifier: Apache-2.0
// Saves values of states, to restore them later.
#pragma once

#include "braintrace/model/frame.h"
#include "braintrace/model/module.h"

namespace braintrace {

class Snapshot {
 public:
  explicit Snapshot(const StateMap& states) {
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names()) values_.push_back({{state, leaf}, state.leaf(leaf)});
  }
  void restore() const {
    for (const auto& [where, value] : values_) where.set(value);
  }
  const std::vector<std::pair<StateLeaf, Tensor>>& values() const { return values_; }

 private:
  std::vector<std::pair<StateLeaf, Tensor>> values_;
};

// Restores the states in its destructor.
class Undo {
 public:
  explicit Undo(const StateMap& states) : before_(states) {}
  ~Undo() { before_.restore(); }
  Undo(const Undo&)            = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  Snapshot before_;
};

}  // namespace braintrace
