// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/jvp.h"

#include <algorithm>

#include "braintrace/ops/families.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

bool any_defined(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.defined(); });
}

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
  if (!any_defined(tangents)) return Tensors(out.size());
  if (op.expand && !op.jvp) {
    const Traced body = expansion(op, types_of(in), attrs);
    return jvp(body.program, concatenated(body.constants, in), concatenated(Tensors(body.constants.size()), tangents))
        .tangents;
  }
  if (op.jvp)
    result = op.jvp({op, attrs, in, tangents, out});
  else if (op.linearity != Linearity::None)
    result = linear_tangent(op, attrs, in, tangents);
  result.resize(out.size());
  for (size_t k = 0; k < out.size(); ++k)
    if (!is_float(out[k].dtype())) result[k] = Tensor();  // integers and bools carry no tangent
  return result;
}

JvpResult jvp(const Program& program, const Tensors& in, const Tensors& tangents) {
  Tensors values(program.types.size()), dots(program.types.size());
  bind_inputs(program, in, values);
  bind_inputs(program, tangents, dots);
  for (const Eqn& e : program.eqns) {
    EqnNote       note(program, e);
    const Tensors x   = gather(values, e.in);
    const Tensors out = apply(*e.op, x, e.attrs);
    const Tensors dy  = jvp_equation(*e.op, e.attrs, x, gather(dots, e.in), out);
    scatter(values, e.out, out);
    scatter(dots, e.out, dy);
  }
  return {gather(values, program.results), gather(dots, program.results)};
}

Program jvp_program(const Program& program, const Mask& active) {
  const Vars inputs = program_inputs(program);
  Types      types  = program.types_of(inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (active[i]) types.push_back(program.type(inputs[i]));
  return trace(types,
               [&](const Tensors& args) {
                 const Tensors in(args.begin(), args.begin() + static_cast<int64_t>(inputs.size()));
                 Tensors       tangents(inputs.size());
                 size_t        next = inputs.size();
                 for (size_t i = 0; i < inputs.size(); ++i)
                   if (active[i]) tangents[i] = args[next++];
                 JvpResult r = jvp(program, in, tangents);
                 return concatenated(r.out, instantiated(r.tangents, types_of(r.out)));
               })
      .program;
}

}  // namespace braintrace
