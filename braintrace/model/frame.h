// SPDX-License-Identifier: Apache-2.0
// Tracing functions that read and write states.
//
// A StateFrame is open while a function is traced. The first read of a state leaf makes an argument of the trace;
// writes stay in the frame. Frames nest: an inner frame reads what the outer one holds. When the frame closes, nothing
// outside has changed, also when the function threw.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "braintrace/ir/builder.h"
#include "braintrace/model/state.h"

namespace braintrace {

struct StateLeaf {
  State       state;
  std::string leaf;

  Tensor value() const { return state.leaf(leaf); }
  void   set(const Tensor& t) const { state.set_leaf(leaf, t); }
  bool   operator==(const StateLeaf&) const = default;
};

using Function = std::function<Tensors(const Tensors&)>;

// A function and the states it touches as one pure program:
//   (arguments, values of `reads`) → (results, new values of `writes`)
struct StatefulProgram {
  Program                program;
  Tensors                constants;
  std::vector<StateLeaf> reads;   // in order of first touch
  std::vector<StateLeaf> writes;  // in order of first touch
  size_t                 num_args = 0, num_results = 0;

  // Arguments followed by the present values of the states that are read.
  Tensors inputs(const Tensors& args) const;
  // Splits results from new state values, stores the latter, returns the former.
  Tensors store(const Tensors& outputs) const;
};

// `keep` lists state leaves that become arguments even when the function does not read them.
StatefulProgram trace_function(const Types& args, const Function& f, const std::vector<StateLeaf>& keep = {});

class StateFrame {
 public:
  explicit StateFrame(std::shared_ptr<Builder> trace);
  ~StateFrame();
  StateFrame(const StateFrame&)            = delete;
  StateFrame& operator=(const StateFrame&) = delete;

  static StateFrame* current();  // of this thread; null outside any trace

  Tensor read(const State& state, const std::string& leaf);
  void   write(const State& state, const std::string& leaf, const Tensor& value);

  struct Touched {
    StateLeaf where;
    Tensor    input;  // argument of the trace; undefined when the leaf was written before any read
    Tensor    value;  // present value inside the trace
    bool      written = false;
  };
  const std::vector<Touched>& touched() const { return touched_; }

 private:
  Touched* find(const State& state, const std::string& leaf);

  std::shared_ptr<Builder>                                   trace_;
  StateFrame*                                                outer_;
  std::vector<Touched>                                       touched_;
  std::map<std::pair<const StateCell*, std::string>, size_t> index_;
};

}  // namespace braintrace
