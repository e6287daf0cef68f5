// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/constant.h"

#include "braintrace/ops/keys.h"

namespace braintrace {

namespace {}  // namespace

// y = keys::array
constinit const Op constant_op = {
    .name     = "constant",
    .doc      = "an array known when the program was made",
    .operands = "",
    .infer    = [](const Op&, const Types&, const Attrs& a) -> Types { return {a[keys::array].type()}; },
    .eval     = [](const Op&, const Arrays&, const Attrs& a, const Types&) -> Arrays { return {a[keys::array]}; },
    .sample   = [](const Op&, Rng&) -> std::vector<Sample> {
      return {{{}, {{keys::array, Array::of<double>({0.5, -2, 3}, {3})}}},
              {{}, {{keys::array, Array::of<int32_t>({4, 1}, {2, 1})}}}};
    },
};

Program with_constants_inside(Traced traced) {
  Program&         p = traced.program;
  std::vector<Eqn> eqns;
  for (size_t i = 0; i < p.constants.size(); ++i)
    eqns.push_back({&constant_op, {}, {p.constants[i]}, {{keys::array, traced.constants[i].array()}}, 0});
  p.constants.clear();
  p.eqns.insert(p.eqns.begin(), eqns.begin(), eqns.end());
  return std::move(p);
}

const std::vector<const Op*>& constant_ops() {
  static const std::vector<const Op*> ops = {&constant_op};
  return ops;
}

}  // namespace braintrace
