// SPDX-License-Identifier: Apache-2.0
#include "braintrace/transforms/linearize.h"

#include <algorithm>

#include "braintrace/ops/constant.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// Results in the trace of x, tangents in the trace of dx.
Pushed step_forward(const Op& op, const Attrs& attrs, const Tensors& x, const Tensors& dx) {
  const Mask active = defined_mask(dx);
  if (any_true(active) && op.linearize) {
    const Linearized r = op.linearize({op, attrs, x, active});
    return {r.out, r.tangent(dx)};
  }
  if (any_true(active) && op.expand && !op.jvp) {
    const Traced body = expansion(op, types_of(x), attrs);
    return push_program(body.program, joined(body.constants, x), joined(Tensors(body.constants.size()), dx),
                        step_forward);
  }
  const Tensors out = apply(op, x, attrs);
  return {out, jvp_equation(op, attrs, x, dx, out)};
}

}  // namespace

LinearMap linearize(const Program& program, const Tensors& in, const Mask& active) {
  const Vars inputs  = program_inputs(program);
  auto       builder = Builder::open();
  Tensors    tangents(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (active[i] && is_float(program.type(inputs[i]).dtype)) tangents[i] = builder->argument(program.type(inputs[i]));
  const Pushed r    = push_program(program, in, tangents, step_forward);  // tangents live in the inner trace
  const Mask   live = defined_mask(r.tangents);
  return {r.out, builder->finish(chosen(r.tangents, live)), live};
}

namespace {

// Values known to be zero: literals, and sums and movements of them.
Mask known_zeros(const Program& p) {
  Mask zero(p.types.size());
  for (const Eqn& e : p.eqns) {
    bool all = e.op->fill ? e.op->fill(e.attrs) == 0 : e.op->linearity == Linearity::Joint;
    for (size_t i = 0; all && i < e.in.size(); ++i) all = !e.op->is_linear_in(i) || zero[e.in[i]];
    for (Var v : e.out) zero[v] = all;
  }
  return zero;
}

// The equation must be jointly linear in the marked operands.
void require_linear(const Program& p, const Eqn& e, const Mask& linear, const Mask& zero) {
  const Op& op = *e.op;
  require(op.transpose || op.expand,
          "transpose: {} is not a linear operation; only linear functions can be transposed.", op.name);
  if (op.linearity == Linearity::None) return;
  int64_t count = 0;
  for (size_t i = 0; i < linear.size(); ++i) {
    count += linear[i];
    require(!linear[i] || op.is_linear_in(i),
            "transpose: {} is not linear in operand {}; only linear functions can be transposed.", op.name, i);
    if (!linear[i] && op.linearity == Linearity::Joint && op.is_linear_in(i) && !zero[e.in[i]])
      fail(
          "transpose: {} joins a linear operand with a fixed one ({}, operand {}), which is affine, not linear.\n"
          "  Only linear functions can be transposed.",
          op.name, to_string(p.type(e.in[i])), i);
  }
  require(op.linearity != Linearity::Each || count <= 1,
          "transpose: {} is linear in each operand alone, but {} of its operands depend on the linear arguments.\n"
          "  Only linear functions can be transposed.",
          op.name, count);
}

// Forward: everything that does not depend on the linear arguments. If only some results of an equation do, the others
// do not depend on the linear operands, for which zeros are used.
Tensors fixed_values(const Program& p, const Tensors& inputs, const Mask& is_linear,
                     const std::shared_ptr<Builder>& home) {
  Tensors values(p.types.size());
  bind_inputs(p, inputs, values);
  for (const Eqn& e : p.eqns) {
    if (all_true(gather(is_linear, e.out))) continue;
    EqnNote       note(p, e);
    const Tensors in  = instantiated(gather(values, e.in), p.types_of(e.in));
    const Tensors out = apply_in(home, *e.op, in, e.attrs);
    for (size_t k = 0; k < out.size(); ++k)
      if (!is_linear[e.out[k]]) values[e.out[k]] = out[k];
  }
  return values;
}

// Cotangents of the operands marked in `linear`.
Tensors transpose_equation(const Program& p, const Eqn& e, const Tensors& in, const Mask& linear, const Tensors& ct) {
  const Types types = p.types_of(e.in);
  if (e.op->transpose) return e.op->transpose({*e.op, e.attrs, in, types, linear, instantiated(ct, p.types_of(e.out))});
  const Traced body = expansion(*e.op, types, e.attrs);
  return transpose(body.program, body.constants, in, linear, ct);
}

}  // namespace

Tensors transpose(const Program& program, const Tensors& constants, const Tensors& args, const Mask& linear_args,
                  const Tensors& ct) {
  const Mask    is_linear = forward_dependence(program, joined(Mask(program.constants.size(), false), linear_args));
  const Mask    zero      = known_zeros(program);
  const Tensors values =
      fixed_values(program, joined(constants, args), is_linear, innermost_trace(joined(constants, args, ct)));
  // Backward: cotangents of linear values.
  Tensors cts(program.types.size());
  auto    accumulate = [&](Var v, const Tensor& t) {
    if (is_linear[v] && t.defined()) cts[v] = add_defined(cts[v], t);
  };
  for (size_t i = 0; i < program.results.size(); ++i) accumulate(program.results[i], ct[i]);
  for (auto e = program.eqns.rbegin(); e != program.eqns.rend(); ++e) {
    const Tensors out_ct = gather(cts, e->out);
    if (!any_true(gather(is_linear, e->out)) || !any_true(defined_mask(out_ct))) continue;
    EqnNote    note(program, *e);
    const Mask linear = gather(is_linear, e->in);
    require_linear(program, *e, linear, zero);
    const Tensors in_ct = transpose_equation(program, *e, gather(values, e->in), linear, out_ct);
    for (size_t i = 0; i < in_ct.size(); ++i) accumulate(e->in[i], in_ct[i]);
    for (Var v : e->out) cts[v] = Tensor();
  }
  return gather(cts, program.args);
}

Tensors transpose(const Program& linear, const Tensors& constants, const Tensors& ct) {
  return transpose(linear, constants, Tensors(linear.args.size()), Mask(linear.args.size(), true), ct);
}

VjpResult vjp(const Program& program, const Tensors& in, const Mask& active) {
  ensure(active.size() == in.size(), "vjp: {} marks for {} inputs", active.size(), in.size());
  auto        linear = std::make_shared<LinearMap>(linearize(program, in, active));
  const Types wanted = chosen(program.types_of(program_inputs(program)), active);
  Mask        has_tangent;
  for (const Type& t : wanted) has_tangent.push_back(is_float(t.dtype));
  auto pullback = [linear, has_tangent](const Tensors& ct) {
    return spread(transpose(linear->map.program, linear->map.constants, chosen(ct, linear->live)), has_tangent);
  };
  return {linear->out, pullback};
}

namespace {

template <class List>
struct VjpInputs {
  List in, ct;
};

}  // namespace

Program vjp_program(const Program& program, const Mask& active) {
  const VjpInputs<Types> types{program.types_of(program_inputs(program)), program.types_of(program.results)};
  return with_constants_inside(trace(joined(types), [&](const Tensors& args) {
    const auto      given = split(args, types);
    const VjpResult r     = vjp(program, given.in, active);
    return joined(r.out, instantiated(r.pullback(given.ct), chosen(types.in, active)));
  }));
}

}  // namespace braintrace
