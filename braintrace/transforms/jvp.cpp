// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/jvp.h"

#include "braintrace/ops/constant.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

Tensors linear_tangent(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents) {
  if (op.linearity == Linearity::Joint) {
    Tensors operands = in;
    bool    any      = false;
    for (size_t i = 0; i < in.size(); ++i)
      if (op.is_linear_in(i)) {
        operands[i] = tangents[i].defined() ? tangents[i] : Tensor(in[i].type(), 0);
        any |= tangents[i].defined();
      }
    return any ? apply(op, operands, attrs) : Tensors{};
  }
  Tensors sum;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!op.is_linear_in(i) || !tangents[i].defined()) continue;
    Tensors operands = in;
    operands[i]      = tangents[i];
    Tensors term     = apply(op, operands, attrs);
    sum.resize(term.size());
    for (size_t k = 0; k < term.size(); ++k) sum[k] = add_defined(sum[k], term[k]);
  }
  return sum;
}

}  // namespace

Tensors jvp_equation(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents, const Tensors& out) {
  Tensors result;
  if (!any_true(defined_mask(tangents))) return Tensors(out.size());
  if (op.push || (op.expand && !op.jvp)) return push_equation(op, attrs, in, tangents).tangents;
  if (op.jvp)
    result = op.jvp({op, attrs, in, tangents, out});
  else if (op.linearity != Linearity::None)
    result = linear_tangent(op, attrs, in, tangents);
  result.resize(out.size());
  for (size_t k = 0; k < out.size(); ++k)
    if (!is_float(out[k].dtype())) result[k] = Tensor();  // integers and bools carry no tangent
  return result;
}

Pushed push_equation(const Op& op, const Attrs& attrs, const Tensors& in, const Tensors& tangents) {
  const bool active = any_true(defined_mask(tangents));
  if (active && op.push) return op.push({op, attrs, in, tangents, {}});
  if (active && op.expand && !op.jvp) {
    const Traced body = expansion(op, types_of(in), attrs);
    return jvp(body.program, joined(body.constants, in), joined(Tensors(body.constants.size()), tangents));
  }
  const Tensors out = apply(op, in, attrs);
  return {out, jvp_equation(op, attrs, in, tangents, out)};
}

Pushed jvp(const Program& program, const Tensors& in, const Tensors& tangents) {
  return push_program(program, in, tangents, push_equation);
}

Pushed push_program(const Program& program, const Tensors& in, const Tensors& tangents, PushRule push) {
  Tensors values(program.types.size()), dots(program.types.size());
  bind_inputs(program, in, values);
  bind_inputs(program, tangents, dots);
  const LastUses last(program);
  const auto     home = innermost_trace(in);
  for (size_t i = 0; i < program.eqns.size(); ++i) {
    const Eqn& e = program.eqns[i];
    EqnNote    note(program, e);
    if (e.in.empty()) {
      scatter(values, e.out, apply_in(home, *e.op, {}, e.attrs));
      continue;
    }
    const Pushed r = push(*e.op, e.attrs, gather(values, e.in), gather(dots, e.in));
    scatter(values, e.out, r.out);
    scatter(dots, e.out, r.tangents);
    last.release(e, i, values);
    last.release(e, i, dots);
  }
  return {gather(values, program.results), gather(dots, program.results)};
}

Program jvp_program(const Program& program, const Mask& active) {
  const Types       inputs = program.types_of(program_inputs(program));
  const Dual<Types> types{inputs, chosen(inputs, active)};
  return with_constants_inside(trace(joined(types), [&](const Tensors& args) {
    const auto   in = split(args, types);
    const Pushed r  = jvp(program, in.values, spread(in.tangents, active));
    return joined(r.out, instantiated(r.tangents, types_of(r.out)));
  }));
}

}  // namespace braintrace
