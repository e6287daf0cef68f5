// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/snap.h"

#include <algorithm>

#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

// Size of the trailing axes along which neighbours differ: no neighbour leaves its row of the leading axes, so one pass
// serves all rows at once.
int64_t unit_count(const HiddenGroup& g) {
  const int64_t P     = size_of(g.varshape);
  int64_t       units = P;
  for (int64_t n : g.varshape) {
    const int64_t smaller = units / std::max<int64_t>(n, 1);
    for (int64_t p = 0; p < P; ++p)
      for (int k = 0; k < g.snap->width; ++k)
        if (g.snap->neighbours[p * g.snap->width + k] / smaller != p / smaller) return units;
    units = smaller;
  }
  return units;
}

Tensor indices(const std::vector<int32_t>& values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor(Array::of<int32_t>(values, {n}));
}

// x [*varshape,*rest] where the pattern has a neighbour, zero elsewhere. Axis `axis` of the rest counts (k,a).
Tensor where_valid(const HiddenGroup& g, const Tensor& x, size_t axis) {
  const auto& valid = g.snap->valid;
  if (std::all_of(valid.begin(), valid.end(), [](bool v) { return v; })) return x;
  std::vector<double> ones;
  for (const bool v : valid) ones.insert(ones.end(), static_cast<size_t>(g.num_state), v);
  Shape shape = x.shape();
  for (size_t i = g.varshape.size(); i < shape.size(); ++i)
    if (i != g.varshape.size() + axis) shape[i] = 1;
  return x * convert(Tensor(Array::of<double>(ones, shape)), x.dtype());
}

// D[p,(k,a),(k',b)] = J[q,a,q',b] with q, q' the neighbours number k, k' of p; zero where there is none.
Tensor transition(Step& step, int group) {
  const HiddenGroup& g = step.graph().hidden_groups[group];
  if (!g.snap) return step.D(group);
  const int64_t P = size_of(g.varshape), S = g.num_state, K = g.snap->width, units = unit_count(g);
  const Tensor  columns = step.unit_columns(group, units);  // [units,S,P,S]
  if (!columns.defined()) return {};
  // As many indices as D has elements: nothing is computed twice.
  Array                from({DType::I32, {P * K * S * K * S}});
  auto*                next = from.mutable_data<int32_t>();
  std::vector<int32_t> column(static_cast<size_t>(K * S));  // where the column (k',b) begins
  for (int64_t p = 0; p < P; ++p) {
    for (int64_t k = 0; k < K; ++k)
      for (int64_t b = 0; b < S; ++b)
        column[k * S + b] = static_cast<int32_t>((g.snap->neighbours[p * K + k] % units * S + b) * P * S);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t a = 0; a < S; ++a) {
        const auto row = static_cast<int32_t>(g.snap->neighbours[p * K + k] * S + a);
        next           = std::transform(column.begin(), column.end(), next, [row](int32_t c) { return c + row; });
      }
  }
  const Shape  shape = g.on_positions({K * S, K * S});
  const Tensor all   = reshape(take(reshape(columns, {columns.size()}), Tensor(from)), shape);
  return where_valid(g, where_valid(g, all, 0), 1);
}

// L of every neighbour.
Tensor widened(const HiddenGroup& g, const Tensor& signal) {
  if (!g.snap) return signal;
  const int64_t        P = size_of(g.varshape), S = g.num_state, K = g.snap->width;
  std::vector<int32_t> from;
  for (int64_t p = 0; p < P; ++p)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t a = 0; a < S; ++a) from.push_back(static_cast<int32_t>(g.snap->neighbours[p * K + k] * S + a));
  const Tensor all = take(reshape(signal, {signal.size()}), indices(from));
  return where_valid(g, reshape(all, g.on_positions({K * S})), 0);
}

}  // namespace

SnapRule::SnapRule(int n, ParamDimOptions options)
    : ParamDimRule({.name = "SnAp", .coupled = true, .sparse_n = n, .reads_output = options.signal.reads_output()},
                   options) {
  require(n >= 1, "SnAp: n must be at least 1, got {}.", n);
  require(!options.leak, "SnAp: its trace follows the Jacobian and takes no leak.");
}

std::optional<TraceRecursion> SnapRule::recursion() const {
  TraceRecursion out = *ParamDimRule::recursion();
  out.D              = transition;
  out.widen          = widened;
  out.place          = [](const HiddenGroup& g, const Tensor& D_f) {  // p itself is the first neighbour
    if (!g.snap || g.snap->width == 1) return D_f;
    return concat({D_f, zeros(g.on_positions({(g.snap->width - 1) * g.num_state}), D_f.dtype())}, -1);
  };
  out.at_place = [](const HiddenGroup& g, const Tensor& F) { return g.snap ? slice_axis(F, -1, 0, g.num_state) : F; };
  return out;
}

}  // namespace braintrace
