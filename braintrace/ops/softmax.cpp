// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/softmax.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

// The largest element, or 0 where that is not finite: the shift that makes exponentials safe.
Tensor safe_largest(const Tensor& x, const Ints& axes) {
  const Tensor m = stop_gradient(max(x, axes, true));
  return select(is_finite(m), m, 0);
}

Types float_reduced_infer(const Op& op, const Types& in, const Attrs& a) {
  float_infer(op, in, a);
  return nonempty_reduced_infer(op, in, a);
}

Types normalized_infer(const Op& op, const Types& in, const Attrs& a) {
  float_reduced_infer(op, in, a);
  return {in[0]};
}

AxisLinks normalized_depend(const DependArgs& a) {
  AxisLinks   links;
  const Ints& axes = a.attrs[keys::axes];
  for (int i = 0; i < a.in[0].rank(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) links.push_back({i, i + 1, i, i + 1});
  return links;
}

std::vector<Sample> axes_sample(const Op&, Rng& rng) {
  return {{{random_array(rng, {DType::F64, {2, 3, 4}})}, {{keys::axes, {0, 2}}}},
          {{random_array(rng, {DType::F64, {3}})}, {{keys::axes, {0}}}}};
}

consteval Op normalized(Op op) {
  op.infer  = normalized_infer;
  op.batch  = reduced_batch;
  op.depend = normalized_depend;
  op.sample = axes_sample;
  return op;
}

}  // namespace

// y = x - ln Σ e^x,  dy = dx - Σ e^y dx
constinit const Op log_softmax_op = normalized({
    .name   = "log_softmax",
    .doc    = "logarithm of softmax",
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const Tensor z = in[0] - safe_largest(in[0], a[keys::axes]);
      return {z - log(sum(exp(z), a[keys::axes], true))};
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      return {a.tangents[0] - sum(exp(a.out[0]) * a.tangents[0], a.attrs[keys::axes], true)};
    },
});

// y = ln Σ e^x
constinit const Op logsumexp_op = {
    .name   = "logsumexp",
    .doc    = "logarithm of the sum of exponentials over axes",
    .infer  = float_reduced_infer,
    .expand = [](const Op& op, const Tensors& in, const Attrs& a) -> Tensors {
      const Tensor m = safe_largest(in[0], a[keys::axes]);
      const Shape  s = infer(op, {in[0].type()}, a)[0].shape;
      return {log(sum(exp(in[0] - m), a[keys::axes])) + reshape(m, s)};
    },
    .batch    = reduced_batch,
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return a[keys::axes].empty() ? in : Tensors{};
    },
    .depend = reduced_depend,
    .sample = axes_sample,
};

// y = e^x / Σ e^x,  dy = y (dx - Σ y dx)
constinit const Op softmax_op = normalized({
    .name   = "softmax",
    .doc    = "exponentials that sum to one over axes",
    .expand = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      const Tensor e = exp(in[0] - safe_largest(in[0], a[keys::axes]));
      return {e / sum(e, a[keys::axes], true)};
    },
    .jvp = [](const JvpArgs& a) -> Tensors {
      const Tensor &y = a.out[0], &dx = a.tangents[0];
      return {y * (dx - sum(y * dx, a.attrs[keys::axes], true))};
    },
});

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_axes) {
  return reduce_apply(logsumexp_op, x, axes, keep_axes);
}
Tensor log_softmax(const Tensor& x, const Axes& axes) { return reduce_apply(log_softmax_op, x, axes, false); }
Tensor softmax(const Tensor& x, const Axes& axes) { return reduce_apply(softmax_op, x, axes, false); }

const std::vector<const Op*>& softmax_ops() {
  static const std::vector<const Op*> ops = {&log_softmax_op, &logsumexp_op, &softmax_op};
  return ops;
}

}  // namespace braintrace
