// SPDX-License-Identifier: Apache-2.0
// States of a model and the random stream, put back at the end.
#pragma once

#include "braintrace/model/frame.h"
#include "braintrace/model/module.h"
#include "braintrace/model/random_stream.h"

namespace braintrace::train {

class Undo {
 public:
  explicit Undo(const Module& model) {
    StateMap states = model.states();
    states.emplace_back(Path{}, random::default_stream());
    for (const auto& [path, state] : states)
      for (const std::string& leaf : state.leaf_names()) values_.push_back({{state, leaf}, state.leaf(leaf)});
  }
  ~Undo() {
    for (const auto& [where, value] : values_) where.set(value);
  }
  Undo(const Undo&)            = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  std::vector<std::pair<StateLeaf, Tensor>> values_;
};

}  // namespace braintrace::train
