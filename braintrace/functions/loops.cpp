// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/loops.h"

#include <algorithm>

#include "braintrace/control/cond.h"
#include "braintrace/control/nested.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace detail {

void check_structure(const char* where, const char* what, const std::string& want, const std::string& got) {
  require(want == got,
          "{}: {} changes its structure (the size of a vector, the keys of a map, or a static value);\n"
          "  only tensors may change from step to step or between branches.",
          where, what);
}

}  // namespace detail

namespace flat {

namespace {

using StateLeaves = std::vector<StateLeaf>;

// Current values of written states. A state without a value starts from zeros: the body writes before it reads.
Tensors values_before(const char* where, const StatefulProgram& body) {
  Tensors out;
  for (size_t i = 0; i < body.writes.size(); ++i) {
    const StateLeaf& leaf  = body.writes[i];
    const Type       after = body.write_type(i);
    out.push_back(leaf.state.has_leaf(leaf.leaf) ? leaf.value() : Tensor(after, 0));
    require(out.back().type() == after, ErrorKind::State,
            "{}: {} is {} before the loop and {} after one step; a state keeps its type.\n"
            "  Initialize it with the type it will have, for instance with the batch size.",
            where, leaf.place(), to_string(out.back().type()), to_string(after));
  }
  return out;
}

// The states a program reads: carried ones come from `carried`, the others from outside.
struct LoopReads {
  std::vector<size_t> carried;  // index among the carried states, or their number
  Tensors             outside;

  LoopReads(const StatefulProgram& p, const StateLeaves& written) : outside(p.inputs({})) {
    for (const StateLeaf& leaf : p.reads) carried.push_back(index_of(written, leaf));
  }
  Tensors values(const Tensors& states) const {
    Tensors out = outside;
    for (size_t i = 0; i < out.size(); ++i)
      if (carried[i] < states.size()) out[i] = states[carried[i]];
    return out;
  }
};

int64_t loop_length(const char* where, const Tensors& xs, const ScanOptions& options) {
  int64_t length = options.length;
  for (const Tensor& x : xs) {
    require(x.rank() > 0, ErrorKind::Shape, "{}: an input is {}; inputs need a leading axis to loop over.", where,
            to_string(x.type()));
    if (length < 0) length = x.shape()[0];
    require(x.shape()[0] == length, ErrorKind::Shape,
            "{}: an input is {} but the loop has {} steps; leading axes must agree.", where, to_string(x.type()),
            length);
  }
  require(length >= 0, "{}: without inputs the number of steps is unknown; set .length.", where);
  return length;
}

// The carry of a loop, and the results of an iteration.
template <class List>
struct LoopCarry {
  List values, states;
};
template <class List>
struct TurnResults {
  List carry, ys, states;
};

// A branch of cond, and the C++ numbers among its results.
struct Branch {
  Tensors         numbers;  // undefined if the result has a type
  StatefulProgram p;

  Branch(const Types& types, const Function& f)
      : p(trace_function(types, [&](const Tensors& in) {
          Tensors out = f(in);
          for (const Tensor& t : out) numbers.push_back(t.is_weak() && t.is_literal() ? t : Tensor());
          return out;
        })) {}

  // Numbers take the type of what the other branch returns.
  void yield_to(const Branch& other) {
    const Types theirs = other.p.result_types();
    for (size_t i = 0; i < std::min(numbers.size(), theirs.size()); ++i) {
      if (!numbers[i].defined()) continue;
      const bool settle = !other.numbers[i].defined() && theirs[i].shape == numbers[i].shape();
      numbers[i]        = settle ? convert(numbers[i], theirs[i].dtype) : Tensor();
    }
  }
  Types result_types() const {
    Types types = p.result_types();
    for (size_t i = 0; i < types.size(); ++i)
      if (numbers[i].defined()) types[i] = numbers[i].type();
    return types;
  }

  // A learner wrote the final value of the state, here or before.
  bool leaves(const StateLeaf& leaf) const {
    const size_t k = index_of(p.writes, leaf);
    return k < p.writes.size() ? p.is_left_by_learner[k] : origin_of(leaf).from != StateOrigin::From::SomebodyElse;
  }

  // (args) → (results, values of all states in `written`)
  Tensors run(const Tensors& args, const Tensors& reads, const StateLeaves& written, const Tensors& before) const {
    auto out = split(replay(p.program, p.constants, joined(args, reads)), p.result_sizes());
    for (size_t i = 0; i < out.results.size(); ++i)
      if (numbers[i].defined()) out.results[i] = numbers[i];
    Tensors after;
    for (size_t i = 0; i < written.size(); ++i) {
      const size_t k = index_of(p.writes, written[i]);
      after.push_back(k < p.writes.size() ? out.writes[k] : before[i]);
    }
    return joined(out.results, after);
  }
};

void check_branches(const Branch& yes, const Branch& no) {
  const Types a = yes.result_types(), b = no.result_types();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    require(a[i] == b[i],
            "cond: result {} is {} where the predicate holds and {} otherwise; both must have the same type.", i,
            to_string(a[i]), to_string(b[i]));
}

// States written by either branch, their current values, and a check that each branch leaves the same types.
StateLeaves written_by_either(const Branch& yes, const Branch& no, Tensors& before) {
  StateLeaves written = yes.p.writes;
  for (const StateLeaf& leaf : no.p.writes)
    if (!contains(written, leaf)) written.push_back(leaf);
  for (const StateLeaf& leaf : written) {
    const size_t in_yes = index_of(yes.p.writes, leaf), in_no = index_of(no.p.writes, leaf);
    const bool   both = in_yes < yes.p.writes.size() && in_no < no.p.writes.size();
    require(both || leaf.state.has_leaf(leaf.leaf),
            "cond: {} gets its first value in one branch only; initialize it before.", leaf.place());
    before.push_back(leaf.state.has_leaf(leaf.leaf) ? leaf.value() : Tensor());
    const Type a = in_yes < yes.p.writes.size() ? yes.p.write_type(in_yes) : before.back().type();
    const Type b = in_no < no.p.writes.size() ? no.p.write_type(in_no) : before.back().type();
    require(a == b,
            "cond: {} becomes {} where the predicate holds and {} otherwise; a state must have the same type in both.",
            leaf.place(), to_string(a), to_string(b));
  }
  return written;
}

}  // namespace

ScanOutcome run_scan(const char* where, const Function& f, const Tensors& carry, const Tensors& xs,
                     const ScanOptions& options) {
  detail::check_arguments(where, joined(carry, xs));
  const int64_t length = loop_length(where, xs, options);
  Types         types  = types_of(carry);
  for (const Tensor& x : xs) types.push_back({x.dtype(), Shape(x.shape().begin() + 1, x.shape().end())});
  const StatefulProgram p     = trace_function(types,
                                               [&](const Tensors& in) {
                                             Tensors out = f(in);
                                             settle_numbers(out, types_of(carry));
                                             return out;
                                           },
                                               {.purpose = TraceFor::Loop});
  Types                 after = p.result_types();
  after.resize(carry.size());
  require_same_carry(where, types_of(carry), after);
  const Tensors   before = values_before(where, p);
  const LoopReads reads(p, p.writes);

  const LoopCarry<Tensors>  start{carry, before};
  const TurnResults<size_t> n{carry.size(), p.num_results - carry.size(), p.writes.size()};
  const ScanBody            body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
    const auto now = split(c, start);
    const auto out = split(replay(p.program, p.constants, joined(now.values, x, reads.values(now.states))), n);
    return {joined(out.carry, out.states), out.ys};
  };
  const ScanResult r    = scan(body, joined(start), xs, {.length = length, .reverse = options.reverse});
  const auto       last = split(r.carry, start);
  p.store(joined(StatefulResults<Tensors>{Tensors(p.num_results), last.states}));
  return {last.values, r.ys};
}

Tensors run_cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& args) {
  detail::check_arguments("cond", args);
  Branch yes(types_of(args), if_true), no(types_of(args), if_false);
  yes.yield_to(no);
  no.yield_to(yes);
  check_branches(yes, no);
  Tensors           before;
  const StateLeaves written   = written_by_either(yes, no, before);
  const Tensors     yes_reads = yes.p.inputs({}), no_reads = no.p.inputs({});

  const Function a   = [&](const Tensors& in) { return yes.run(in, yes_reads, written, before); };
  const Function b   = [&](const Tensors& in) { return no.run(in, no_reads, written, before); };
  const auto     out = split(cond(pred, a, b, args), StatefulResults<size_t>{yes.p.num_results, written.size()});
  for (size_t i = 0; i < written.size(); ++i) written[i].state.check_storable(out.writes[i]);
  for (size_t i = 0; i < written.size(); ++i) {
    const bool left = yes.leaves(written[i]) && no.leaves(written[i]);
    written[i].set(out.writes[i]);
    if (left) mark_left_by_learner(written[i]);
  }
  return out.results;
}

Tensors run_while(const Function& go_on, const Function& body, const Tensors& init, const WhileOptions& options) {
  detail::check_arguments("while_loop", init);
  const StatefulProgram test = trace_function(types_of(init), go_on);
  require(test.writes.empty(), "while_loop: go_on writes {}; write states in the body only.",
          test.writes.empty() ? "" : test.writes[0].place());
  const StatefulProgram step = trace_function(types_of(init),
                                              [&](const Tensors& in) {
                                                Tensors out = body(in);
                                                settle_numbers(out, types_of(init));
                                                return out;
                                              },
                                              {.purpose = TraceFor::Loop});
  require_same_carry("while_loop", types_of(init), step.result_types());
  const Tensors   before = values_before("while_loop", step);
  const LoopReads test_reads(test, step.writes), step_reads(step, step.writes);

  const LoopCarry<Tensors> start{init, before};
  auto                     run = [&](const StatefulProgram& p, const LoopReads& reads, const Tensors& c) {
    const auto now = split(c, start);
    return replay(p.program, p.constants, joined(now.values, reads.values(now.states)));
  };
  const std::function<Tensor(const Tensors&)> test_flat = [&](const Tensors& c) { return run(test, test_reads, c)[0]; };
  const Function                              step_flat = [&](const Tensors& c) { return run(step, step_reads, c); };
  const Tensors                               carried   = joined(start);  // const: the loop over flat tensors
  return step.store(while_loop(test_flat, step_flat, carried, options));
}

}  // namespace flat

}  // namespace braintrace
