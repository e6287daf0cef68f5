// SPDX-License-Identifier: Apache-2.0
// y = w             w : [*V], ones where it is shared   y : [*V]   D_f : [*V,S]
//
//   ε_w : [*V,S]   ∂y_v/∂w = 1 at the place of v
//
// There is no x. The trace has the shape of the hidden group. w has the same axes, with size one along those that share
// it; fold sums over these.
#include "braintrace/etp/element_wise.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index_walk.h"

namespace braintrace {

namespace {

constexpr EtpRules element_wise_rules = {
    .primitive = [](const EtpCall&) -> std::string_view { return "etp_elemwise"; },
    .weights =
        [](const EtpCall&) {
          return std::vector<EtpWeight>{{"weight", 0}};
        },
    .x           = -1,
    .mixes       = false,
    .coefficient = [](const EtpCall& c, int, const Tensors&) -> Tensor { return Tensor(c.y, 1); },
    .spread      = [](const EtpCall&, int, const Tensor& t) -> Tensor { return t; },
    .fold = [](const EtpCall& c, int, const Tensors&, const Tensor& t) -> Tensor { return sum_to(t, c.in[0].shape); },
};

}  // namespace

constinit const Op element_wise_op = composite({
    .name     = "element_wise",
    .doc      = "trainable parameter with one value per position",
    .operands = "weight",
    .expand   = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {in[0]}; },
    .batch    = elementwise_batch,
    .depend   = elementwise_depend,
    .sample   = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      return {{{r({3})}, {}}, {{r({2, 3})}, {}}};
    },
    .etp = &element_wise_rules,
});

Tensor element_wise(const Tensor& weight, const ElementWiseOptions& o) {
  require(!(o.fn && o.weight_fn), "element_wise: both fn and weight_fn are given; they are two names of one option.");
  return apply1(element_wise_op, {transformed(weight, o.fn ? o.fn : o.weight_fn, "element_wise", "weight_fn")});
}

}  // namespace braintrace
