// SPDX-License-Identifier: Apache-2.0
// CUDA templates, one per routine. $name is a size, a buffer or a type. One thread computes each output, or each lane
// of outputs with a common order of additions, so results do not depend on the number of threads. An out-of-range index
// sets the status, for which the host produces the error message; memory outside is never accessed.
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/cuda/context.h"
#include "braintrace/codegen/events.h"
#include "braintrace/ops/along.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"
#include "braintrace/ops/sparse.h"

namespace braintrace::codegen {

namespace {

// What each of `count` threads does with its index e.
struct Each {
  int64_t     count;
  std::string text;
};

constexpr std::string_view take = R"(
const int64_t q = e % $Q, k = e / $Q % $K, p = e / ($Q * $K) % $P, b = e / ($Q * $K * $P);
const int64_t i = $index;
$y[e] = $x[((b * $P + p) * $N + i) * $Q + q];
)";
// Lane (b, p, q) adds to, or overwrites, its rows in the order of k.
constexpr std::string_view scatter_add_lane = R"(
const int64_t q = e % $Q, p = e / $Q % $P, b = e / ($Q * $P), from = (b * $P + p) * $N * $Q + q;
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $N; ++i) sum[from + i * $Q] = ($sum)$x[from + i * $Q];
for (int64_t k = 0; k < $K; ++k) {
  const int64_t i = $index;
  sum[from + i * $Q] += ($sum)$u[((b * $P + p) * $K + k) * $Q + q];
}
for (int64_t i = 0; i < $N; ++i) $y[from + i * $Q] = ($T)sum[from + i * $Q];
)";
constexpr std::string_view scatter_set_lane = R"(
const int64_t q = e % $Q, p = e / $Q % $P, b = e / ($Q * $P), from = (b * $P + p) * $N * $Q + q;
for (int64_t i = 0; i < $N; ++i) $y[from + i * $Q] = $x[from + i * $Q];
for (int64_t k = 0; k < $K; ++k) {
  const int64_t i = $index;
  $y[from + i * $Q] = $u[((b * $P + p) * $K + k) * $Q + q];
}
)";
// With few lanes, each row searches for the updates that target it.
constexpr std::string_view scatter_add_cell = R"(
const int64_t q = e % $Q, n = e / $Q % $N, p = e / ($Q * $N) % $P, b = e / ($Q * $N * $P);
$sum sum = ($sum)$x[e];
for (int64_t k = 0; k < $K; ++k) {
  const int64_t i = $index;
  if (i == n) sum += ($sum)$u[((b * $P + p) * $K + k) * $Q + q];
}
$y[e] = ($T)sum;
)";
constexpr std::string_view scatter_set_cell = R"(
const int64_t q = e % $Q, n = e / $Q % $N, p = e / ($Q * $N) % $P, b = e / ($Q * $N * $P);
$T value = $x[e];
for (int64_t k = 0; k < $K; ++k) {
  const int64_t i = $index;
  if (i == n) value = $u[((b * $P + p) * $K + k) * $Q + q];
}
$y[e] = value;
)";
// Element i of lane l, in arrays with $n or $m elements along the axis.
constexpr std::string_view take_along = R"(
const int64_t low = e % $stride, l = e / $stride / $m;
$y[e] = $x[(l * $n + @bt_clamp_i($at[e], 0, $n - 1)) * $stride + low];
)";
constexpr std::string_view add_along  = R"(
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $m; ++i) sum[to + i * $stride] = 0;
for (int64_t i = 0; i < $n; ++i)
  sum[to + @bt_clamp_i($at[from + i * $stride], 0, $m - 1) * $stride] += ($sum)$x[from + i * $stride];
for (int64_t i = 0; i < $m; ++i) $y[to + i * $stride] = ($T)sum[to + i * $stride];
)";
// Rank sort: the position of an element is the number of elements before it. Stable.
constexpr std::string_view sort          = R"(
const int64_t low = e % $stride, j = e / $stride % $n, from = e / $stride / $n * $n * $stride + low;
const $S b = $x[e];
int64_t place = 0;
for (int64_t i = 0; i < $n; ++i) {
  const $S a = $x[from + i * $stride];
  place += ($a_first) || (i < j && !($b_first));
}
$y[from + place * $stride] = b;
$at[from + place * $stride] = (int32_t)j;
)";
constexpr std::string_view sparse_dot    = R"(
const int64_t j = e % $m, l = e / $m;
$sum sum = 0;
for (int64_t k = 0; k < $E; ++k) {
  const int64_t to = $to_index, from = $from_index;
  if (to == j && $x[l * $n + from] != 0) sum += ($sum)$v[k] * ($sum)$x[l * $n + from];
}
$y[e] = ($T)sum;
)";
constexpr std::string_view sparse_sample = R"(
const int64_t k = e, to = $to_index, from = $from_index;
$sum sum = 0;
for (int64_t l = 0; l < $L; ++l) sum += ($sum)$a[l * $n + from] * ($sum)$c[l * $m + to];
$y[e] = ($T)sum;
)";
// One warp per row.
constexpr std::string_view event_list = R"(
const int32_t lane = threadIdx.x % 32;
for (int64_t l = t.rank / 32; l < $L; l += t.size / 32) {
  const $T* x = $x + l * $n;
  int32_t *list = $y + l * $length, count = 0, odd = 0;
  for (int64_t first = 0; first < $n; first += 32) {
    const $T value = first + lane < $n ? x[first + lane] : ($T)0;
    const uint32_t events = __ballot_sync(0xffffffffu, value != 0);
    odd |= __ballot_sync(0xffffffffu, !(value - value == 0)) != 0;
    if ($length > 2 && value != 0) list[2 + count + __popc(events & ((1u << lane) - 1))] = (int32_t)(first + lane);
    count += __popc(events);
  }
  if (lane == 0) {
    list[0] = count;
    list[1] = odd;
  }
}
)";
constexpr std::string_view event_rows = R"(
int32_t *list = $y + e * ($B + 1), count = 0;
for (int64_t b = 0; b < $B; ++b)
  if ($x[b * $n + e] != 0) list[++count] = (int32_t)b;
list[0] = count;
)";
// Row l and a block of targets, which begins at the first j with j P / m ≥ the number of the block.
constexpr std::string_view event_dot    = R"(
const int64_t l = e / $P, part = e % $P, low = (part * $m + $P - 1) / $P, high = ((part + 1) * $m + $P - 1) / $P;
const $T* x = $x + l * $n;
const int32_t* events = $events + l * ($n + 2);
$T* y = $y + l * $m;
for (int64_t j = low; j < high; ++j) y[j] = 0;
for (int64_t g = 2; g < 2 + events[0]; ++g) {
  const int64_t i = events[g];
  const $T a = x[i];
  for (int64_t k = $starts[i * $P + part]; k < $starts[i * $P + part + 1]; ++k)
    y[$targets[k]] = $fma($v[$entry], a, y[$targets[k]]);
}
)";
constexpr std::string_view event_update = "$y[e] = $w[e] $sign $u[$from[e]] * $v[$to[e]];\n";
constexpr std::string_view rows_update  = R"(
$T sum = 0;
for (int64_t b = 0; b < $B; ++b) sum = $fma($u[b * $n + $from[e]], $v[b * $m + $to[e]], sum);
$y[e] = $w[e] $sign sum;
)";
// Counters and kinds of draws match ops/random.cpp.
constexpr std::string_view draws = R"(
const int64_t j = e / $n, i = e % $n;
const uint32_t* key = $key + 2 * j;
$y[e] = $draw;
)";

class RoutineText {
 public:
  RoutineText(const Routine& r, const CudaContext& c) : r_(r), c_(c), words_(words_of(r)) {}

  CudaKernelText text() {
    if (r_.op == &event_list_op)
      return {filled(event_list, words_), c_.blocks_for(size("L"), c_.target.blocks.warps())};
    const Each all = each();
    return {cuda_for_each("e", all.count, DType::I64, filled(all.text, words_)), c_.blocks_for(all.count)};
  }

 private:
  int64_t size(std::string_view name) const { return r_.size(name); }
  // An index into an axis of size `n`, checked if required.
  void add_index(std::string_view name, const std::string& index, const std::string& n) {
    words_.emplace_back(name,
                        filled(r_.checks ? fmt::format("bt_checked(f, (int64_t){}, {})", index, n) : index, words_));
  }

  Each each() {
    const auto& op = *r_.op;
    if (&op == &take_op || &op == &scatter_add_op || &op == &scatter_set_op) {
      add_index("index", "$at[b * $K + k]", "$N");
      const int64_t lanes = size("B") * size("P") * size("Q"), updates = lanes * size("K"), cells = lanes * size("N");
      // Any index into an empty axis is out of range.
      if (size("N") == 0) return {updates, "*f.status = 1;\n"};
      if (&op == &take_op) return {updates, std::string(take)};
      if (lanes >= c_.target.blocks.lanes || size("K") == 0)
        return {lanes, std::string(&op == &scatter_add_op ? scatter_add_lane : scatter_set_lane)};
      return {cells, std::string(&op == &scatter_add_op ? scatter_add_cell : scatter_set_cell)};
    }
    if (&op == &sparse_dot_op || &op == &sparse_sample_op) {
      add_index("from_index", "$from[k]", "$n");
      add_index("to_index", "$to[k]", "$m");
      if (size("E") > 0 && (size("n") == 0 || size("m") == 0)) return {size("E"), "*f.status = 1;\n"};
      return &op == &sparse_dot_op ? Each{size("L") * size("m"), std::string(sparse_dot)}
                                   : Each{size("E"), std::string(sparse_sample)};
    }
    if (&op == &event_rows_op) return {size("n"), std::string(event_rows)};
    if (&op == &event_update_op) return {size("E"), std::string(size("B") > 1 ? rows_update : event_update)};
    if (&op == &event_dot_op) return {size("L") * size("P"), std::string(event_dot)};
    if (&op == &take_along_op) return {size("lanes") * size("m"), std::string(take_along)};
    if (&op == &add_along_op) return {size("lanes"), std::string(lane) + std::string(add_along)};
    if (&op == &argmax_op || &op == &argmin_op) return {size("lanes"), std::string(lane) + std::string(position)};
    if (&op == &sort_op) return {size("lanes") * size("n"), std::string(sort)};
    if (op.fold != Fold::None) return {size("lanes"), std::string(lane) + std::string(running)};
    return {size("keys") * size("n"), std::string(draws)};
  }

  const Routine&     r_;
  const CudaContext& c_;
  Words              words_;
};

}  // namespace

CudaKernelText cuda_text(const Routine& r, const CudaContext& c) { return RoutineText(r, c).text(); }

}  // namespace braintrace::codegen
