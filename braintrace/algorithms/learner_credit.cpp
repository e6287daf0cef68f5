// SPDX-License-Identifier: Apache-2.0
// Credit of hidden states that a loss outside the model reads before the first call:
//
//   ∇ += ∂ℓ/∂h_{t-1} ∘ ε_{t-1}
//
// For reads inside the model, the backward pass of the step adds the same term.
#include <algorithm>

#include "braintrace/algorithms/compiled_learner.h"
#include "braintrace/base/pack.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

EntryCredit OnlineLearner::entry_credit() {
  const ModuleInfo& info = graph().module_info;
  EntryCredit       out{this, {}, {}, [this](const Tensors& ct) { return recalled(ct); }};
  for (const HiddenVar& h : info.hidden) out.states.push_back({h.state, ""});
  for (const StateLeaf& leaf : info.step.writes)  // hidden states whose old value the model does not read
    if (leaf.state.is_hidden() && !contains(out.states, leaf)) out.states.push_back(leaf);
  for (const WeightVar& w : info.weights) out.params.push_back({w.state, w.leaf});
  return out;
}

Tensors OnlineLearner::recalled(const Tensors& hidden_ct) {
  auto& recall = compiled_->recall;
  if (!recall) recall = build_recall_program(graph(), *rule_);
  const ModuleInfo& info   = graph().module_info;
  const auto        states = entry_credit().states;
  for (size_t h = info.hidden.size(); h < states.size(); ++h)
    require(!hidden_ct[h].defined(),
            "{}: the loss reads the old value of {} outside the model. Nothing in the model reads it, so there is no "
            "trace of it.\n  Read it inside the model, or use etrace_grad, which sees the whole step.",
            rule_->name(), states[h].place());
  require(!recall->reads_arguments,
          "{}: the loss reads an old state outside the model, and what the traces mean for a weight depends on the "
          "input of the step.\n  Read the state inside the model, or use etrace_grad, which sees the whole step.",
          rule_->name());
  const Program&        p     = recall->recall.program;
  const Types           types = p.types_of(p.args);
  RecallInputs<Tensors> given;
  given.memory = memory();
  for (size_t i = 0; i < info.step.num_args; ++i) given.args.emplace_back(types[i], 0);
  for (const StateLeaf& leaf : info.step.reads) given.states.push_back(leaf.value());
  for (size_t h = 0; h < info.hidden.size(); ++h)
    given.credit.push_back(hidden_ct[h].defined() ? hidden_ct[h] : Tensor(info.hidden[h].state.value().type(), 0));
  const Tensors in = joined(given);

  // In an ETraceVmap, states and memory have a leading lane axis; the gradients are summed over it.
  std::optional<int64_t> lanes;
  Mask                   batched(p.constants.size(), false);
  for (size_t i = 0; i < in.size(); ++i) {
    batched.push_back(in[i].type() != types[i]);
    if (batched.back()) lanes = in[i].shape()[0];
  }
  if (!lanes) return replay(p, recall->recall.constants, in);
  const VmapResult r = vmap(p, joined(recall->recall.constants, in), batched, *lanes);
  Tensors          out;
  for (size_t w = 0; w < r.out.size(); ++w) out.push_back(r.batched[w] ? sum(r.out[w], Ints{0}) : Tensor());
  return out;
}

}  // namespace braintrace
