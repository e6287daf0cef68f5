// SPDX-License-Identifier: Apache-2.0
// window and stride have one entry per axis of x; an axis with window 1 and stride 1 is kept as it is.
//   y[p] = ⊕_{k < window} x[p·stride + k]
// Padding is an equation before the window.
#include "braintrace/ops/pool.h"

#include <cmath>
#include <limits>

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

using keys::stride;
using keys::window;

bool is_kept(const Attrs& a, int64_t i) { return a[window][i] == 1 && a[stride][i] == 1; }

Shape windows(const Op& op, const Type& x, const Attrs& a) {
  const auto n = x.shape.size();
  require(a[window].size() == n && a[stride].size() == n, "{}: window {} and stride {} need one entry per axis of {}.",
          op.name, to_string(a[window]), to_string(a[stride]), to_string(x));
  Shape s;
  for (size_t i = 0; i < n; ++i) {
    require(a[window][i] >= 1 && a[stride][i] >= 1, "{}: window {} and stride {} must be at least 1 everywhere.",
            op.name, to_string(a[window]), to_string(a[stride]));
    s.push_back(x.shape[i] < a[window][i] ? 0 : (x.shape[i] - a[window][i]) / a[stride][i] + 1);
  }
  return s;
}

Types window_infer(const Op& op, const Types& in, const Attrs& a) { return {{in[0].dtype, windows(op, in[0], a)}}; }

// visit(flat position of the window, offset of its first element, offsets of its elements from there)
template <class Visit>
void for_each_window(const Shape& x, const Shape& out, const Attrs& a, Visit visit) {
  const Ints strides = strides_of(x);
  Ints       steps   = strides;
  for (size_t i = 0; i < steps.size(); ++i) steps[i] *= a[stride][i];
  Ints inside;
  for (IndexWalk k(a[window]); !k.done(); k.next()) inside.push_back(k.dot(strides));
  for (IndexWalk p(out); !p.done(); p.next()) visit(p.flat(), p.dot(steps), inside);
}

// The offset of the first largest element of a window; NaN counts as largest.
template <class View>
int64_t first_largest(const View& v, int64_t base, const Ints& inside) {
  int64_t best = base + inside[0];
  for (int64_t k : inside) {
    const auto x = v[base + k];
    if (x > v[best] || (x != x && v[best] == v[best])) best = base + k;
  }
  return best;
}

Tensors window_batch(const BatchArgs& a) {
  return apply(a.op, {a.in[0]}, {{stride, prepend(1, a.attrs[stride])}, {window, prepend(1, a.attrs[window])}});
}

AxisLinks window_depend(const DependArgs& a) {
  AxisLinks links;
  for (int i = 0; i < a.in[0].rank(); ++i)
    if (is_kept(a.attrs, i)) links.push_back(axis_link(i, i));
  return links;
}

std::vector<Sample> window_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 6, 5}})}, {{stride, {1, 2, 1}}, {window, {1, 3, 2}}}},
          {{random_array(rng, {DType::F64, {7}})}, {{stride, {3}}, {window, {2}}}}};
}

// Kept axes first, then the windowed ones.
Ints kept_first(const Attrs& a, int rank) {
  Ints order;
  for (int i = 0; i < rank; ++i)
    if (is_kept(a, i)) order.push_back(i);
  for (int i = 0; i < rank; ++i)
    if (!is_kept(a, i)) order.push_back(i);
  return order;
}

}  // namespace

// y[p] = Σ_k x[p·stride + k]
constinit const Op window_sum_op = {
    .name  = "window_sum",
    .doc   = "sum over sliding windows",
    .infer = window_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      auto sums = [&]<class View, class Value>(const View& x, Value) {
        std::vector<Value> y(static_cast<size_t>(out[0].size()), Value{});
        for_each_window(in[0].shape(), out[0].shape, a, [&](int64_t p, int64_t base, const Ints& inside) {
          for (int64_t k : inside) y[p] += static_cast<Value>(x[base + k]);
        });
        return y;
      };
      if (is_float(out[0].dtype)) return {from_doubles(out[0], sums(Doubles(in[0]), double{}))};
      const auto y = sums(Integers(in[0]), uint64_t{});  // wraps
      return {from_integers(out[0], std::vector<int64_t>(y.begin(), y.end()))};
    },
    .linearity = Linearity::Joint,
    // ct dilated by the stride and padded with zeros, summed over the same windows at every position.
    .transpose = [](const TransposeArgs& a) -> Tensors {
      if (a.ct[0].size() == 0) return {Tensor(a.types[0], 0)};
      Ints before, after, between;
      for (int i = 0; i < a.types[0].rank(); ++i) {
        const int64_t d = a.attrs[stride][i];
        before.push_back(a.attrs[window][i] - 1);
        between.push_back(d - 1);
        after.push_back(a.types[0].shape[i] - 1 - (a.ct[0].shape()[i] - 1) * d);
      }
      return apply(a.op, {pad(a.ct[0], 0.0, before, after, between)},
                   {{stride, Ints(before.size(), 1)}, {window, a.attrs[window]}});
    },
    .batch    = window_batch,
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return all_equal(a[window], 1) && all_equal(a[stride], 1) ? in : Tensors{};
    },
    .depend = window_depend,
    .sample = window_sample,
};

// Flat position, among the axes that are not kept, of the first largest element of each window.
constinit const Op window_argmax_op = {
    .name  = "window_argmax",
    .doc   = "position of the first largest element of each sliding window",
    .infer = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      return {{DType::I64, windows(op, in[0], a)}};
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      std::vector<int64_t> y(static_cast<size_t>(out[0].size()));
      const Shape&         shape = in[0].shape();
      auto                 find  = [&]<class View>(const View& x) {
        for_each_window(shape, out[0].shape, a, [&](int64_t p, int64_t base, const Ints& inside) {
          int64_t rest = first_largest(x, base, inside), at = 0, scale = 1;
          for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
            const int64_t digit = rest % shape[i];
            rest /= shape[i];
            if (is_kept(a, i)) continue;
            at += digit * scale;
            scale *= shape[i];
          }
          y[p] = at;
        });
      };
      if (is_float(in[0].dtype()))
        find(Doubles(in[0]));
      else
        find(Integers(in[0]));
      return {from_integers(out[0], y)};
    },
    .batch  = window_batch,
    .depend = window_depend,
    .sample = window_sample,
};

// y[p] = max_k x[p·stride + k]     dy[p] = dx at the first maximum
constinit const Op window_max_op = {
    .name  = "window_max",
    .doc   = "maximum over sliding windows",
    .infer = window_infer,
    .eval  = [](const Op&, const Arrays& in, const Attrs& a, const Types& out) -> Arrays {
      auto largest = [&]<class View, class Value>(const View& x, Value) {
        std::vector<Value> y(static_cast<size_t>(out[0].size()));
        for_each_window(in[0].shape(), out[0].shape, a,
                         [&](int64_t p, int64_t base, const Ints& inside) { y[p] = x[first_largest(x, base, inside)]; });
        return y;
      };
      if (is_float(out[0].dtype)) return {from_doubles(out[0], largest(Doubles(in[0]), double{}))};
      return {from_integers(out[0], largest(Integers(in[0]), int64_t{}))};
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      const Ints order = kept_first(a.attrs, a.in[0].rank());
      int64_t    kept  = 0;
      while (kept < a.in[0].rank() && is_kept(a.attrs, order[kept])) ++kept;
      auto flattened = [&](const Tensor& t) {
        const Tensor moved = transpose(t, order);
        return reshape(moved, joined(part(moved.shape(), 0, kept), {size_of(part(moved.shape(), kept, t.rank()))}));
      };
      const Tensor rows  = flattened(a.tangents[0]);
      const Tensor where = flattened(apply1(window_argmax_op, {a.in[0]}, a.attrs));
      Shape        moved;
      for (int64_t i : order) moved.push_back(a.out[0].shape()[i]);
      return {transpose(reshape(take_along_axis(rows, where, kept), moved), inverse(order))};
    },
    .batch    = window_batch,
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return all_equal(a[window], 1) && all_equal(a[stride], 1) ? in : Tensors{};
    },
    .depend = window_depend,
    .sample = window_sample,
};

namespace {

struct Windows {
  Attrs attrs;
  Ints  lo, hi;
};

Windows windows_of(const Tensor& x, const PoolOptions& o, const char* where) {
  const int    rank   = x.rank();
  const size_t n      = o.window.size();
  std::string  layout = o.layout;
  if (layout.empty() && rank >= 2) layout = "N" + std::string(static_cast<size_t>(rank) - 2, 's') + "C";
  Ints spatial;
  for (size_t i = 0; i < layout.size(); ++i)
    if (layout[i] != 'N' && layout[i] != 'C') spatial.push_back(static_cast<int64_t>(i));
  require(
      static_cast<int>(layout.size()) == rank && spatial.size() == n && n > 0,
      "{}: x {} with a window of {} sizes does not fit the layout '{}'; the window needs one size per spatial axis.",
      where, to_string(x.type()), n, layout);
  const Ints step = o.stride.empty() ? o.window : o.stride;
  require(step.size() == n, "{}: stride has {} entries, expected {}, one per spatial axis.", where, step.size(), n);
  for (size_t i = 0; i < n; ++i)
    require(o.window[i] >= 1 && step[i] >= 1, "{}: window {} and stride {} must be at least 1 everywhere.", where,
            to_string(o.window), to_string(step));
  Ints sizes;
  for (int64_t i : spatial) sizes.push_back(x.shape()[i]);
  const Padding p = resolved(o.padding, sizes, o.window, step, where);
  Ints          w(static_cast<size_t>(rank), 1), s = w, lo(static_cast<size_t>(rank), 0), hi = lo;
  for (size_t k = 0; k < n; ++k) {
    w[spatial[k]]  = o.window[k];
    s[spatial[k]]  = step[k];
    lo[spatial[k]] = p.lo[k];
    hi[spatial[k]] = p.hi[k];
  }
  return {{{stride, s}, {window, w}}, lo, hi};
}

Tensor padded(const Tensor& x, double value, const Windows& w) {
  return all_equal(w.lo, 0) && all_equal(w.hi, 0) ? x : pad(x, Tensor(Type{x.dtype(), {}}, value), w.lo, w.hi);
}

double lowest(DType t) {
  if (is_float(t)) return -INFINITY;
  return t == DType::I32   ? std::numeric_limits<int32_t>::min()
         : t == DType::I64 ? static_cast<double>(std::numeric_limits<int64_t>::min())
                           : 0;
}

}  // namespace

Tensor max_pool(const Tensor& x, const PoolOptions& options) {
  const Windows w = windows_of(x, options, "max_pool");
  return apply1(window_max_op, {padded(x, lowest(x.dtype()), w)}, w.attrs);
}

Tensor mean_pool(const Tensor& x, const PoolOptions& options) {
  require(is_float(x.dtype()), "mean_pool: expected floating-point elements, got {}; convert them first.",
          to_string(x.type()));
  const Windows w     = windows_of(x, options, "mean_pool");
  const Tensor  total = apply1(window_sum_op, {padded(x, 0, w)}, w.attrs);
  if (all_equal(w.lo, 0) && all_equal(w.hi, 0)) return total / static_cast<double>(size_of(w.attrs[window]));
  const Tensor elements = padded(Array(ones(x.shape(), DType::F64).array()), 0, w);
  return total / convert(apply1(window_sum_op, {elements}, w.attrs), x.dtype());
}

Tensor sum_pool(const Tensor& x, const PoolOptions& options) {
  const Windows w = windows_of(x, options, "sum_pool");
  return apply1(window_sum_op, {padded(x, 0, w)}, w.attrs);
}

const std::vector<const Op*>& pool_ops() {
  static const std::vector<const Op*> ops = {&window_argmax_op, &window_max_op, &window_sum_op};
  return ops;
}

}  // namespace braintrace
