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
      scatter(values, e.out, emit_inlined(to, body.program, joined(body.constants, x), which));
    } else {
      scatter(values, e.out,
              to.emit(*e.op, x, map_nested(e.attrs, [&](const Program& nested) { return inlined(nested, which); }),
                      p.types_of(e.out)));
    }
  }
  return gather(values, p.results);
}

template <class List>
struct Inputs {
  List constants, args;
};

}  // namespace

void args_as_constants(Program& program, size_t count) {
  const auto in     = split(program.args, Inputs<size_t>{count, program.args.size() - count});
  program.constants = joined(in.constants, program.constants);
  program.args      = in.args;
}

Program rebuilt(const Program& program, const std::function<Tensors(Builder& to, const Tensors& in)>& emit) {
  auto    builder = Builder::open();
  Tensors in;
  for (Var v : program_inputs(program)) in.push_back(builder->argument(program.type(v)));
  Program p = with_constants_inside(builder->finish(emit(*builder, in)));
  args_as_constants(p, program.constants.size());
  return p;
}

Program inlined(const Program& program, const Choice& which) {
  return rebuilt(program, [&](Builder& to, const Tensors& in) { return emit_inlined(to, program, in, which); });
}

Program inline_calls(const Program& program) {
  return inlined(program, [](const Op& op) { return op.is_call; });
}
Program expand_composites(const Program& program) {
  return inlined(program, [](const Op&) { return true; });
}

}  // namespace braintrace
