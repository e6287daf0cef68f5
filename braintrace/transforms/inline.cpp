// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/inline.h"

#include "braintrace/ops/constant.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

using Choice = std::function<bool(const Op&)>;

Tensors emit_inlined(Builder& to, const Program& p, const Tensors& in, const Choice& which) {
  Tensors values(p.types.size());
  bind_inputs(p, in, values);
  for (const Eqn& e : p.eqns) {
    EqnNote       note(p, e);
    const Tensors x = gather(values, e.in);
    if (e.op->expand && which(*e.op)) {
      const Traced body = expansion(*e.op, p.types_of(e.in), e.attrs);
      scatter(values, e.out, emit_inlined(to, body.program, concatenated(body.constants, x), which));
    } else {
      scatter(values, e.out,
              to.emit(*e.op, x, map_nested(e.attrs, [&](const Program& nested) { return inlined(nested, which); }),
                      p.types_of(e.out)));
    }
  }
  return gather(values, p.results);
}

}  // namespace

Program rebuilt(const Program& program, const std::function<Tensors(Builder& to, const Tensors& in)>& emit) {
  auto    builder = Builder::open();
  Tensors in;
  for (Var v : program_inputs(program)) in.push_back(builder->argument(program.type(v)));
  Program    p = with_constants_inside(builder->finish(emit(*builder, in)));
  const auto n = static_cast<int64_t>(program.constants.size());
  p.constants.assign(p.args.begin(), p.args.begin() + n);
  p.args.erase(p.args.begin(), p.args.begin() + n);
  return p;
}

Program inlined(const Program& program, const Choice& which) {
  return rebuilt(program, [&](Builder& to, const Tensors& in) { return emit_inlined(to, program, in, which); });
}

Program inline_calls(const Program& program) {
  return inlined(program, [](const Op& op) { return op.name == "call"; });
}
Program expand_composites(const Program& program) {
  return inlined(program, [](const Op&) { return true; });
}

}  // namespace braintrace
