// SPDX-License-Identifier: Apache-2.0
// States: the named values that a model keeps between calls. A state is a cheap handle; copies share the value. A state
// holds one tensor, or several with leaf names ("weight", "bias").
//
// While a function is traced (see frame.h), reading a state returns a traced input and writing it changes only the
// trace; the caller of the trace decides what to do with the new values. A state that is created inside a traced
// function is a local variable of that function.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "braintrace/ir/tensor.h"

namespace braintrace {

enum class StateKind : uint8_t { Param, Hidden, HiddenGroup, HiddenTree, ShortTerm, LongTerm, Random };

using Leaves    = std::map<std::string, Tensor>;  // a single tensor has the leaf name ""
using BatchSize = std::optional<int64_t>;

struct StateCell;
struct ModuleNode;

class State {
 public:
  using Init = std::function<Leaves(BatchSize)>;  // creates the initial value; null if the value is given

  State(StateKind kind, Leaves leaves);
  State(StateKind kind, Init init);

  StateKind kind() const;
  bool      is_hidden() const;
  bool      is_param() const { return kind() == StateKind::Param; }
  bool      initialized() const;
  // Resets the value, with the initializer or to the initial value, which is that of one sample: with a batch it is
  // repeated along a new leading axis (scalars are shared). No effect on parameters and long-term states.
  void init(BatchSize batch) const;
  // The same with the batch size of the last init; inside a vmap that maps this state, the value of one sample.
  void reset() const;

  Tensor                   value() const { return leaf(""); }
  Tensor                   leaf(const std::string& name) const;
  Type                     type(const std::string& leaf = "") const;  // without using the value
  std::vector<std::string> leaf_names() const;
  bool                     has_leaf(const std::string& name) const;
  void                     set(const Tensor& value) const { set_leaf("", value); }
  void                     set_leaf(const std::string& name, const Tensor& value) const;

  // Throws UserError if the tensor cannot become the value.
  void check_storable(const Tensor& value) const;
  // The location of the state in its model, for messages: "state 'rnn.h'".
  std::string place() const;

  // Names of the slots on the last axis of a HiddenTree state.
  const std::vector<std::string>& slots() const;

  const std::shared_ptr<StateCell>& cell() const { return cell_; }
  bool                              operator==(const State&) const = default;

 protected:
  std::shared_ptr<StateCell> cell_;

 private:
  friend class StateFrame;
  const Tensor& stored(const std::string& name) const;  // outside frames, or in the frame where the state was created
  void          check_known() const;  // throws if an update uses a state that no module has registered
  void          check_alive() const;  // outside frames
};

// One tensor of a state.
struct StateLeaf {
  State       state;
  std::string leaf;

  Tensor      value() const { return state.leaf(leaf); }
  void        set(const Tensor& t) const { state.set_leaf(leaf, t); }
  std::string place() const;  // "state 'rnn.w' (leaf 'bias')"
  bool        operator==(const StateLeaf&) const = default;
};

using StateSet = std::set<const StateCell*>;

// An owner that temporarily holds leaves of states: a jitted function, from call to call.
class StateHolder {
 public:
  virtual ~StateHolder() = default;
  virtual void settle()  = 0;  // returns all of them
};

// Where a state or module is registered.
struct Place {
  std::weak_ptr<ModuleNode> owner;
  std::string               name;
};

// The value of a State, and its locations in models (for messages).
struct StateCell {
  StateKind                 kind;
  Leaves                    leaves;  // undefined while `holder` has them: use settled() to read them
  std::atomic<StateHolder*> holder = nullptr;
  State::Init               init;
  Leaves                    first;             // initial value, if there is no initializer
  BatchSize                 batch;             // of the last init
  bool                      is_new   = false;  // not written since the last init
  bool                      is_local = false;  // created inside an update
  uint64_t                  home     = 0;      // the trace in which it was created, or none
  // States that this one describes: traces describe hidden states.
  std::vector<std::weak_ptr<StateCell>> follows;
  std::vector<std::string>              slots;
  std::vector<Place>                    places;  // newest last; empty if it is not registered

  Leaves& settled() {
    if (StateHolder* h = holder) h->settle();
    return leaves;
  }
};

// A trainable weight. The operation that reads it determines whether it learns online.
struct ParamState : State {
  explicit ParamState(Tensor value) : State(StateKind::Param, Leaves{{"", std::move(value)}}) {}
  explicit ParamState(Leaves leaves) : State(StateKind::Param, std::move(leaves)) {}
};
// A value that is carried from step to step, but is not part of the recurrence that traces follow.
struct ShortTermState : State {
  explicit ShortTermState(Tensor value) : State(StateKind::ShortTerm, Leaves{{"", std::move(value)}}) {}
  explicit ShortTermState(Init init) : State(StateKind::ShortTerm, std::move(init)) {}

 protected:
  using State::State;
};
// A recurrent state: eligibility traces follow it.
struct HiddenState : ShortTermState {
  explicit HiddenState(Tensor value) : ShortTermState(StateKind::Hidden, Leaves{{"", std::move(value)}}) {}
  explicit HiddenState(Init init) : ShortTermState(StateKind::Hidden, std::move(init)) {}

 protected:
  using ShortTermState::ShortTermState;
};
// Several recurrent states stacked on the last axis of one tensor.
struct HiddenGroupState : HiddenState {
  explicit HiddenGroupState(Tensor value) : HiddenState(StateKind::HiddenGroup, Leaves{{"", std::move(value)}}) {}
  explicit HiddenGroupState(Init init) : HiddenState(StateKind::HiddenGroup, std::move(init)) {}

 protected:
  using HiddenState::HiddenState;
};
// A HiddenGroupState whose slots have names.
struct HiddenTreeState : HiddenGroupState {
  HiddenTreeState(Tensor value, std::vector<std::string> slots)
      : HiddenGroupState(StateKind::HiddenTree, Leaves{{"", std::move(value)}}) {
    cell_->slots = std::move(slots);
  }
  // One slot of the stacked tensor.
  Tensor slot(const std::string& name) const;
};
// A value kept for the life of the model (running statistics, counters).
struct LongTermState : State {
  explicit LongTermState(Tensor value) : State(StateKind::LongTerm, Leaves{{"", std::move(value)}}) {}
};

std::string_view name_of(StateKind kind);  // "HiddenState", …

}  // namespace braintrace
