// SPDX-License-Identifier: Apache-2.0
// C templates, one per routine. $name is a size, a buffer or a type. A return value of 1 means that an index is out of
// range; the host then produces the error message.
#include <algorithm>

#include "braintrace/codegen/c/context.h"
#include "braintrace/codegen/c/elements.h"
#include "braintrace/codegen/events.h"
#include "braintrace/ops/along.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sort.h"
#include "braintrace/ops/sparse.h"

namespace braintrace::codegen {

namespace {

constexpr std::string_view check_rows  = R"(
for (int64_t i = 0; i < $B * $K; ++i) if ((int64_t)$at[i] < 0 || (int64_t)$at[i] >= $N) return 1;
)";
constexpr std::string_view take        = R"(
for (int64_t b = 0; b < $B; ++b)
  for (int64_t p = 0; p < $P; ++p)
    for (int64_t k = 0; k < $K; ++k)
      memcpy($y + ((b * $P + p) * $K + k) * $Q, $x + ((b * $P + p) * $N + $at[b * $K + k]) * $Q, $Q * sizeof($T));
)";
constexpr std::string_view scatter_add = R"(
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $size; ++i) sum[i] = ($sum)$x[i];
for (int64_t b = 0; b < $B; ++b)
  for (int64_t p = 0; p < $P; ++p)
    for (int64_t k = 0; k < $K; ++k)
      for (int64_t q = 0; q < $Q; ++q)
        sum[((b * $P + p) * $N + $at[b * $K + k]) * $Q + q] += ($sum)$u[((b * $P + p) * $K + k) * $Q + q];
for (int64_t i = 0; i < $size; ++i) $y[i] = ($T)sum[i];
)";
constexpr std::string_view scatter_set = R"(
for (int64_t i = 0; i < $size; ++i) $y[i] = $x[i];
for (int64_t b = 0; b < $B; ++b)
  for (int64_t p = 0; p < $P; ++p)
    for (int64_t k = 0; k < $K; ++k)
      memcpy($y + ((b * $P + p) * $N + $at[b * $K + k]) * $Q, $u + ((b * $P + p) * $K + k) * $Q, $Q * sizeof($T));
)";
constexpr std::string_view open_lanes  = "for (int64_t e = 0; e < $lanes; ++e) {\n";
constexpr std::string_view take_along  = R"(
  for (int64_t i = 0; i < $m; ++i)
    $y[to + i * $stride] = $x[from + @bt_clamp_i($at[to + i * $stride], 0, $n - 1) * $stride];
}
)";
constexpr std::string_view open_sums   = "$sum* sum = ($sum*)w;\nfor (int64_t i = 0; i < $size; ++i) sum[i] = 0;\n";
constexpr std::string_view add_along   = R"(
  for (int64_t i = 0; i < $n; ++i)
    sum[to + @bt_clamp_i($at[from + i * $stride], 0, $m - 1) * $stride] += ($sum)$x[from + i * $stride];
}
for (int64_t i = 0; i < $size; ++i) $y[i] = ($T)sum[i];
)";
// Stable merge sort of positions.
constexpr std::string_view open_sort     = "int64_t* one = (int64_t*)w;\nint64_t* two = one + $n;\n";
constexpr std::string_view sort          = R"(
  int64_t *p = one, *q = two;
  for (int64_t j = 0; j < $n; ++j) p[j] = j;
  for (int64_t run = 1; run < $n; run *= 2) {
    for (int64_t lo = 0; lo < $n; lo += 2 * run) {
      const int64_t mid = lo + run < $n ? lo + run : $n, hi = lo + 2 * run < $n ? lo + 2 * run : $n;
      int64_t i = lo, j = mid;
      for (int64_t o = lo; o < hi; ++o) {
        int right = i >= mid;
        if (!right && j < hi) {
          const $S a = $x[from + p[i] * $stride], b = $x[from + p[j] * $stride];
          right = $b_first;
        }
        q[o] = right ? p[j++] : p[i++];
      }
    }
    int64_t* r = p; p = q; q = r;
  }
  for (int64_t j = 0; j < $n; ++j) {
    $at[from + j * $stride] = (int32_t)p[j];
    $y[from + j * $stride] = $x[from + p[j] * $stride];
  }
}
)";
constexpr std::string_view check_entries = R"(for (int64_t e = 0; e < $E; ++e)
if ((int64_t)$from[e] < 0 || (int64_t)$from[e] >= $n) return 1;
for (int64_t e = 0; e < $E; ++e)
if ((int64_t)$to[e] < 0 || (int64_t)$to[e] >= $m) return 1;
)";
constexpr std::string_view sparse_dot    = R"(
$sum* sum = ($sum*)w;
for (int64_t l = 0; l < $L; ++l) {
  for (int64_t j = 0; j < $m; ++j) sum[j] = 0;
  for (int64_t e = 0; e < $E; ++e)
    if ($x[l * $n + $from[e]] != 0) sum[$to[e]] += ($sum)$v[e] * ($sum)$x[l * $n + $from[e]];
  for (int64_t j = 0; j < $m; ++j) $y[l * $m + j] = ($T)sum[j];
}
)";
constexpr std::string_view sparse_sample = R"(
for (int64_t e = 0; e < $E; ++e) {
  $sum sum = 0;
  for (int64_t l = 0; l < $L; ++l) sum += ($sum)$a[l * $n + $from[e]] * ($sum)$c[l * $m + $to[e]];
  $y[e] = ($T)sum;
}
)";
// Event lists are used for mostly zero rows, so test eight elements at a time.
constexpr std::string_view event_list      = R"(
for (int64_t l = begin; l < end; ++l) {
  const $T* x = $x + l * $n;
  int32_t *list = $y + l * $length, count = 0, odd = 0;
  for (int64_t i = 0; i < $n; ++i) odd |= !(x[i] - x[i] == 0);
$walk
  list[0] = count;
  list[1] = odd;
}
)";
constexpr std::string_view event_positions = R"(
  int64_t i = 0;
  for (; i + 64 <= $n; i += 64) {
    uint8_t is_event[64];
    for (int lane = 0; lane < 64; ++lane) is_event[lane] = x[i + lane] != 0;
    for (int eight = 0; eight < 64; eight += 8) {
      uint64_t any;
      memcpy(&any, is_event + eight, 8);
      for (int lane = eight; any && lane < eight + 8; ++lane) {
        list[2 + count] = (int32_t)(i + lane);
        count += is_event[lane];
      }
    }
  }
  for (; i < $n; ++i) {
    list[2 + count] = (int32_t)i;
    count += x[i] != 0;
  }
)";
constexpr std::string_view event_count     = R"(
  for (int64_t i = 0; i < $n; ++i) count += x[i] != 0;
)";
constexpr std::string_view event_rows      = R"(
for (int64_t first = begin * $run; first < end * $run && first < $n; first += $run) {
  const int lanes = $n - first < $run ? (int)($n - first) : $run;
  int32_t count[$run] = {0}, *list = $y + first * ($B + 1);
  for (int64_t b = 0; b < $B; ++b) {
    const $T* x = $x + b * $n + first;
    int any = 0;
    for (int lane = 0; lane < lanes; ++lane) any |= x[lane] != 0;
    for (int lane = 0; any && lane < lanes; ++lane)
      if (x[lane] != 0) list[lane * ($B + 1) + ++count[lane]] = (int32_t)b;
  }
  for (int lane = 0; lane < lanes; ++lane) list[lane * ($B + 1)] = count[lane];
}
)";
// A block of targets begins at the first j with j P / m ≥ the number of the block.
constexpr std::string_view open_event_dot = R"(
const int64_t low = (begin * $m + $P - 1) / $P, high = (end * $m + $P - 1) / $P;
for (int64_t l = 0; l < $L; ++l) {
  const $T* x = $x + l * $n;
  const int32_t* events = $events + l * ($n + 2);
  $T* y = $y + l * $m;
)";
// If entries are sorted by target and many sources are nonzero: dense sums over all entries, with interleaved
// accumulators. A non-finite sum may be caused by a zero source (0 · inf), so it is recomputed without zero sources.
constexpr std::string_view by_target = R"(
  if ($dense * (int64_t)events[0] > $n) {
    for (int64_t j = low; j < high; ++j) {
      $T sum[$vector] = {0};
      int64_t e = $ends[j];
      for (; e + $vector <= $ends[j + 1]; e += $vector)
        for (int lane = 0; lane < $vector; ++lane) sum[lane] = $fma($v[e + lane], x[$from[e + lane]], sum[lane]);
      for (; e < $ends[j + 1]; ++e) sum[0] = $fma($v[e], x[$from[e]], sum[0]);
      for (int half = $half; half; half /= 2)
        for (int lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
      y[j] = sum[0];
      if (sum[0] - sum[0] == 0) continue;
      y[j] = 0;
      for (e = $ends[j]; e < $ends[j + 1]; ++e)
        if (x[$from[e]] != 0) y[j] = $fma($v[e], x[$from[e]], y[j]);
    }
    continue;
  }
)";
constexpr std::string_view by_source = R"(
  for (int64_t j = low; j < high; ++j) y[j] = 0;
  for (int64_t g = 2; g < 2 + events[0]; ++g) {
    const int64_t i = events[g];
    const $T a = x[i];
    for (int64_t k = $starts[i * $P + begin]; k < $starts[i * $P + end]; ++k)
      y[$targets[k]] = $fma($v[$entry], a, y[$targets[k]]);
  }
}
)";
// Entries with a zero factor can be skipped only if the update is in place and 0 times the other factor is 0.
// `scattered` is the relative cost of an entry that is not in traversal order.
constexpr std::string_view open_event_update = R"(
const double scattered = $scattered;
const int all = $y != $w || $u_events[1] || $v_events[1];
const double by_u = (double)$u_events[0] / $n, by_v = (double)$v_events[0] / $m$more;
)";
// Iterates over the entries of one end.
constexpr std::string_view event_update = R"(
{
  const int64_t groups = all ? $N : $events[0];
  for (int64_t g = groups * begin / $parts; g < groups * end / $parts; ++g) {
    const int64_t i = all ? g : $events[2 + g];
    const $T a = $near[i];
    $independent for (int64_t k = $starts[i]; k < $starts[i + 1]; ++k)
      $y[$entry] = $w[$entry] $sign a * $far[$index[$entry]];
  }
}
)";
// Batched: for a vector of entries at a time, the sum over the rows in which a target has a nonzero learning signal.
// Uses all rows if a non-finite factor makes 0 · x nonzero.
constexpr std::string_view rows_update  = R"(
int odd = 0;
for (int64_t b = 0; b < $B; ++b) odd |= $u_events[2 * b + 1];
for (int64_t j = $m * begin / $parts; j < $m * end / $parts; ++j) {
  const int32_t* rows = $v_events + j * ($B + 1);
  const int64_t count = odd ? $B : rows[0], last = $v_starts[j + 1];
  if (count == 0 && $y == $w) continue;
  for (int64_t k = $v_starts[j]; k < last; k += $vector) {
    $T sum[$vector] = {0};
    const int lanes = last - k < $vector ? (int)(last - k) : $vector;
    for (int64_t g = 0; g < count; ++g) {
      const int64_t b = odd ? g : rows[1 + g];
      const $T a = $v[b * $m + j], *u = $u + b * $n;
      if (lanes == $vector)
        for (int lane = 0; lane < $vector; ++lane) sum[lane] = $fma(u[$from[k + lane]], a, sum[lane]);
      else
        for (int lane = 0; lane < lanes; ++lane) sum[lane] = $fma(u[$from[k + lane]], a, sum[lane]);
    }
    for (int lane = 0; lane < lanes; ++lane) $y[k + lane] = $w[k + lane] $sign sum[lane];
  }
}
)";
constexpr std::string_view plain_update = R"(
{
  $independent for (int64_t e = $E * begin / $parts; e < $E * end / $parts; ++e)
    $y[e] = $w[e] $sign $u[$from[e]] * $v[$to[e]];
}
)";
// Counters and kinds of draws match ops/random.cpp.
constexpr std::string_view draws = R"(
for (int64_t j = 0; j < $keys; ++j) {
  const uint32_t* key = $key + 2 * j;
  for (int64_t i = 0; i < $n; ++i) $y[j * $n + i] = $draw;
}
)";

std::string joined(std::initializer_list<std::string_view> texts) {
  std::string out;
  for (std::string_view t : texts) out += t;
  return out;
}

// Chooses the cheapest traversal: by source, by target, or all entries in storage order.
std::string event_update_text(const Routine& r, Words& words) {
  const bool by_u = r.has("u_starts"), by_v = !r.has("v_order");  // entries are sorted by this end
  if (r.size("B") > 1) return std::string(rows_update);
  words.emplace_back("more", by_v ? "" : " * scattered");
  const auto along = [&](const Words& end) {
    Words all;
    for (const auto& [name, value] : end) all.emplace_back(name, filled(value, words));
    all.insert(all.end(), words.begin(), words.end());
    return filled(event_update, all);
  };
  const std::string plain   = filled(plain_update, words);
  const std::string along_u = !by_u ? plain
                                    : along({{"N", "$n"},
                                             {"near", "$u"},
                                             {"far", "$v"},
                                             {"index", "$to"},
                                             {"starts", "$u_starts"},
                                             {"events", "$u_events"},
                                             {"entry", "k"}});
  const std::string along_v = along({{"N", "$m"},
                                     {"near", "$v"},
                                     {"far", "$u"},
                                     {"index", "$from"},
                                     {"starts", "$v_starts"},
                                     {"events", "$v_events"},
                                     {"entry", by_v ? "k" : "$v_order[k]"}});
  const std::string test    = by_u ? "if (all || by_u <= by_v) " : "if (all || by_v >= 1) ";
  return std::string(open_event_update) + (by_u || !by_v ? test + along_u + "else " : "") + along_v;
}

std::string template_of(const Routine& r, Words& words) {
  const std::string_view rows = r.checks ? check_rows : "", entries = r.checks ? check_entries : "";
  if (r.op == &take_op) return joined({rows, take});
  if (r.op == &scatter_add_op) return joined({rows, scatter_add});
  if (r.op == &scatter_set_op) return joined({rows, scatter_set});
  if (r.op == &take_along_op) return joined({open_lanes, lane, take_along});
  if (r.op == &add_along_op) return joined({open_sums, open_lanes, lane, add_along});
  if (r.op == &sparse_dot_op) return joined({entries, sparse_dot});
  if (r.op == &sparse_sample_op) return joined({entries, sparse_sample});
  if (r.op == &event_list_op) {
    const bool listed = r.size("length") > 2;
    words.emplace_back("walk", filled(listed ? event_positions : event_count, words));
    return std::string(event_list);
  }
  if (r.op == &event_rows_op) return std::string(event_rows);
  if (r.op == &event_update_op) return event_update_text(r, words);
  if (r.op == &event_dot_op) return joined({open_event_dot, r.has("ends") ? by_target : "", by_source});
  if (r.op == &argmax_op || r.op == &argmin_op) return joined({open_lanes, lane, position, "}\n"});
  if (r.op == &sort_op) return joined({open_sort, open_lanes, lane, sort});
  if (r.op->fold != Fold::None) return joined({open_lanes, lane, running, "}\n"});
  return std::string(draws);
}

}  // namespace

std::string text_of(const Routine& r, const Context& c) {
  const Target& target = target_of(c.dialect);
  Words         words  = words_of(r);
  words.insert(words.end(), {{"independent", std::string(c.independent())},
                             {"vector", str(target.lanes)},
                             {"half", str(target.lanes / 2)},
                             {"dense", str(target.event_dense)},
                             {"scattered", str(target.event_scattered)}});
  const std::string text = template_of(r, words);
  return filled(text, words);
}

}  // namespace braintrace::codegen
