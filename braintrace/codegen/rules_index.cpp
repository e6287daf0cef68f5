// SPDX-License-Identifier: Apache-2.0
// Gathering and scattering by index, sorting, running reductions, positions of extremes. A returned 1 says that an
// index is outside its axis; the host then finds the words for it.
#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"
#include "braintrace/ops/lanes.h"

namespace braintrace::codegen {

namespace {

constexpr Key<int64_t> axis_key{"axis"}, batch_key{"batch"};
constexpr Key<bool>    reverse_key{"reverse"}, descending_key{"descending"};

std::string type_text(DType t) { return std::string(storage_type(t)); }

// Sizes of the flattened axes: x : [B, P, N, Q], indices : [B, K], rows : [B, P, K, Q].
Words row_words(const Site& s) {
  const Shape &x = s.in_type(0).shape, &i = s.in_type(1).shape;
  const auto   nb = s.e.attrs[batch_key], k = s.e.attrs[axis_key];
  return {{"B", str(size_of(Shape(x.begin(), x.begin() + nb)))},
          {"P", str(size_of(Shape(x.begin() + nb, x.begin() + k)))},
          {"N", str(x[k])},
          {"K", str(size_of(Shape(i.begin() + nb, i.end())))},
          {"Q", str(size_of(Shape(x.begin() + k + 1, x.end())))},
          {"x", s.in(0)},
          {"at", s.in(1)},
          {"y", s.out(0)},
          {"T", type_text(s.out_type(0).dtype)},
          {"sum", std::string(sum_type(s.out_type(0).dtype))},
          {"size", str(s.in_type(0).size())}};
}
constexpr std::string_view check = R"(
for (int64_t i = 0; i < $B * $K; ++i) if ((int64_t)$at[i] < 0 || (int64_t)$at[i] >= $N) return 1;
)";

Kernel take_rule(Site& s) {
  Kernel k;
  k.body = filled(std::string(check) + R"(
for (int64_t b = 0; b < $B; ++b)
  for (int64_t p = 0; p < $P; ++p)
    for (int64_t k = 0; k < $K; ++k)
      memcpy($y + ((b * $P + p) * $K + k) * $Q, $x + ((b * $P + p) * $N + $at[b * $K + k]) * $Q, $Q * sizeof($T));
)",
                  row_words(s));
  return k;
}

Kernel scatter_add_rule(Site& s) {
  if (!is_plain(s.out_type(0).dtype)) return {};
  Words words = row_words(s);
  words.emplace_back("u", s.in(2));
  Kernel k;
  k.scratch = std::max<int64_t>(s.in_type(0).size() * 8, 1);
  k.body    = filled(std::string(check) + R"(
$sum* sum = ($sum*)w;
for (int64_t i = 0; i < $size; ++i) sum[i] = ($sum)$x[i];
for (int64_t b = 0; b < $B; ++b)
  for (int64_t p = 0; p < $P; ++p)
    for (int64_t k = 0; k < $K; ++k)
      for (int64_t q = 0; q < $Q; ++q)
        sum[((b * $P + p) * $N + $at[b * $K + k]) * $Q + q] += ($sum)$u[((b * $P + p) * $K + k) * $Q + q];
for (int64_t i = 0; i < $size; ++i) $y[i] = ($T)sum[i];
)",
                     words);
  return k;
}

Words lane_words(const Site& s, const Shape& from, const Shape& to) {
  const int64_t axis = s.e.attrs[axis_key];
  const Lanes   f(from, axis), t(to, axis);
  return {{"lanes", str(f.count())},
          {"stride", str(std::max<int64_t>(f.stride, 1))},
          {"n", str(f.length)},
          {"m", str(t.length)},
          {"x", s.in(0)},
          {"y", s.out(0)},
          {"T", type_text(s.out_type(0).dtype)},
          {"size", str(size_of(to))},
          {"sum", std::string(sum_type(s.out_type(0).dtype))}};
}
// Where lane l begins in arrays with $n or $m elements along the axis.
constexpr std::string_view open_lanes = R"(
for (int64_t l = 0; l < $lanes; ++l) {
  const int64_t from = l / $stride * $n * $stride + l % $stride, to = l / $stride * $m * $stride + l % $stride;
  (void)to;
)";

Kernel take_along_rule(Site& s) {
  Words words = lane_words(s, s.in_type(0).shape, s.out_type(0).shape);
  words.emplace_back("at", s.in(1));
  Kernel k;
  k.body = filled(std::string(open_lanes) + R"(
  for (int64_t i = 0; i < $m; ++i)
    $y[to + i * $stride] = $x[from + bt_clamp_i($at[to + i * $stride], 0, $n - 1) * $stride];
}
)",
                  words);
  return k;
}

Kernel add_along_rule(Site& s) {
  if (!is_plain(s.out_type(0).dtype)) return {};
  Words words = lane_words(s, s.in_type(0).shape, s.out_type(0).shape);
  words.emplace_back("at", s.in(1));
  Kernel k;
  k.scratch = std::max<int64_t>(s.out_type(0).size() * 8, 1);
  k.body =
      filled("$sum* sum = ($sum*)w;\nfor (int64_t i = 0; i < $size; ++i) sum[i] = 0;\n" + std::string(open_lanes) + R"(
  for (int64_t i = 0; i < $n; ++i)
    sum[to + bt_clamp_i($at[from + i * $stride], 0, $m - 1) * $stride] += ($sum)$x[from + i * $stride];
}
for (int64_t i = 0; i < $size; ++i) $y[i] = ($T)sum[i];
)",
             words);
  return k;
}

Kernel running_rule(Site& s) {
  const DType t = s.out_type(0).dtype;
  if (!is_plain(t)) return {};
  Words                  words = lane_words(s, s.in_type(0).shape, s.out_type(0).shape);
  const std::string_view name  = s.e.op->name;
  const std::string      extreme =
      fmt::format("bt_{}{}(sum, ($sum)$x[i])", name == "cummax" ? "max" : "min", is_float(t) ? "" : "_i");
  words.emplace_back("next", filled(name == "cumsum"    ? "sum + ($sum)$x[i]"
                                    : name == "cumprod" ? "sum * ($sum)$x[i]"
                                                        : extreme,
                                    words));
  words.emplace_back("place", s.e.attrs[reverse_key] ? filled("$n - 1 - j", words) : "j");
  Kernel k;
  k.body = filled(std::string(open_lanes) + R"(
  $sum sum = 0;
  for (int64_t j = 0; j < $n; ++j) {
    const int64_t i = from + ($place) * $stride;
    sum = j == 0 ? ($sum)$x[i] : $next;
    $y[i] = ($T)sum;
  }
}
)",
                  words);
  return k;
}

Kernel position_rule(Site& s) {
  const DType t = s.in_type(0).dtype;
  if (!is_plain(t)) return {};
  const bool        max   = s.e.op->name == "argmax";
  const std::string order = max ? "a > b" : "a < b";
  const std::string beats = is_float(t) ? "!(b != b) && (a != a || " + order + ")" : order;
  Words             words = lane_words(s, s.in_type(0).shape, s.in_type(0).shape);
  words.emplace_back("beats", beats);
  words.emplace_back("S", type_text(t));
  Kernel k;
  k.body = filled(std::string(open_lanes) + R"(
  int64_t best = 0;
  for (int64_t j = 1; j < $n; ++j) {
    const $S a = $x[from + j * $stride], b = $x[from + best * $stride];
    if ($beats) best = j;
  }
  $y[l] = ($T)best;
}
)",
                  words);
  return k;
}

// Merge sort of positions, stable.
Kernel sort_rule(Site& s) {
  const DType t = s.in_type(0).dtype;
  if (!is_plain(t)) return {};
  Words words = lane_words(s, s.in_type(0).shape, s.out_type(0).shape);
  // whether the element b must come before a
  const std::string first = s.e.attrs[descending_key] ? "a" : "b", second = s.e.attrs[descending_key] ? "b" : "a";
  const std::string order = first + " < " + second;
  words.emplace_back(
      "before",
      is_float(t) ? filled("!($f != $f) && ($s != $s || $o)", {{"f", first}, {"s", second}, {"o", order}}) : order);
  words.emplace_back("S", type_text(t));
  words.emplace_back("at", s.out(1));
  Kernel k;
  k.scratch = std::max<int64_t>(2 * 8 * s.in_type(0).shape[s.e.attrs[axis_key]], 1);
  k.body    = filled("int64_t* one = (int64_t*)w;\nint64_t* two = one + $n;\n" + std::string(open_lanes) + R"(
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
          right = $before;
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
)",
                     words);
  return k;
}

}  // namespace

const Rules& index_rules() {
  static const Rules rules = {
      {"add_along", add_along_rule}, {"argmax", position_rule},         {"argmin", position_rule},
      {"cummax", running_rule},      {"cummin", running_rule},          {"cumprod", running_rule},
      {"cumsum", running_rule},      {"scatter_add", scatter_add_rule}, {"sort", sort_rule},
      {"take", take_rule},           {"take_along", take_along_rule}};
  return rules;
}

}  // namespace braintrace::codegen
