// SPDX-License-Identifier: Apache-2.0
#include "braintrace/control/call.h"

#include "braintrace/base/rng.h"
#include "braintrace/control/keys.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

using keys::body;

constexpr Key<std::string> name{"name"};

Tensors run(const Op&, const Tensors& in, const Attrs& a) { return replay(*a[body], {}, in); }

}  // namespace

// y = body(x): derivatives and batching are those of the body, in place
constinit const Op call_op = composite({
    .name     = "call",
    .doc      = "a nested program as one equation",
    .operands = "operands...",
    .infer    = [](const Op& op, const Types& in, const Attrs& a) -> Types {
      require_takes(op, "body", *a[body], in);
      return a[body]->types_of(a[body]->results);
    },
    .expand   = run,
    .reach    = [](const Op&, const Attrs& a, const Mask& in) { return result_dependence(*a[body], in); },
    .simplify = run,
    .is_call  = true,
    .sample   = [](const Op&, Rng& rng) -> std::vector<Sample> {
      const Type t{DType::F64, {3}};
      const auto f = std::make_shared<const Program>(trace({t, t}, [](const Tensors& x) -> Tensors {
                                                       return {tanh(x[0] * x[1]), sum(x[1])};
                                                     }).program);
      return {{{random_array(rng, t), random_array(rng, t)}, {{body, f}, {name, std::string("f")}}}};
    },
});

Tensors call(const std::string& called, const Function& f, const Tensors& operands) {
  const Bodies b = close_over({trace(types_of(operands), f)});
  return call(called, b.programs[0], joined(b.captures, operands));
}

Tensors call(const std::string& called, ProgramPtr program, const Tensors& operands) {
  return apply(call_op, operands, {{body, std::move(program)}, {name, called}});
}

const std::vector<const Op*>& call_ops() {
  static const std::vector<const Op*> ops = {&call_op};
  return ops;
}

}  // namespace braintrace
