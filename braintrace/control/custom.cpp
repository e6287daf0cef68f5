// SPDX-License-Identifier: Apache-2.0
// custom_jvp, custom_vjp: a body, and programs to use instead of its derivative. Tensors that the user's functions
// close over become the first `consts` operands; those have no rule, so a tangent on them is an error, not zero.
//
//   custom_jvp      body(w, x) → y     rule(w, x, dx) → dy
//   custom_vjp      body(w, x) → y     fwd(w, x) → y, r     bwd(w, r, ct) → ct_x
//   custom_linear   (w, r, dx) → dy = bwdᵀ(w, r)·dx: the linear part of custom_vjp; its transpose is bwd
#include "braintrace/control/custom.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/sections.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {

namespace {

// Operands: those that are not differentiated, w (and r), then x (dx for custom_linear).
template <class List>
struct CustomOperands {
  List w, x;
};
// What the rules take.
template <class List>
struct RuleOperands {
  List w, x, dx;
};
template <class List>
struct BackwardOperands {
  List w, residuals, ct;
};

// Operands of the equation in sections; checks that there are enough.
template <class List>
CustomOperands<List> operands_of(const Op& op, const Attrs& a, const List& in) {
  const auto w = static_cast<size_t>(std::max<int64_t>(0, a[keys::consts]));
  require(w <= in.size(), "{}: expected {} consts, got {} operand(s).", op.name, w, in.size());
  return split(in, CustomOperands<size_t>{w, in.size() - w});
}
Types results_of(const Program& p) { return p.types_of(p.results); }

// Their sections; operands that are not differentiated must have no tangent.
CustomOperands<Tensors> without_tangent(const Op& op, const Attrs& attrs, const Tensors& in, const Mask& active) {
  const auto operands = operands_of(op, attrs, in);
  for (size_t i = 0; i < operands.w.size(); ++i)
    require(!active[i] || !is_float(in[i].dtype()),
            "{}: the function closes over a tensor {} that is being differentiated, but its rule gives no derivative "
            "for it.\n  Pass it as an argument, or close over stop_gradient of it.",
            op.name, to_string(in[i].type()));
  return operands;
}

// Checks that programs and operand types match: (consts, x) → y and the like.
void require_returns(const Op& op, const char* role, const Types& got, const Types& wanted) {
  require(got.size() == wanted.size(), "{}: {} must return {} tensor(s), got {}.", op.name, role, wanted.size(),
          got.size());
  for (size_t i = 0; i < got.size(); ++i)
    require(got[i] == wanted[i], "{}: {} must return {} as tensor {}, got {}.", op.name, role, to_string(wanted[i]), i,
            to_string(got[i]));
}

ProgramPtr batched(const Program& p, const Mask& mask, int64_t size) {
  return std::make_shared<const Program>(vmap_program(p, mask, size));
}

Tensors body_transpose(const TransposeArgs& a) { return transpose(*a.attrs[keys::body], {}, a.in, a.linear, a.ct); }
Arrays body_eval(const Op&, const Arrays& in, const Attrs& a, const Types&) { return evaluate(*a[keys::body], {}, in); }

Types custom_jvp_infer(const Op& op, const Types& in, const Attrs& a) {
  const auto operands = operands_of(op, a, in);
  require_takes(op, "function", *a[keys::body], in);
  require_takes(op, "rule", *a[keys::rule], joined(in, operands.x));
  require_returns(op, "the rule", results_of(*a[keys::rule]), results_of(*a[keys::body]));
  return results_of(*a[keys::body]);
}

Tensors custom_jvp_jvp(const JvpArgs& a) {
  const auto     in   = without_tangent(a.op, a.attrs, a.in, defined_mask(a.tangents));
  const Tensors  dx   = operands_of(a.op, a.attrs, a.tangents).x;
  const Program& rule = *a.attrs[keys::rule];
  if (all_true(defined_mask(dx))) return replay(rule, {}, joined(a.in, dx));
  // The rule is linear in dx, so it is its own derivative there. In this way, an absent tangent stays a symbolic zero;
  // with a tensor of zeros, the rule would produce a constant term that cannot be transposed.
  const RuleOperands<Tensors> at{in.w, in.x, zeros_of(types_of(in.x))},
      along{Tensors(in.w.size()), Tensors(in.x.size()), dx};
  return jvp(rule, joined(at), joined(along)).tangents;
}

Tensors custom_jvp_batch(const BatchArgs& a) {
  const Mask x = operands_of(a.op, a.attrs, a.batched).x;
  return apply(a.op, a.in,
               a.attrs.with(keys::body, batched(*a.attrs[keys::body], a.batched, a.size))
                   .with(keys::rule, batched(*a.attrs[keys::rule], joined(a.batched, x), a.size)));
}

Types custom_vjp_infer(const Op& op, const Types& in, const Attrs& a) {
  const auto operands = operands_of(op, a, in);
  require_takes(op, "function", *a[keys::body], in);
  require_takes(op, "fwd", *a[keys::fwd], in);
  const Types y = results_of(*a[keys::body]), all = results_of(*a[keys::fwd]);
  require(all.size() >= y.size(), "{}: fwd returns {} result(s), the function {}.", op.name, all.size(), y.size());
  const auto f = split(all, WithResiduals<size_t>{y.size(), all.size() - y.size()});
  require_returns(op, "fwd", f.out, y);
  require_takes(op, "bwd", *a[keys::bwd], joined(BackwardOperands<Types>{operands.w, f.residuals, y}));
  require_returns(op, "bwd", results_of(*a[keys::bwd]), operands.x);
  return y;
}

// Results of fwd, and what bwd needs in addition to the cotangents: consts and residuals.
ForwardPass run_forward(const Attrs& attrs, const CustomOperands<Tensors>& in) {
  const Tensors flat = replay(*attrs[keys::fwd], {}, joined(in));
  const size_t  outs = attrs[keys::body]->results.size();
  const auto    y    = split(flat, WithResiduals<size_t>{outs, flat.size() - outs});
  return {y.out, joined(in.w, y.residuals)};
}

Tensors tangents_of_x(const Attrs& attrs, const Tensors& tangents) {
  const Program& body  = *attrs[keys::body];
  const Types    types = body.types_of(body.args);
  return instantiated(operands_of(custom_vjp_op, attrs, tangents).x, operands_of(custom_vjp_op, attrs, types).x);
}

Linearized custom_vjp_linearize(const LinearizeArgs& a) {
  const ForwardPass r = run_forward(a.attrs, without_tangent(a.op, a.attrs, a.in, a.active));
  return {r.out, [attrs = a.attrs, fixed = r.residuals](const Tensors& tangents) {
            return apply(custom_linear_op, joined(fixed, tangents_of_x(attrs, tangents)),
                         {{keys::bwd, attrs[keys::bwd]}, {keys::consts, static_cast<int64_t>(fixed.size())}});
          }};
}

// Forward mode: dy = bwdᵀ dx, where bwd is linear.
Tensors transposed_bwd(const Program& bwd, const Tensors& fixed, const Tensors& dx) {
  const Types                 args  = bwd.types_of(bwd.args);
  const auto                  types = split(args, BackOperands<size_t>{fixed.size(), args.size() - fixed.size()});
  const BackOperands<Tensors> in{fixed, Tensors(types.ct.size())};
  const BackOperands<Mask>    linear{Mask(fixed.size(), false), Mask(types.ct.size(), true)};
  try {
    const Tensors dy = transpose(bwd, {}, joined(in), joined(linear), dx);
    return instantiated(split(dy, types).ct, types.ct);
  } catch (const UserError& error) {
    fail(
        "custom_vjp: forward mode needs the transpose of bwd, but bwd is not linear in the cotangents:\n  {}\n"
        "  Use reverse mode, or give the function a custom_jvp.",
        error.what());
  }
}

Pushed custom_vjp_push(const JvpArgs& a) {
  const ForwardPass r = run_forward(a.attrs, without_tangent(a.op, a.attrs, a.in, defined_mask(a.tangents)));
  return {r.out, transposed_bwd(*a.attrs[keys::bwd], r.residuals, tangents_of_x(a.attrs, a.tangents))};
}

Tensors custom_vjp_batch(const BatchArgs& a) {
  // Every x gets the axis, so that bwd returns one cotangent per sample; broadcasting then sums them.
  auto       in    = operands_of(a.op, a.attrs, a.in);
  const auto given = operands_of(a.op, a.attrs, a.batched);
  for (size_t i = 0; i < in.x.size(); ++i) in.x[i] = with_batch_axis(in.x[i], given.x[i], a.size);
  const Program& bwd  = *a.attrs[keys::bwd];
  const Mask     x    = joined(given.w, Mask(in.x.size(), true));
  const Mask     back = joined(given.w, Mask(bwd.args.size() - in.w.size(), true));
  return apply(a.op, joined(in),
               a.attrs.with(keys::body, batched(*a.attrs[keys::body], x, a.size))
                   .with(keys::fwd, batched(*a.attrs[keys::fwd], x, a.size))
                   .with(keys::bwd, batched(bwd, back, a.size)));
}

Types custom_linear_infer(const Op& op, const Types& in, const Attrs& a) {
  const Program& bwd      = *a[keys::bwd];
  const auto     operands = operands_of(op, a, in);
  const Types    out      = operands_of(op, a, bwd.types_of(bwd.args)).x;
  require_takes(op, "bwd", bwd, joined(operands.w, out));
  require_returns(op, "bwd", results_of(bwd), operands.x);
  return out;
}

Tensors custom_linear_batch(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  const Program& bwd = *a.attrs[keys::bwd];
  return apply(a.op, in, a.attrs.with(keys::bwd, batched(bwd, Mask(bwd.args.size(), true), a.size)));
}

// The samples compute y = n x tanh z with n : i32[3] closed over.
Type count_type() { return {DType::I32, {3}}; }
Type real_type() { return {DType::F64, {3}}; }

ProgramPtr program(const Types& types, const Function& f) {
  return std::make_shared<const Program>(trace(types, f).program);
}
Tensors sample_in(Rng& rng) {
  return {random_array(rng, count_type()), random_array(rng, real_type()), random_array(rng, real_type())};
}
Tensor real(const Tensor& n) { return convert(n, DType::F64); }

ProgramPtr sample_body() {
  return program({count_type(), real_type(), real_type()},
                 [](const Tensors& v) -> Tensors { return {real(v[0]) * v[1] * tanh(v[2])}; });
}
ProgramPtr sample_bwd() {  // n, tanh z, x (1 - tanh² z), ct
  return program({count_type(), real_type(), real_type(), real_type()}, [](const Tensors& v) -> Tensors {
    const Tensor ct = real(v[0]) * v[3];
    return {ct * v[1], ct * v[2]};
  });
}

}  // namespace

constinit const Op custom_jvp_op = {
    .name      = "custom_jvp",
    .doc       = "a function with a tangent rule of its own",
    .operands  = "operands...",
    .infer     = custom_jvp_infer,
    .eval      = body_eval,
    .jvp       = custom_jvp_jvp,
    .transpose = body_transpose,
    .batch     = custom_jvp_batch,
    .sample    = [](const Op&, Rng& rng) -> std::vector<Sample> {
      const auto rule =
          program({count_type(), real_type(), real_type(), real_type(), real_type()}, [](const Tensors& v) -> Tensors {
            const Tensor t = tanh(v[2]);
            return {real(v[0]) * (t * v[3] + v[1] * (1 - t * t) * v[4])};
          });
      return {{sample_in(rng), {{keys::body, sample_body()}, {keys::consts, int64_t{1}}, {keys::rule, rule}}}};
    },
};

constinit const Op custom_linear_op = {
    .name     = "custom_linear",
    .doc      = "the linear part of custom_vjp: its transpose is the user's backward rule",
    .operands = "operands...",
    .infer    = custom_linear_infer,
    .expand =
        [](const Op& op, const Tensors& in, const Attrs& a) {
          const auto operands = operands_of(op, a, in);
          return transposed_bwd(*a[keys::bwd], operands.w, operands.x);
        },
    .transpose =
        [](const TransposeArgs& a) {
          const Tensors fixed = operands_of(a.op, a.attrs, a.in).w;
          return joined(Tensors(fixed.size()), replay(*a.attrs[keys::bwd], {}, joined(fixed, a.ct)));
        },
    .batch  = custom_linear_batch,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{joined(sample_in(rng), Tensors{random_array(rng, real_type()), random_array(rng, real_type())}),
               {{keys::bwd, sample_bwd()}, {keys::consts, int64_t{3}}}}};
    },
};

constinit const Op custom_vjp_op = {
    .name      = "custom_vjp",
    .doc       = "a function with a backward rule of its own",
    .operands  = "operands...",
    .infer     = custom_vjp_infer,
    .eval      = body_eval,
    .push      = custom_vjp_push,
    .linearize = custom_vjp_linearize,
    .transpose = body_transpose,
    .batch     = custom_vjp_batch,
    .sample    = [](const Op&, Rng& rng) -> std::vector<Sample> {
      const auto fwd = program({count_type(), real_type(), real_type()}, [](const Tensors& v) -> Tensors {
        const Tensor t = tanh(v[2]);
        return {real(v[0]) * v[1] * t, t, v[1] * (1 - t * t)};
      });
      return {{sample_in(rng),
               {{keys::body, sample_body()}, {keys::bwd, sample_bwd()}, {keys::consts, int64_t{1}}, {keys::fwd, fwd}}}};
    },
};

Function custom_jvp(const Function& f, const JvpRule& rule) {
  return [=](const Tensors& x) {
    const Types       types = types_of(x);
    const Dual<Types> both{types, types};
    OpenBody          body = open_body(types, f);
    OpenBody          dots = open_body(joined(both), [&](const Tensors& v) {
      const auto in = split(v, both);
      return rule(in.values, in.tangents);
    });
    settle_numbers(dots.results, types_of(body.results));
    require_returns(custom_jvp_op, "the rule", types_of(dots.results), types_of(body.results));
    const Bodies b = close_over(std::vector{body, dots});
    return apply(custom_jvp_op, joined(b.captures, x),
                 {{keys::body, b.programs[0]},
                  {keys::consts, static_cast<int64_t>(b.captures.size())},
                  {keys::rule, b.programs[1]}});
  };
}

Function custom_vjp(const Function& f, const ForwardRule& fwd, const BackwardRule& bwd) {
  return [=](const Tensors& x) {
    const Types         types = types_of(x);
    OpenBody            body  = open_body(types, f);
    BackOperands<Types> back{{}, types_of(body.results)};  // fixed: the residuals
    OpenBody            forward  = open_body(types, [&](const Tensors& v) {
      ForwardPass r = fwd(v);
      settle_numbers(r.out, back.ct);
      require_returns(custom_vjp_op, "fwd", types_of(r.out), back.ct);
      back.fixed = types_of(r.residuals);
      return joined(r);
    });
    OpenBody            backward = open_body(joined(back), [&](const Tensors& v) {
      const auto in = split(v, back);
      // Integers have no cotangent: the rule may leave theirs undefined.
      Tensors ct = bwd(in.fixed, in.ct);
      for (size_t i = 0; i < ct.size() && i < types.size(); ++i)
        if (!ct[i].defined()) ct[i] = Tensor(types[i], 0);
      settle_numbers(ct, types);
      require_returns(custom_vjp_op, "bwd", types_of(ct), types);
      return ct;
    });
    const Bodies        b        = close_over(std::vector{body, forward, backward});
    return apply(custom_vjp_op, joined(b.captures, x),
                 {{keys::body, b.programs[0]},
                  {keys::bwd, b.programs[2]},
                  {keys::consts, static_cast<int64_t>(b.captures.size())},
                  {keys::fwd, b.programs[1]}});
  };
}

const std::vector<const Op*>& custom_ops() {
  static const std::vector<const Op*> ops = {&custom_jvp_op, &custom_linear_op, &custom_vjp_op};
  return ops;
}

}  // namespace braintrace
