// SPDX-License-Identifier: Apache-2.0
#include "braintrace/train/modulation.h"

#include "braintrace/executor/step.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::train {

namespace {

constexpr double least_rate = 0.01;

// One number per sample, whatever the other axes of the states: all groups must have the same number of axes.
Shape shape_for(const ETraceGraph& graph, int64_t batch) {
  size_t rank = 0;
  for (const TraceSite& site : trace_sites(graph)) {
    const size_t mine = graph.hidden_groups[static_cast<size_t>(site.group)].varshape.size() + 1;
    require(rank == 0 || rank == mine,
            "modulator: hidden states of {} and {} axes cannot share one value per sample; give a number.", rank - 1,
            mine - 1);
    rank = mine;
  }
  Shape shape(rank, 1);
  if (rank > 0) shape[0] = batch;
  return shape;
}

}  // namespace

const std::vector<std::string>& Modulation::sources() {
  static const std::vector<std::string> all = {"loss", "reward"};
  return all;
}

Modulation::Modulation(const std::string& source, bool classes, const ETraceGraph& graph, int64_t batch, DType dtype)
    : reward_(source == "reward"),
      shape_(shape_for(graph, batch)),
      usual_(Tensor(Type{dtype, {}}, 0)),
      count_(Tensor(Type{dtype, {}}, 0)) {
  require(classes || !reward_,
          "modulator: 'reward' is for tasks with classes, but the targets of this task are values; use 'loss'.");
}

Modulation::Costs Modulation::costs(const Tensor& losses, const Tensor& correct, const Tensor& mask) const {
  const Tensor cost  = reward_ ? 1.0 - correct : losses;
  const Tensor asked = sum(mask, {0});
  return {sum(mask * cost, {0}) / maximum(asked, 1.0), convert(greater(asked, zeros_like(asked)), mask.dtype())};
}

void Modulation::move(const Tensor& sum, const Tensor& count) {
  const Tensor R = sum / maximum(count, 1.0);
  const Tensor n = count_.value() + 1.0;
  usual_.set(usual_.value() + maximum(1.0 / n, least_rate) * (R - usual_.value()));
  count_.set(n);
}

Tensor Modulation::modulator(const Costs& costs) const {
  return reshape(costs.is_asked * (costs.of_sample - usual_.value()), shape_);
}

StateMap Modulation::states() const { return {{Path{"usual"}, usual_}, {Path{"count"}, count_}}; }

}  // namespace braintrace::train
