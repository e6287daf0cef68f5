// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rewrite.h"

#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

Tensors rewrite(Builder& to, const Program& p, const Tensors& in, const Emitter& emit) {
  Tensors values(p.types.size());
  bind_inputs(p, in, values);
  Mask is_used;
  for (int n : uses(p)) is_used.push_back(n > 0);
  for (const Eqn& e : p.eqns) {
    EqnNote       note(p, e);
    const Tensors given = gather(values, e.in);
    Tensors       out   = emit({to, p, e, given, is_used});
    scatter(values, e.out, out.empty() ? to.emit(*e.op, given, e.attrs, p.types_of(e.out)) : out);
  }
  return gather(values, p.results);
}

Program rewritten(const Program& p, const Emitter& emit) {
  return simplify(rebuilt(p, [&](Builder& to, const Tensors& in) { return rewrite(to, p, in, emit); }));
}

}  // namespace braintrace::codegen
