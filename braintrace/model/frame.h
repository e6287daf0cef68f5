// SPDX-License-Identifier: Apache-2.0
// Tracing functions that read and write states.
//
// A StateFrame is open while a function is traced. The first read of a state leaf adds an argument to the trace; writes
// stay in the frame. Frames nest: an inner frame reads the values of the outer one. When the frame closes, nothing
// outside has changed, even if the function threw. A state that is created while the frame is innermost belongs to it:
// its values stay in its cell, and it is neither an input nor an output of the trace.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "braintrace/ir/builder.h"
#include "braintrace/model/credit.h"
#include "braintrace/model/state.h"

namespace braintrace {

// Arguments, then values of the states that are read; results, then new values of the states that are written.
template <class List>
struct StatefulInputs {
  List args, reads;
};
template <class List>
struct StatefulResults {
  List results, writes;
};

// A function and the states it touches as one pure program: StatefulInputs → StatefulResults
struct StatefulProgram {
  Program                program;
  Tensors                constants;
  std::vector<StateLeaf> reads;   // in order of first touch
  std::vector<StateLeaf> writes;  // in order of first touch
  size_t                 num_args = 0, num_results = 0;
  // Where a learner is called inside a derivative (credit.h).
  std::vector<bool> is_read_by_learners  = {};  // by read: whether learners read the state, separately from other reads
  std::vector<bool> is_left_by_learner   = {};  // per write: whether a learner wrote the new value
  std::vector<EntryCredit> entry_credits = {};

  // Arguments, followed by the current values of the states that are read.
  Tensors inputs(const Tensors& args) const;
  Tensor  read_value(size_t index) const;  // of reads[index]
  // Splits results from new state values, stores the latter, returns the former.
  Tensors store(const Tensors& outputs) const;

  StatefulInputs<Types>   input_types() const;
  StatefulResults<size_t> result_sizes() const { return {num_results, writes.size()}; }
  Types                   result_types() const;            // of the function's results
  Type                    read_type(size_t index) const;   // of reads[index] when the function was traced
  Type                    write_type(size_t index) const;  // of the new value of writes[index]
};

// The purpose of a trace: a loop passes the states it writes to its next iteration; a derivative ends at its states.
enum class TraceFor : uint8_t { Call, Loop, Derivative };

struct TraceOptions {
  TraceFor               purpose = TraceFor::Call;
  std::vector<StateLeaf> keep    = {};  // become arguments even if the function does not read them
  StateSet               lanes   = {};  // their leading axis is hidden inside the trace (vmap)
};
StatefulProgram trace_function(const Types& args, const Function& f, const TraceOptions& options = {});

class StateFrame {
 public:
  explicit StateFrame(std::shared_ptr<Builder> trace, StateSet lanes = {}, TraceFor purpose = TraceFor::Call);
  ~StateFrame();
  StateFrame(const StateFrame&)            = delete;
  StateFrame& operator=(const StateFrame&) = delete;

  static StateFrame* current();                           // of this thread; null outside any trace
  static bool        hides_batch_of(const State& state);  // inside a vmap that maps it
  const StateFrame*  outer() const { return outer_; }

  uint64_t serial() const { return trace_->serial(); }
  bool     is_home_of(const State& state) const { return state.cell()->home == serial(); }

  Type   type_of(const State& state, const std::string& leaf);
  Tensor read(const State& state, const std::string& leaf);
  void   write(const State& state, const std::string& leaf, const Tensor& value);
  void   add_names(const State& state, std::set<std::string>& names) const;  // of leaves touched here

  struct Touched {
    StateLeaf where;
    Tensor    input;  // argument of the trace; undefined if the leaf was written before any read
    Tensor    value;  // current value inside the trace
    bool      written = false;
    // For learners (credit.h).
    bool     left_by_learner    = false;  // whether a learner wrote the current value
    bool     is_read_by_learner = false;  // whether only learners read it
    StateSet of_learner = {};  // states of a learner that continues with the value in the next iteration of a loop
  };
  const std::vector<Touched>&     touched() const { return touched_; }
  const std::vector<EntryCredit>& entry_credits() const { return entry_credits_; }

 private:
  friend void        add_entry_credit(const EntryCredit& credit);
  friend StateOrigin origin_of(const StateLeaf& leaf, const StateSet& of_learner);
  friend void        mark_left_by_learner(const StateLeaf& leaf);

  Touched* find(const State& state, const std::string& leaf);
  Tensor   own(const Tensor& value);                                       // as a value that no other state holds
  Touched& touch(const StateLeaf& leaf);                                   // reads it if it is new
  Type     outer_type(const State& state, const std::string& leaf) const;  // as seen inside
  Tensor   read_by_learner(const StateLeaf& leaf);                         // as a separate argument

  std::shared_ptr<Builder>                                   trace_;
  StateSet                                                   lanes_;
  TraceFor                                                   purpose_;
  StateFrame*                                                outer_;
  std::vector<Touched>                                       touched_;
  std::set<Var>                                              taken_;  // values of the trace that states hold or held
  std::vector<EntryCredit>                                   entry_credits_;
  std::map<std::pair<const StateCell*, std::string>, size_t> index_;
};

}  // namespace braintrace
