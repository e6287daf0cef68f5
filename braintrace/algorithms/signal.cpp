// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/signal.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "braintrace/base/lists.h"
#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/einsum.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

constexpr double epsilon = 1e-8;

// t / (‖t‖ + ε), with the norm along one axis.
Tensor normalized(const Tensor& t, int64_t axis) {
  const Tensor v    = convert(t, promote(t.dtype(), DType::F32));  // ε underflows in half precision
  const Tensor norm = sqrt(sum(square(v), Ints{axis})) + epsilon;
  return convert(v / broadcast_to(expand_dims(norm, axis), v.shape()), t.dtype());
}

bool has_any(const HiddenGroup& g, const std::vector<Path>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const Path& p) { return contains(g.hidden_paths, p); });
}

bool carries_trace(const ETraceGraph& graph, int group) {
  const auto sites = trace_sites(graph);
  return std::any_of(sites.begin(), sites.end(), [&](const TraceSite& s) { return s.group == group; });
}

}  // namespace

Tensor LearningSignal::matrix(const ETraceGraph& graph, const HiddenGroup& g, int64_t n_source) const {
  const int64_t n = g.varshape.back();
  Shape         shape{n_source, n};
  if (feedback_.from_output && g.num_state > 1) shape.push_back(g.num_state);
  for (const auto& [path, B] : feedback_.given)
    if (has_any(g, {path})) {
      require(B.shape() == shape, "random feedback: the matrix for '{}' must be {}, got {}.{}", path.str(),
              to_string(shape), to_string(B.shape()),
              shape.size() < 3
                  ? ""
                  : fmt::format("\n  The states on its last axis are: {}.", fmt::join(g.state_names(), ", ")));
      return B;
    }
  const Tensor key = random::key(feedback_.key + static_cast<uint64_t>(g.index));
  return feedback_.scale * random::normal(key, shape, state_dtype(graph, g));
}

// The signal of group g from the output cotangent δ: B δ at every position.
Tensor LearningSignal::output_feedback(const ETraceGraph& graph, const HiddenGroup& g, const Tensor& delta) const {
  const Tensor B = matrix(graph, g, delta.shape().back());
  const Tensor L =
      g.num_state > 1 ? einsum("...l,lka->...ka", {delta, B}) : expand_dims(einsum("...l,lk->...k", {delta, B}), -1);
  return broadcast_to(L, g.on_positions({g.num_state}));
}

Tensors LearningSignal::received(const Step& step, const Tensors& L, const Tensors& ct, const Tensors& aux) const {
  if (is_symmetric()) return L;
  const ETraceGraph& graph = step.graph();
  const Tensor       delta = reads_output() ? normalized(step.output_cotangent(ct), -1) : Tensor();
  Tensors            out   = L;
  for (const HiddenGroup& g : graph.hidden_groups) {
    if (!carries_trace(graph, g.index)) continue;
    Tensor& mine = out[g.index];
    if (is_modulatory()) {
      mine = convert(modulator_of(g, aux.at(0)), mine.dtype());
    } else if (!has_any(g, feedback_.leave_out)) {
      require(!g.varshape.empty(), "random feedback: group {} has no unit axis.", g.index);
      mine = feedback_.from_output
                 ? output_feedback(graph, g, delta)
                 : einsum("...la,lk->...ka", {normalized(mine, -2), matrix(graph, g, g.varshape.back())});
    }
  }
  return out;
}

Tensor modulator_of(const HiddenGroup& g, const Tensor& modulator) {
  const Shape  shape = g.on_positions({g.num_state});
  const Tensor m     = modulator.shape() == g.varshape && !g.varshape.empty() ? expand_dims(modulator, -1) : modulator;
  bool         fits  = m.rank() <= static_cast<int>(shape.size());
  for (int i = 0; fits && i < m.rank(); ++i) {
    const int64_t have = m.shape()[m.rank() - 1 - i];
    fits               = have == 1 || have == shape[shape.size() - 1 - static_cast<size_t>(i)];
  }
  require(
      fits,
      "modulator: its shape {} does not fit group {} ({}).\n  Give a scalar, the shape {} of one state, or one that "
      "broadcasts to {}.",
      to_string(modulator.shape()), g.index, g.hidden_paths.front().str(), to_string(g.varshape), to_string(shape));
  return broadcast_to(m, shape);
}

}  // namespace braintrace
