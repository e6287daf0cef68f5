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
    return push_program(body.program, concatenated(body.constants, x), concatenated(Tensors(body.constants.size()), dx),
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

constexpr Key<double> fill_value{"value"};

// Values known to be zero: literals, and sums and movements of them.
Mask known_zeros(const Program& p) {
  Mask zero(p.types.size());
  for (const Eqn& e : p.eqns) {
    bool all = e.op->linearity == Linearity::Joint || e.op->name == "full";
    if (e.op->name == "full") all = e.attrs[fill_value] == 0;
    for (size_t i = 0; all && i < e.in.size(); ++i) all = !e.op->is_linear_in(i) || zero[e.in[i]];
    for (Var v : e.out) zero[v] = all;
  }
  return zero;
}

// The equation must be linear in the operands marked, taken together.
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

}  // namespace

Tensors transpose(const Program& program, const Tensors& constants, const Tensors& args, const Mask& linear_args,
                  const Tensors& ct) {
  Mask active(program.constants.size(), false);
  active.insert(active.end(), linear_args.begin(), linear_args.end());
  const Mask is_linear  = forward_dependence(program, active);
  const Mask zero       = known_zeros(program);
  auto       all_linear = [&](const Vars& vars) {
    return std::all_of(vars.begin(), vars.end(), [&](Var v) { return is_linear[v]; });
  };
  auto any_linear = [&](const Vars& vars) {
    return std::any_of(vars.begin(), vars.end(), [&](Var v) { return is_linear[v]; });
  };

  // Forward: everything that does not depend on the linear arguments. Where only some results of an equation do,
  // the others come out the same for any value of the linear operands: zero.
  const auto home = innermost_trace(concatenated(concatenated(constants, args), ct));
  Tensors    values(program.types.size());
  bind_inputs(program, concatenated(constants, args), values);
  for (const Eqn& e : program.eqns) {
    if (all_linear(e.out)) continue;
    EqnNote       note(program, e);
    const Tensors in  = instantiated(gather(values, e.in), program.types_of(e.in));
    const Tensors out = apply_in(home, *e.op, in, e.attrs);
    for (size_t k = 0; k < out.size(); ++k)
      if (!is_linear[e.out[k]]) values[e.out[k]] = out[k];
  }

  // Backward: cotangents of linear values.
  Tensors cts(program.types.size());
  auto    accumulate = [&](Var v, const Tensor& t) {
    if (is_linear[v] && t.defined()) cts[v] = add_defined(cts[v], t);
  };
  for (size_t i = 0; i < program.results.size(); ++i) accumulate(program.results[i], ct[i]);
  for (auto e = program.eqns.rbegin(); e != program.eqns.rend(); ++e) {
    if (!any_linear(e->out)) continue;
    const Tensors out_ct = gather(cts, e->out);
    if (!any_true(defined_mask(out_ct))) continue;
    EqnNote note(program, *e);
    Mask    linear;
    for (Var v : e->in) linear.push_back(is_linear[v]);
    require_linear(program, *e, linear, zero);
    const Tensors in       = gather(values, e->in);
    const Types   in_types = program.types_of(e->in);
    Tensors       in_ct;
    if (e->op->transpose) {
      in_ct =
          e->op->transpose({*e->op, e->attrs, in, in_types, linear, instantiated(out_ct, program.types_of(e->out))});
    } else {
      const Traced body = expansion(*e->op, in_types, e->attrs);
      in_ct             = transpose(body.program, body.constants, in, linear, out_ct);
    }
    for (size_t i = 0; i < in_ct.size(); ++i) accumulate(e->in[i], in_ct[i]);
    for (Var v : e->out) cts[v] = Tensor();
  }
  return gather(cts, program.args);
}

Tensors transpose(const Program& linear, const Tensors& constants, const Tensors& ct) {
  return transpose(linear, constants, Tensors(linear.args.size()), Mask(linear.args.size(), true), ct);
}

VjpResult vjp(const Program& program, const Tensors& in, const Mask& active) {
  auto       linear = std::make_shared<LinearMap>(linearize(program, in, active));
  const auto inputs = program_inputs(program);
  Mask       has_tangent;  // of each active input
  for (size_t i = 0; i < inputs.size(); ++i)
    if (active[i]) has_tangent.push_back(is_float(program.type(inputs[i]).dtype));
  auto pullback = [linear, has_tangent](const Tensors& ct) {
    Tensors live;
    for (size_t i = 0; i < ct.size(); ++i)
      if (linear->live[i]) live.push_back(ct[i]);
    const Tensors found = transpose(linear->map.program, linear->map.constants, live);
    Tensors       out;
    size_t        next = 0;
    for (bool has : has_tangent) out.push_back(has ? found[next++] : Tensor());
    return out;
  };
  return {linear->out, pullback};
}

Program vjp_program(const Program& program, const Mask& active) {
  const Vars inputs = program_inputs(program);
  Types      types  = program.types_of(inputs);
  Types      wanted;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (active[i]) wanted.push_back(program.type(inputs[i]));
  for (Var v : program.results) types.push_back(program.type(v));
  return with_constants_inside(trace(types, [&](const Tensors& args) {
    const auto      split = args.begin() + static_cast<int64_t>(inputs.size());
    const VjpResult r     = vjp(program, Tensors(args.begin(), split), active);
    return concatenated(r.out, instantiated(r.pullback(Tensors(split, args.end())), wanted));
  }));
}

}  // namespace braintrace
