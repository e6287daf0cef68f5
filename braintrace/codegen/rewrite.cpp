// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rewrite.h"

#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

Tensors rewrite(Builder& to, const Program& p, const Tensors& in, const Emitter& emit) {
  Tensors values(p.types.size());
  bind_inputs(p, in, values);
  Mask is_used(p.types.size());
  for (const Eqn& e : p.eqns)
    for (Var v : e.in) is_used[v] = true;
  for (Var v : p.results) is_used[v] = true;
  for (const Eqn& e : p.eqns) {
    EqnNote note(p, e);
    scatter(values, e.out, emit(to, p, e, gather(values, e.in), is_used));
  }
  return gather(values, p.results);
}

Program rewritten(const Program& p, const Emitter& emit) {
  return simplify(rebuilt(p, [&](Builder& to, const Tensors& in) { return rewrite(to, p, in, emit); }));
}

}  // namespace braintrace::codegen
