// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/etrace_vmap.h"

#include "braintrace/functions/vmap.h"
#include "braintrace/ops/move.h"

namespace braintrace {

ETraceVmap::ETraceVmap(OnlineLearner& learner, int64_t batch_size) : learner_(&learner), batch_size_(batch_size) {
  require(batch_size > 0, "ETraceVmap: the batch size must be positive, got {}.", batch_size);
  const ModuleInfo& info = learner.graph().module_info;
  for (const auto& [path, state] : learner.model().states())
    for (const StateLeaf& w : info.step.writes)
      if (w.state == state && (lanes_.empty() || lanes_.back().second != state)) lanes_.emplace_back(path, state);
  for (const auto& entry : learner.memory_states()) lanes_.push_back(entry);
  spread();
  types_ = types();
}

ETraceVmap::ETraceVmap(std::unique_ptr<OnlineLearner> learner, int64_t batch_size) : ETraceVmap(*learner, batch_size) {
  owned_ = std::move(learner);
}

void ETraceVmap::spread() {
  for (const auto& [path, state] : lanes_)
    for (const std::string& leaf : state.leaf_names()) state.set_leaf(leaf, repeated(state.leaf(leaf), batch_size_));
}

Types ETraceVmap::types() const {
  Types out;
  for (const auto& [path, state] : lanes_)
    for (const std::string& leaf : state.leaf_names()) out.push_back(state.type(leaf));
  return out;
}

void ETraceVmap::check_lanes() const {
  const Types now = types();
  for (size_t i = 0, leaf = 0; i < lanes_.size(); ++i)
    for (size_t end = leaf + lanes_[i].second.leaf_names().size(); leaf < end; ++leaf)
      require(now[leaf] == types_[leaf], ErrorKind::State,
              "learner: state '{}' is {}, but with one sample per lane it was {}.\n"
              "  Reset it with reset() of the learner, or with reset_all_states and the batch size {}.",
              lanes_[i].first.str(), to_string(now[leaf]), to_string(types_[leaf]), batch_size_);
}

void ETraceVmap::reset() {
  reset_all_states(learner_->model());
  learner_->init_etrace_state();
  spread();
}

Tensors ETraceVmap::update(const Tensors& x) {
  for (const Tensor& t : x)
    require(t.rank() > 0 && t.shape()[0] == batch_size_,
            "ETraceVmap: an input is {}; its leading axis must be the {} lanes.", to_string(t.type()), batch_size_);
  check_lanes();
  const auto one = [&](std::vector<Tensor> in) { return learner_->update(in); };
  return vmap(one, {.size = batch_size_, .batched_states = lanes_})(x);
}

}  // namespace braintrace
