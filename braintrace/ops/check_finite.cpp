// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/check_finite.h"

#include <cmath>

#include "braintrace/ops/families.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

constexpr Key<std::string> what_key{"what"};

Types check_infer(const Op&, const Types& in, const Attrs&) { return {in[0]}; }

Arrays check_eval(const Op&, const Arrays& in, const Attrs& attrs, const Types&) {
  const Array &x = in[0], &when = in[1];
  for (int64_t i = 0; i < x.size(); ++i)
    require(
        std::isfinite(at(x, i)),
        "check_finite: {} is not finite: element {} of {} is {}.\n  In call {} since the last reset, step {} of its "
        "window.",
        attrs[what_key], i, to_string(x.type()), at(x, i), at(when, 0), at(when, 1));
  return {x};
}

Tensors check_batch(const BatchArgs& a) {
  const Tensor when = a.batched[1] ? reshape(slice_axis(a.in[1], 0, 0, 1), {2}) : a.in[1];
  return apply(a.op, {with_batch_axis(a.in[0], a.batched[0], a.size), when}, a.attrs);
}

AxisLinks check_depend(const DependArgs& a) { return a.operand == 0 ? elementwise_depend(a) : AxisLinks{}; }

}  // namespace

constinit const Op check_finite_op{
    .name            = "check_finite",
    .doc             = "x, an error when it is not finite",
    .operands        = "x when",
    .infer           = check_infer,
    .eval            = check_eval,
    .linearity       = Linearity::Joint,
    .linear_operands = 1,
    .transpose =
        [](const TransposeArgs& a) {
          return Tensors{a.ct[0], Tensor()};
        },
    .batch  = check_batch,
    .depend = check_depend,
    .sample = [](const Op&, Rng&) -> std::vector<Sample> {
      return {
          {{Array::of<double>({5, -1, 3}, {3}), Array::of<int32_t>({2, 0}, {2})}, Attrs{{what_key, std::string("x")}}}};
    },
};

Tensor checked_finite(const Tensor& x, const Tensor& when, const std::string& what) {
  if (!x.defined() || !is_float(x.dtype())) return x;
  return apply1(check_finite_op, {x, when}, Attrs{{what_key, what}});
}

const std::vector<const Op*>& check_ops() {
  static const std::vector<const Op*> ops = {&check_finite_op};
  return ops;
}

}  // namespace braintrace
