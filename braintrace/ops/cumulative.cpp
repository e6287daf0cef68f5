// SPDX-License-Identifier: Apache-2.0
// Derivatives of the nonlinear scans are scans too, in log₂ n doubling steps (Hillis & Steele 1986): after step d
// element i combines the 2d elements that end at i.
#include "braintrace/ops/cumulative.h"

#include <algorithm>
#include <cmath>

#include "braintrace/base/rng.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/lanes.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/scalar_math.h"

namespace braintrace {

namespace {

Types scan_infer(const Op& op, const Types& in, const Attrs& a) {
  require(normalize_axis(a[keys::axis], in[0].rank(), op.name.data()) == a[keys::axis],
          "{}: axis {} must not be negative.", op.name, a[keys::axis]);
  return {in[0]};
}

template <class View, class Value>
std::vector<Value> running(const Array& x, const Attrs& a, Value (*fold)(Value, Value)) {
  const View         v(x);
  const Lanes        lanes(x.shape(), a[keys::axis]);
  const int64_t      n = lanes.length;
  std::vector<Value> y(static_cast<size_t>(x.size()));
  for (int64_t l = 0; l < lanes.count(); ++l) {
    auto place = [&](int64_t j) { return lanes.begin(l) + (a[keys::reverse] ? n - 1 - j : j) * lanes.stride; };
    for (int64_t j = 0; j < n; ++j) y[place(j)] = j == 0 ? v[place(0)] : fold(y[place(j - 1)], v[place(j)]);
  }
  return y;
}

Arrays scan_eval(double (*real)(double, double), int64_t (*integer)(int64_t, int64_t), const Arrays& in, const Attrs& a,
                 const Types& out) {
  if (is_float(out[0].dtype)) return {from_doubles(out[0], running<Doubles>(in[0], a, real))};
  return {from_integers(out[0], running<Integers>(in[0], a, integer))};
}

// Element i - d along the axis (i + d in reverse); `fill` where there is none.
Tensor earlier(const Tensor& x, const Attrs& a, int64_t d, double fill) {
  const int64_t k = a[keys::axis], n        = x.shape()[k];
  Ints          lo(x.shape().size(), 0), hi = lo;
  (a[keys::reverse] ? hi : lo)[k] = d;
  const Tensor part               = a[keys::reverse] ? slice_axis(x, k, d, n) : slice_axis(x, k, 0, n - d);
  return pad(part, fill, lo, hi);
}

// Carries the extreme m, how many elements attain it, and the sum of their tangents; equal elements share.
Tensors extreme_scan_jvp(const JvpArgs& a, const Op& extreme, double worst) {
  Tensor m = a.in[0], count(m.type(), 1), dm = a.tangents[0];
  for (int64_t d = 1; d < m.shape()[a.attrs[keys::axis]]; d *= 2) {
    const Tensor m0 = earlier(m, a.attrs, d, worst), count0 = earlier(count, a.attrs, d, 0),
                 dm0  = earlier(dm, a.attrs, d, 0);
    const Tensor best = elementwise_apply(extreme, {m0, m}), zero = zeros_like(m);
    const Tensor from_0 = equal(m0, best), from_1 = equal(m, best);
    count = select(from_0, count0, zero) + select(from_1, count, zero);
    dm    = select(from_0, dm0, zero) + select(from_1, dm, zero);
    m     = best;
  }
  return {dm / count};
}

std::vector<Sample> scan_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 5, 2}})}, {{keys::axis, int64_t{1}}, {keys::reverse, false}}},
          {{random_array(rng, {DType::F64, {3}})}, {{keys::axis, int64_t{0}}, {keys::reverse, true}}},
          {{random_array(rng, {DType::I32, {2, 3}})}, {{keys::axis, int64_t{1}}, {keys::reverse, false}}}};
}

consteval Op scan_along(Op op) {
  op.infer  = scan_infer;
  op.batch  = shifted_axis_batch;
  op.depend = other_axes_depend;
  if (!op.sample) op.sample = scan_sample;
  return op;
}

Tensor scan_apply(const Op& op, const Tensor& x, int64_t axis, bool reverse) {
  require(x.defined(), ErrorKind::State, "{}: the operand is an undefined tensor; give it a value first.", op.name);
  const int64_t k = normalize_axis(axis, x.rank(), op.name.data());
  return apply1(op, {x}, {{keys::axis, k}, {keys::reverse, reverse}});
}

}  // namespace

// y_i = max x_j over j ≤ i
constinit const Op cummax_op = scan_along({
    .name = "cummax",
    .doc  = "running maximum along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return scan_eval(
          nan_max, [](int64_t s, int64_t x) { return std::max(s, x); }, in, a, out);
    },
    .jvp  = [](const JvpArgs& a) -> Tensors { return extreme_scan_jvp(a, max_op, -INFINITY); },
    .fold = Fold::Max,
});

// y_i = min x_j over j ≤ i
constinit const Op cummin_op = scan_along({
    .name = "cummin",
    .doc  = "running minimum along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return scan_eval(
          nan_min, [](int64_t s, int64_t x) { return std::min(s, x); }, in, a, out);
    },
    .jvp  = [](const JvpArgs& a) -> Tensors { return extreme_scan_jvp(a, min_op, INFINITY); },
    .fold = Fold::Min,
});

// y_i = Π x_j over j ≤ i; d(p q) = dp q + p dq along the scan: no division, so zeros are not a problem
constinit const Op cumprod_op = scan_along({
    .name = "cumprod",
    .doc  = "running product along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return scan_eval([](double s, double x) { return s * x; }, wrap_mul, in, a, out);
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      Tensor p = a.in[0], dp = a.tangents[0];
      for (int64_t d = 1; d < p.shape()[a.attrs[keys::axis]]; d *= 2) {
        const Tensor p0 = earlier(p, a.attrs, d, 1);
        dp              = dp * p0 + p * earlier(dp, a.attrs, d, 0);
        p               = p * p0;
      }
      return {dp};
    },
    .fold   = Fold::Prod,
    .sample = [](const Op& op, Rng& rng) -> std::vector<Sample> {
      auto out = scan_sample(op, rng);
      out.push_back({{Array::of<double>({rng.normal(), 0, rng.normal(), 0, rng.normal()}, {5})},
                     {{keys::axis, int64_t{0}}, {keys::reverse, false}}});
      return out;
    },
});

// y_i = Σ x_j over j ≤ i
constinit const Op cumsum_op = scan_along({
    .name = "cumsum",
    .doc  = "running sum along an axis",
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      return scan_eval([](double s, double x) { return s + x; }, wrap_add, in, a, out);
    },
    .linearity = Linearity::Joint,
    .transpose = [](const TransposeArgs& a) -> Tensors {
      return {apply1(a.op, {a.ct[0]}, a.attrs.with(keys::reverse, !a.attrs[keys::reverse]))};
    },
    .simplify = [](const Op&, const Tensors& in, const Attrs&) -> Tensors {
      return in[0].is_literal(0) ? in : Tensors{};
    },
    .fold = Fold::Sum,
});

Tensor cummax(const Tensor& x, int64_t axis, bool reverse) { return scan_apply(cummax_op, x, axis, reverse); }
Tensor cummin(const Tensor& x, int64_t axis, bool reverse) { return scan_apply(cummin_op, x, axis, reverse); }
Tensor cumprod(const Tensor& x, int64_t axis, bool reverse) {
  return scan_apply(cumprod_op, countable(x), axis, reverse);
}
Tensor cumsum(const Tensor& x, int64_t axis, bool reverse) {
  return scan_apply(cumsum_op, countable(x), axis, reverse);
}

const std::vector<const Op*>& cumulative_ops() {
  static const std::vector<const Op*> ops = {&cummax_op, &cummin_op, &cumprod_op, &cumsum_op};
  return ops;
}

}  // namespace braintrace
