// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/loops.h"

#include <algorithm>

#include "braintrace/control/cond.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::detail {

namespace {

using StateLeaves = std::vector<StateLeaf>;

// Position of a leaf, or the size when it is not there.
size_t index_of(const StateLeaves& leaves, const StateLeaf& leaf) {
  return static_cast<size_t>(std::find(leaves.begin(), leaves.end(), leaf) - leaves.begin());
}

// Present values of written states. One that has no value yet starts from zeros: the body writes before it reads.
Tensors values_before(const char* where, const StatefulProgram& body) {
  Tensors out;
  for (size_t i = 0; i < body.writes.size(); ++i) {
    const StateLeaf& leaf  = body.writes[i];
    const Type       after = body.write_type(i);
    out.push_back(leaf.state.has_leaf(leaf.leaf) ? leaf.value() : Tensor(after, 0));
    require(out.back().type() == after,
            "{}: {} is {} before the loop and {} after one step; a state keeps its type.\n"
            "  Initialise it with the type it will have, for instance with the batch size.",
            where, leaf.place(), to_string(out.back().type()), to_string(after));
  }
  return out;
}

// The states a program reads: carried ones come from `carried`, the others from outside.
struct Reads {
  std::vector<size_t> carried;  // index among the carried states, or their number
  Tensors             outside;

  Reads(const StatefulProgram& p, const StateLeaves& written) : outside(p.inputs({})) {
    for (const StateLeaf& leaf : p.reads) carried.push_back(index_of(written, leaf));
  }
  Tensors values(const Tensor* states, size_t num_states) const {
    Tensors out = outside;
    for (size_t i = 0; i < out.size(); ++i)
      if (carried[i] < num_states) out[i] = states[carried[i]];
    return out;
  }
};

int64_t loop_length(const char* where, const Tensors& xs, const ScanOptions& options) {
  int64_t length = options.length;
  for (const Tensor& x : xs) {
    require(x.rank() > 0, "{}: an input is {}; inputs need a leading axis to loop over.", where, to_string(x.type()));
    if (length < 0) length = x.shape()[0];
    require(x.shape()[0] == length, "{}: an input is {} but the loop has {} steps; leading axes must agree.", where,
            to_string(x.type()), length);
  }
  require(length >= 0, "{}: without inputs the number of steps is unknown; set .length.", where);
  return length;
}

Tensors slice_of(const Tensors& t, size_t from, size_t to) {
  return {t.begin() + static_cast<int64_t>(from), t.begin() + static_cast<int64_t>(to)};
}

// A branch of cond, and the bare C++ numbers among its results.
struct Branch {
  Tensors         numbers;  // undefined where the result has a type of its own
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

  // It leaves the state as a learner left it, here or before.
  bool leaves(const StateLeaf& leaf) const {
    const size_t k = index_of(p.writes, leaf);
    return k < p.writes.size() ? p.is_left[k] : StateFrame::meet(leaf).how != StateFrame::Met::Changed;
  }

  // (args) → (results, values of all states in `written`)
  Tensors run(const Tensors& args, const Tensors& reads, const StateLeaves& written, const Tensors& before) const {
    const Tensors out     = replay(p.program, p.constants, concatenated(args, reads));
    Tensors       results = slice_of(out, 0, p.num_results);
    for (size_t i = 0; i < results.size(); ++i)
      if (numbers[i].defined()) results[i] = numbers[i];
    for (size_t i = 0; i < written.size(); ++i) {
      const size_t k = index_of(p.writes, written[i]);
      results.push_back(k < p.writes.size() ? out[p.num_results + k] : before[i]);
    }
    return results;
  }
};

void check_branches(const Branch& yes, const Branch& no) {
  const Types a = yes.result_types(), b = no.result_types();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    require(a[i] == b[i], "cond: result {} is {} where the predicate holds and {} otherwise; both must have one type.",
            i, to_string(a[i]), to_string(b[i]));
}

// States written by either branch, their present values, and a check that each branch leaves the same types.
StateLeaves written_by_either(const Branch& yes, const Branch& no, Tensors& before) {
  StateLeaves written = yes.p.writes;
  for (const StateLeaf& leaf : no.p.writes)
    if (index_of(written, leaf) == written.size()) written.push_back(leaf);
  for (const StateLeaf& leaf : written) {
    const size_t in_yes = index_of(yes.p.writes, leaf), in_no = index_of(no.p.writes, leaf);
    const bool   both = in_yes < yes.p.writes.size() && in_no < no.p.writes.size();
    require(both || leaf.state.has_leaf(leaf.leaf),
            "cond: {} gets its first value in one branch only; initialise it before.", leaf.place());
    before.push_back(leaf.state.has_leaf(leaf.leaf) ? leaf.value() : Tensor());
    const Type a = in_yes < yes.p.writes.size() ? yes.p.write_type(in_yes) : before.back().type();
    const Type b = in_no < no.p.writes.size() ? no.p.write_type(in_no) : before.back().type();
    require(a == b, "cond: {} becomes {} where the predicate holds and {} otherwise; a state needs one type.",
            leaf.place(), to_string(a), to_string(b));
  }
  return written;
}

}  // namespace

void check_structure(const char* where, const char* what, const std::string& want, const std::string& got) {
  require(want == got,
          "{}: {} changes its structure (the size of a vector, the keys of a map, or a static value);\n"
          "  only tensors may change from step to step or between branches.",
          where, what);
}

ScanOutcome run_scan(const char* where, const Function& f, const Tensors& carry, const Tensors& xs,
                     const ScanOptions& options) {
  check_arguments(where, concatenated(carry, xs));
  const int64_t length = loop_length(where, xs, options);
  const size_t  n      = carry.size();
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
  after.resize(n);
  require_same_carry(where, types_of(carry), after);
  const Tensors before = values_before(where, p);
  const Reads   reads(p, p.writes);

  // The scan carries (carry, written states).
  const ScanBody body = [&](const Tensors& c, const Tensors& x) -> ScanResult {
    const Tensors args = concatenated(slice_of(c, 0, n), x);
    const Tensors out  = replay(p.program, p.constants, concatenated(args, reads.values(c.data() + n, before.size())));
    return {concatenated(slice_of(out, 0, n), slice_of(out, p.num_results, out.size())),
            slice_of(out, n, p.num_results)};
  };
  const ScanResult r = scan(body, concatenated(carry, before), xs, {.length = length, .reverse = options.reverse});
  p.store(concatenated(Tensors(p.num_results), slice_of(r.carry, n, r.carry.size())));
  return {slice_of(r.carry, 0, n), r.ys};
}

Tensors run_cond(const Tensor& pred, const Function& if_true, const Function& if_false, const Tensors& args) {
  check_arguments("cond", args);
  Branch yes(types_of(args), if_true), no(types_of(args), if_false);
  yes.yield_to(no);
  no.yield_to(yes);
  check_branches(yes, no);
  Tensors           before;
  const StateLeaves written   = written_by_either(yes, no, before);
  const Tensors     yes_reads = yes.p.inputs({}), no_reads = no.p.inputs({});

  const Function a   = [&](const Tensors& in) { return yes.run(in, yes_reads, written, before); };
  const Function b   = [&](const Tensors& in) { return no.run(in, no_reads, written, before); };
  const Tensors  out = cond(pred, a, b, args);
  const size_t   n   = yes.p.num_results;
  for (size_t i = 0; i < written.size(); ++i) written[i].state.check_storable(out[n + i]);
  for (size_t i = 0; i < written.size(); ++i) {
    const bool left = yes.leaves(written[i]) && no.leaves(written[i]);
    written[i].set(out[n + i]);
    if (left) StateFrame::leave(written[i]);
  }
  return slice_of(out, 0, n);
}

Tensors run_while(const Function& go_on, const Function& body, const Tensors& init, const WhileOptions& options) {
  check_arguments("while_loop", init);
  const size_t          n    = init.size();
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
  const Tensors before = values_before("while_loop", step);
  const Reads   test_reads(test, step.writes), step_reads(step, step.writes);

  // The loop carries (value, written states).
  auto run = [&](const StatefulProgram& p, const Reads& reads, const Tensors& c) {
    return replay(p.program, p.constants, concatenated(slice_of(c, 0, n), reads.values(c.data() + n, before.size())));
  };
  const std::function<Tensor(const Tensors&)> test_flat = [&](const Tensors& c) { return run(test, test_reads, c)[0]; };
  const Function                              step_flat = [&](const Tensors& c) { return run(step, step_reads, c); };
  const Tensors                               carried   = concatenated(init, before);
  return step.store(while_loop(test_flat, step_flat, carried, options));
}

}  // namespace braintrace::detail
