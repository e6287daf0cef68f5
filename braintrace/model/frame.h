// SPDX-License-Identifier: Apache-2.0
// Tracing functions that read and write states.
//
// A StateFrame is open while a function is traced. The first read of a state leaf makes an argument of the trace;
// writes stay in the frame. Frames nest: an inner frame reads what the outer one holds. When the frame closes, nothing
// outside has changed, also when the function threw. A state made while the frame is innermost is at home there: its
// values stay in its cell, and it is neither an input nor an output of the trace.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "braintrace/ir/builder.h"
#include "braintrace/model/state.h"

namespace braintrace {

struct StateLeaf {
  State       state;
  std::string leaf;

  Tensor      value() const { return state.leaf(leaf); }
  void        set(const Tensor& t) const { state.set_leaf(leaf, t); }
  std::string place() const;  // "state 'rnn.w' (leaf 'bias')"
  bool        operator==(const StateLeaf&) const = default;
};

using Function = std::function<Tensors(const Tensors&)>;
using StateSet = std::set<const StateCell*>;

// What a learner adds to the gradients of a derivative that it is called in: the part of states, as the derivative
// found them, in parameters. It knows from its traces how they came about.
struct EntryCredit {
  const void*            learner;
  std::vector<StateLeaf> states, params;
  // Cotangents of the states, undefined where zero, to gradients of the parameters, likewise.
  std::function<Tensors(const Tensors&)> gradients;
};

// A function and the states it touches as one pure program:
//   (arguments, values of `reads`) → (results, new values of `writes`)
struct StatefulProgram {
  Program                program;
  Tensors                constants;
  std::vector<StateLeaf> reads;   // in order of first touch
  std::vector<StateLeaf> writes;  // in order of first touch
  size_t                 num_args = 0, num_results = 0;
  // Where a learner is called inside a derivative; see StateFrame::Met.
  std::vector<bool>        is_learners = {};  // by read: as learners read the state, apart from other reads
  std::vector<bool>        is_left     = {};  // by write: the new value is what a learner left
  std::vector<EntryCredit> credits     = {};

  // Arguments followed by the present values of the states that are read.
  Tensors inputs(const Tensors& args) const;
  Tensor  read_value(size_t index) const;  // of reads[index]
  // Splits results from new state values, stores the latter, returns the former.
  Tensors store(const Tensors& outputs) const;

  Types result_types() const;            // of the function's results
  Type  write_type(size_t index) const;  // of the new value of writes[index]
};

// What a function is traced for: a loop gives the states it writes to its next turn, a derivative ends at its own
// states.
enum class TraceFor : uint8_t { Call, Loop, Derivative };

struct TraceOptions {
  TraceFor               purpose = TraceFor::Call;
  std::vector<StateLeaf> keep    = {};  // become arguments even when the function does not read them
  StateSet               lanes   = {};  // seen inside without their leading axis (vmap)
};
StatefulProgram trace_function(const Types& args, const Function& f, const TraceOptions& options = {});

class StateFrame {
 public:
  explicit StateFrame(std::shared_ptr<Builder> trace, StateSet lanes = {}, TraceFor purpose = TraceFor::Call);
  ~StateFrame();
  StateFrame(const StateFrame&)            = delete;
  StateFrame& operator=(const StateFrame&) = delete;

  static StateFrame* current();  // of this thread; null outside any trace
  const StateFrame*  outer() const { return outer_; }
  // How a learner meets a state inside the innermost derivative. Its traces carry the credit of what it did before, so
  // cotangents of its own states must not go back to earlier calls.
  struct Met {
    enum How : uint8_t {
      Outside,  // no derivative is open
      Found,    // as the derivative found it; `value` is an argument apart from what others read of the state
      Left,     // as a learner left it, in an earlier call or in the turn before of a loop
      Changed,  // written by the function, to `value`
    };
    How    how   = Outside;
    Tensor value = {};
  };
  static Met  meet(const StateLeaf& leaf, const StateSet& of_learner = {});  // the states that are its own
  static void leave(const StateLeaf& leaf);                                  // its present value is what a learner left
  static void add(const EntryCredit& credit);  // to the innermost derivative, once for each learner
  // `value` depends on states of the set as its own trace found them.
  static bool depends(const Tensor& value, const StateSet& states);

  uint64_t serial() const { return trace_->serial(); }
  bool     is_home_of(const State& state) const { return state.cell()->home == serial(); }

  Type   type_of(const State& state, const std::string& leaf);
  Tensor read(const State& state, const std::string& leaf);
  void   write(const State& state, const std::string& leaf, const Tensor& value);
  void   add_names(const State& state, std::set<std::string>& names) const;  // of leaves touched here

  struct Touched {
    StateLeaf where;
    Tensor    input;  // argument of the trace; undefined when the leaf was written before any read
    Tensor    value;  // present value inside the trace
    bool      written = false, left = false;  // left: written by a learner
    StateSet  of_learner  = {};               // of one that counts on it: left also at the end of a loop's turn
    bool      is_learners = false;            // read by learners only
  };
  const std::vector<Touched>&     touched() const { return touched_; }
  const std::vector<EntryCredit>& credits() const { return credits_; }

 private:
  Touched* find(const State& state, const std::string& leaf);
  Tensor   own(const Tensor& value);                                       // under a name that no other state has
  Touched& touch(const StateLeaf& leaf);                                   // reads it at first
  Type     outer_type(const State& state, const std::string& leaf) const;  // as seen inside
  Tensor   found(const StateLeaf& leaf);                                   // as an argument of its own

  std::shared_ptr<Builder>                                   trace_;
  StateSet                                                   lanes_;
  TraceFor                                                   purpose_;
  StateFrame*                                                outer_;
  std::vector<Touched>                                       touched_;
  std::set<Var>                                              taken_;  // values of the trace that states hold or held
  std::vector<EntryCredit>                                   credits_;
  std::map<std::pair<const StateCell*, std::string>, size_t> index_;
};

}  // namespace braintrace
