// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/rewrite.h"

#include "braintrace/ops/constant.h"
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
  auto    builder = Builder::open();
  Tensors in;
  for (Var v : program_inputs(p)) in.push_back(builder->argument(p.type(v)));
  Program    out = with_constants_inside(builder->finish(rewrite(*builder, p, in, emit)));
  const auto n   = static_cast<int64_t>(p.constants.size());
  out.constants.assign(out.args.begin(), out.args.begin() + n);
  out.args.erase(out.args.begin(), out.args.begin() + n);
  return simplify(out);
}

}  // namespace braintrace::codegen
