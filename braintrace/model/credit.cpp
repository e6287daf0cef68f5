// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/credit.h"

#include <map>
#include <set>
#include <utility>

#include "braintrace/model/frame.h"
#include "braintrace/ops/math.h"

namespace braintrace {

void add_entry_credit(const EntryCredit& credit) {
  StateFrame* frame = StateFrame::current();
  while (frame && frame->purpose_ != TraceFor::Derivative) frame = frame->outer_;
  if (!frame) return;
  for (const EntryCredit& known : frame->entry_credits_)
    if (known.learner == credit.learner) return;
  frame->entry_credits_.push_back(credit);
}

StateOrigin origin_of(const StateLeaf& leaf, const StateSet& of_learner) {
  using enum StateOrigin::From;
  std::vector<StateFrame::Touched*>
             at_loops;  // iterations of loops see the value before the loop, then that of the previous iteration
  const auto origin = [&](StateOrigin::From from, const Tensor& value = {}) -> StateOrigin {
    for (StateFrame::Touched* t : at_loops) t->of_learner.insert(of_learner.begin(), of_learner.end());
    return {from != SomebodyElse && !at_loops.empty() ? Learner : from, value};
  };
  for (StateFrame* frame = StateFrame::current(); frame; frame = frame->outer_) {
    const StateFrame::Touched* t = frame->find(leaf.state, leaf.leaf);
    if (t && t->written) {
      // In a loop, a value that does not come from the learner is only that of the first iteration.
      const bool left = t->left_by_learner || (!at_loops.empty() && !depends_on_states(t->value, of_learner));
      return left ? origin(Learner) : origin(SomebodyElse, t->value);
    }
    if (frame->is_home_of(leaf.state)) return origin(Learner);  // created inside the trace: only learners use it
    if (frame->purpose_ == TraceFor::Derivative)
      return at_loops.empty() ? origin(BeforeDerivative, StateFrame::current()->read_by_learner(leaf))
                              : origin(Learner);
    if (frame->purpose_ == TraceFor::Loop) at_loops.push_back(&frame->touch(leaf));
  }
  return {};
}

void mark_left_by_learner(const StateLeaf& leaf) {
  if (!StateFrame::current()) return;
  if (StateFrame::Touched* t = StateFrame::current()->find(leaf.state, leaf.leaf)) t->left_by_learner = t->written;
}

bool depends_on_states(const Tensor& value, const StateSet& states) {
  if (states.empty()) return false;
  std::map<std::pair<uint64_t, Var>, bool> found_by_a_frame;  // whether it is a state of the set; innermost frame first
  for (const StateFrame* frame = StateFrame::current(); frame; frame = frame->outer())
    for (const StateFrame::Touched& t : frame->touched())
      if (t.input.defined())
        found_by_a_frame.try_emplace({frame->serial(), t.input.trace_var()},
                                     states.contains(t.where.state.cell().get()));
  std::vector<Tensor>                seen{value};
  std::set<std::pair<uint64_t, Var>> known;
  for (size_t i = 0; i < seen.size(); ++i) {
    const Tensor t = seen[i];
    if (!t.is_traced() || !known.insert({t.trace()->serial(), t.trace_var()}).second) continue;
    const auto found = found_by_a_frame.find({t.trace()->serial(), t.trace_var()});
    if (found != found_by_a_frame.end() && found->second) return true;
    if (const Tensor outside = t.trace()->captured(t.trace_var()); outside.defined()) seen.push_back(outside);
    const Eqn* made = t.trace()->producer(t.trace_var());
    if (made && made->op != &stop_gradient_op)
      for (Var v : made->in) seen.emplace_back(t.trace(), v, t.trace()->type(v));
  }
  return false;
}

}  // namespace braintrace
