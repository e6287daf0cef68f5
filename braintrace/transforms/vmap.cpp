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
    const Tensors x = gather(values, e.in);
    Mask          mask;
    for (Var v : e.in) mask.push_back(depends[v]);
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
    const Traced body = expansion(*e.op, program.types_of(e.in), e.attrs);
    Mask         inner(body.constants.size(), false);
    inner.insert(inner.end(), mask.begin(), mask.end());
    const VmapResult r = vmap(body.program, concatenated(body.constants, x), inner, size);
    for (size_t i = 0; i < e.out.size(); ++i)
      values[e.out[i]] = depends[e.out[i]] ? with_batch_axis(r.out[i], r.batched[i], size) : r.out[i];
  }
  VmapResult result{gather(values, program.results), {}};
  for (Var v : program.results) result.batched.push_back(depends[v]);
  return result;
}

Program vmap_program(const Program& program, const Mask& batched, int64_t size) {
  Types types = program.types_of(program_inputs(program));
  for (size_t i = 0; i < types.size(); ++i)
    if (batched[i]) types[i].shape.insert(types[i].shape.begin(), size);
  return with_constants_inside(trace(types, [&](const Tensors& args) {
    VmapResult r = vmap(program, args, batched, size);
    for (size_t i = 0; i < r.out.size(); ++i) r.out[i] = with_batch_axis(r.out[i], r.batched[i], size);
    return r.out;
  }));
}

}  // namespace braintrace
