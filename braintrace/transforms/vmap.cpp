// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/vmap.h"

#include "braintrace/ops/constant.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

VmapResult vmap(const Program& program, const Tensors& in, const Mask& batched, int64_t size) {
  const Mask depends = forward_dependence(program, batched);
  Tensors    values(program.types.size());
  bind_inputs(program, in, values);
  const auto home = innermost_trace(in);
  for (const Eqn& e : program.eqns) {
    EqnNote       note(program, e);
    const Tensors x    = gather(values, e.in);
    const Mask    mask = gather(depends, e.in);
    if (!any_true(mask)) {
      scatter(values, e.out, apply_in(home, *e.op, x, e.attrs));
      continue;
    }
    const Tensors mapped = e.op->batch ? e.op->batch({*e.op, e.attrs, x, mask, size}) : Tensors();
    if (!mapped.empty()) {
      scatter(values, e.out, mapped);
      continue;
    }
    require(e.op->expand, "vmap: {} has no batching rule; map over its operands with a loop instead.", e.op->name);
    const Traced body  = expansion(*e.op, program.types_of(e.in), e.attrs);
    const Mask   inner = joined(Mask(body.constants.size(), false), mask);
    scatter(values, e.out, vmap(body.program, joined(body.constants, x), inner, size, gather(depends, e.out)));
  }
  return {gather(values, program.results), gather(depends, program.results)};
}

Tensors vmap(const Program& program, const Tensors& in, const Mask& batched, int64_t size, const Mask& reached) {
  VmapResult r = vmap(program, in, batched, size);
  for (size_t i = 0; i < r.out.size(); ++i)
    if (reached[i]) r.out[i] = with_batch_axis(r.out[i], r.batched[i], size);
  return r.out;
}

Types with_batch_axis(Types types, const Mask& batched, int64_t size) {
  for (size_t i = 0; i < types.size(); ++i)
    if (batched[i]) types[i].shape.insert(types[i].shape.begin(), size);
  return types;
}

Program vmap_program(const Program& program, const Mask& batched, int64_t size) {
  const Types types = with_batch_axis(program.types_of(program_inputs(program)), batched, size);
  return with_constants_inside(trace(types, [&](const Tensors& args) {
    return vmap(program, args, batched, size, Mask(program.results.size(), true));
  }));
}

}  // namespace braintrace
