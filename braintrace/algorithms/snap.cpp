// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/snap.h"

#include <algorithm>

#include "braintrace/ops/compare.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

// Size of the trailing axes along which neighbors differ. No neighbor is outside its row of the leading axes, so one
// pass of `unit_count` directions covers all rows.
int64_t unit_count(const HiddenGroup& g) {
  const int64_t P     = size_of(g.varshape);
  int64_t       units = P;
  for (int64_t n : g.varshape) {
    const int64_t smaller = units / std::max<int64_t>(n, 1);
    for (int64_t p = 0; p < P; ++p)
      for (int k = 0; k < g.snap->width; ++k)
        if (g.snap->neighbors[p * g.snap->width + k] / smaller != p / smaller) return units;
    units = smaller;
  }
  return units;
}

// If every position of a row reaches every other one, the neighbors of p are all positions of the row in order, and
// D[p] is the Jacobian J of the row: no gather is needed.
struct WholeRows {
  int64_t rows, units;

  // Broadcasts x [rows,*rest] to every position of its row.
  Tensor on_positions(const HiddenGroup& g, const Tensor& x) const {
    Shape shape = x.shape(), laid = g.varshape;
    Ints  axes{0};
    for (int a = 1; a < x.rank(); ++a) {
      axes.push_back(a + 1);
      laid.push_back(shape[static_cast<size_t>(a)]);
    }
    shape.insert(shape.begin() + 1, units);
    return reshape(broadcast_axes(x, shape, axes), laid);
  }
  // [rows,units,units,S]: whether neighbor k of p is p.
  Tensor is_itself(int64_t S) const {
    const Tensor same = equal(iota({units, units}, 0), iota({units, units}, 1));
    return broadcast_axes(same, {rows, units, units, S}, {1, 2});
  }
};
std::optional<WholeRows> whole_rows(const HiddenGroup& g) {
  const int64_t P = size_of(g.varshape), units = unit_count(g);
  const auto&   valid = g.snap->valid;
  if (units != g.snap->width || !std::all_of(valid.begin(), valid.end(), [](bool v) { return v; })) return std::nullopt;
  return WholeRows{P / units, units};
}

Tensor indices(const std::vector<int32_t>& values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor(Array::of<int32_t>(values, {n}));
}

// x [*varshape,*rest] where the pattern has a neighbor, zero elsewhere. Axis `axis` of the rest is (k,a).
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

// Units of a row in classes: no position reads two units of one class, so their columns of J can be added.
std::vector<int32_t> column_classes(const HiddenGroup& g, int64_t units) {
  std::vector<std::vector<int>> reached(static_cast<size_t>(units));  // from each unit, in any row
  for (size_t i = 0; i < g.snap->neighbors.size(); ++i)
    if (g.snap->valid[i])
      reached[i / g.snap->width % reached.size()].push_back(g.snap->neighbors[i] % static_cast<int>(units));
  std::vector<std::vector<bool>> taken;  // units that a class reaches
  std::vector<int32_t>           out;
  for (const std::vector<int>& targets : reached) {
    auto home = std::find_if(taken.begin(), taken.end(), [&](const std::vector<bool>& t) {
      return std::none_of(targets.begin(), targets.end(), [&](int q) { return t[q]; });
    });
    if (home == taken.end()) home = taken.insert(home, std::vector<bool>(reached.size()));
    for (int q : targets) (*home)[q] = true;
    out.push_back(static_cast<int32_t>(home - taken.begin()));
  }
  return out;
}

// D[p,(k,a),(k',b)] = J[q,a,q',b] with q, q' the k-th and k'-th neighbors of p; zero if there is no such neighbor, or
// if q' does not reach q.
Tensor transition(Step& step, int group) {
  const HiddenGroup& g = step.graph().hidden_groups[group];
  if (!g.snap) return step.D(group);
  const int64_t P = size_of(g.varshape), S = g.num_state, K = g.snap->width, units = unit_count(g);
  const auto    class_of = column_classes(g, units);
  const Tensor  columns  = step.class_columns(group, class_of);  // [classes,S,P,S]
  if (!columns.defined()) return {};
  if (const auto whole = whole_rows(g)) {
    const Tensor J = transpose(reshape(columns, {units * S, whole->rows, units * S}), {1, 2, 0});
    return whole->on_positions(g, J);
  }
  // One gather of exactly the elements of D; all that are zero come from one more element.
  std::vector<std::vector<int>> near(static_cast<size_t>(P));
  for (int64_t i = 0; i < P * K; ++i)
    if (g.snap->valid[i]) near[i / K].push_back(g.snap->neighbors[i]);
  const auto reaches = [&](int q, int target) {  // neighbors ascend after the first, which is the position itself
    return q == target || std::binary_search(near[q].begin() + 1, near[q].end(), target);
  };
  Array from({DType::I32, {P * K * S * K * S}});
  auto* next = from.mutable_data<int32_t>();
  for (int64_t p = 0; p < P; ++p)
    for (int64_t i = 0; i < K * S; ++i)
      for (int64_t j = 0; j < K * S; ++j) {
        const auto k = static_cast<size_t>(i / S), l = static_cast<size_t>(j / S);
        const bool is_edge = std::max(k, l) < near[p].size() && reaches(near[p][l], near[p][k]);
        *next++            = static_cast<int32_t>(
            is_edge ? (class_of[near[p][l] % units] * S + j % S) * P * S + near[p][k] * S + i % S : columns.size());
      }
  const Tensor all = concat({reshape(columns, {columns.size()}), zeros({1}, columns.dtype())}, 0);
  return reshape(take(all, Tensor(from)), g.on_positions({K * S, K * S}));
}

// L at every neighbor.
Tensor widened(const HiddenGroup& g, const Tensor& signal) {
  if (!g.snap) return signal;
  const int64_t P = size_of(g.varshape), S = g.num_state, K = g.snap->width;
  if (const auto whole = whole_rows(g)) return whole->on_positions(g, reshape(signal, {whole->rows, K * S}));
  std::vector<int32_t> from;
  for (int64_t p = 0; p < P; ++p)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t a = 0; a < S; ++a) from.push_back(static_cast<int32_t>(g.snap->neighbors[p * K + k] * S + a));
  const Tensor all = take(reshape(signal, {signal.size()}), indices(from));
  return where_valid(g, reshape(all, g.on_positions({K * S})), 0);
}

// D_f at p, which is the first neighbor unless rows are whole, and zero at the other neighbors.
Tensor placed(const HiddenGroup& g, const Tensor& D_f) {
  if (!g.snap || g.snap->width == 1) return D_f;
  const int64_t S = g.num_state, K = g.snap->width;
  if (const auto whole = whole_rows(g)) {
    const Shape  shape{whole->rows, K, K, S};
    const Tensor each = broadcast_axes(reshape(D_f, {whole->rows, K, S}), shape, {0, 1, 3});
    return reshape(select(whole->is_itself(S), each, Tensor(each.type(), 0)), g.on_positions({K * S}));
  }
  return concat({D_f, zeros(g.on_positions({(K - 1) * S}), D_f.dtype())}, -1);
}
// F at p.
Tensor at_itself(const HiddenGroup& g, const Tensor& F) {
  if (!g.snap || g.snap->width == 1) return F;
  const int64_t S = g.num_state, K = g.snap->width;
  if (const auto whole = whole_rows(g)) {
    const Tensor each = reshape(F, {whole->rows, K, K, S});
    return reshape(sum(select(whole->is_itself(S), each, Tensor(each.type(), 0)), Ints{2}), g.on_positions({S}));
  }
  return slice_axis(F, -1, 0, S);
}

}  // namespace

bool reaches_whole_rows(const HiddenGroup& g) { return g.snap && whole_rows(g).has_value(); }

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
  out.place          = placed;
  out.at_place       = at_itself;
  return out;
}

}  // namespace braintrace
