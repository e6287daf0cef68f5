// SPDX-License-Identifier: Apache-2.0
// remat: y = body(x), one equation in every pass. The linear part is the equation (x, dx) → dy and its transpose is
// (x, ct) → cotangents: both hold the whole body, so no common subexpression with the forward run can be found.
#include "braintrace/control/remat.h"

#include "braintrace/base/rng.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/sections.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {

namespace {

Tensors apply_remat(Traced traced, const Tensors& operands) {
  const Bodies b = close_over({pruned(std::move(traced))});
  return apply(remat_op, joined(b.captures, operands), {{keys::body, b.programs[0]}});
}

Pushed remat_push(const JvpArgs& a) {
  const Mask          active = defined_mask(a.tangents);
  const Dual<Tensors> operands{a.in, chosen(a.tangents, active)};
  Mask                live;
  Traced              both = trace(types_of(joined(operands)), [&](const Tensors& args) {
    const auto   in = split(args, operands);
    const Pushed r  = jvp(*a.attrs[keys::body], in.values, spread(in.tangents, active));
    live            = defined_mask(r.tangents);
    return joined(r.out, chosen(r.tangents, live));
  });
  const Tensors       flat = apply_remat(std::move(both), joined(operands));
  const auto          y    = split(flat, Dual<size_t>{live.size(), flat.size() - live.size()});
  return {y.values, spread(y.tangents, live)};
}

Linearized remat_linearize(const LinearizeArgs& a) {
  auto tangent = [in = a.in, body = a.attrs[keys::body]](const Tensors& tangents) {
    const Mask          active = defined_mask(tangents);
    const Dual<Tensors> operands{in, chosen(tangents, active)};
    Mask                live;
    Traced              linear = trace(types_of(joined(operands)), [&](const Tensors& args) {
      const auto   at = split(args, operands);
      const Pushed r  = jvp(*body, at.values, spread(at.tangents, active));
      live            = defined_mask(r.tangents);
      return chosen(r.tangents, live);
    });
    if (!any_true(live)) return Tensors(live.size());
    return spread(apply_remat(std::move(linear), joined(operands)), live);
  };
  return {apply(a.op, a.in, a.attrs), tangent};
}

Tensors remat_transpose(const TransposeArgs& a) {
  const Mask                  fixed = inverted(a.linear);
  const BackOperands<Tensors> operands{chosen(a.in, fixed), a.ct};
  Mask                        live;
  Traced                      back = trace(types_of(joined(operands)), [&](const Tensors& args) {
    const auto    in = split(args, operands);
    const Tensors ct = transpose(*a.attrs[keys::body], {}, spread(in.fixed, fixed), a.linear, in.ct);
    live             = defined_mask(ct);
    return chosen(ct, live);
  });
  if (!any_true(live)) return Tensors(live.size());
  return spread(apply_remat(std::move(back), joined(operands)), live);
}

Mask remat_reach(const Op&, const Attrs& a, const Mask& in) { return result_dependence(*a[keys::body], in); }

Tensors remat_batch(const BatchArgs& a) {
  const Mask reached = remat_reach(a.op, a.attrs, a.batched);
  return apply_remat(
      trace(types_of(a.in),
            [&](const Tensors& args) { return vmap(*a.attrs[keys::body], args, a.batched, a.size, reached); }),
      a.in);
}

}  // namespace

constinit const Op remat_op = {
    .name     = "remat",
    .doc      = "a nested program whose intermediate values are computed again for the derivative",
    .operands = "operands...",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require_takes(op, "body", *a[keys::body], in);
      return a[keys::body]->types_of(a[keys::body]->results);
    },
    .eval = [](const Op&, const Arrays& in, const Attrs& a, const Types&) { return evaluate(*a[keys::body], {}, in); },
    .push = remat_push,
    .linearize = remat_linearize,
    .transpose = remat_transpose,
    .batch     = remat_batch,
    .reach     = remat_reach,
    .sample    = [](const Op&, Rng& rng) -> std::vector<Sample> {
      const Type t{DType::F64, {3}};
      const auto f = std::make_shared<const Program>(trace({t, t}, [](const Tensors& x) -> Tensors {
                                                       return {exp(tanh(x[0] * x[1])), sum(x[1] * x[1])};
                                                     }).program);
      return {{{random_array(rng, t), random_array(rng, t)}, {{keys::body, f}}}};
    },
};

Function remat(const Function& f) {
  return [f](const Tensors& operands) { return apply_remat(trace(types_of(operands), f), operands); };
}

const std::vector<const Op*>& remat_ops() {
  static const std::vector<const Op*> ops = {&remat_op};
  return ops;
}

}  // namespace braintrace
