// SPDX-License-Identifier: Apache-2.0
// custom_jvp, custom_vjp: a body, and programs to use in place of its derivative. What the user's functions close over
// becomes the first `consts` operands; those have no rule, so a tangent on them is an error rather than a zero.
//
//   custom_jvp      body(w, x) → y     rule(w, x, dx) → dy
//   custom_vjp      body(w, x) → y     fwd(w, x) → y, r     bwd(w, r, ct) → ct_x
//   custom_linear   (w, r, dx) → dy = bwdᵀ(w, r)·dx: the linear part of custom_vjp; its transpose is bwd
#include "braintrace/control/custom.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr Key<ProgramPtr> body_key{"body"}, rule_key{"rule"}, fwd_key{"fwd"}, bwd_key{"bwd"};
constexpr Key<int64_t>    consts_key{"consts"};

size_t consts_of(const Attrs& a) { return static_cast<size_t>(std::max<int64_t>(0, a[consts_key])); }
Types  results_of(const Program& p) { return p.types_of(p.results); }

void require_no_tangent(const Op& op, const Attrs& attrs, const Tensors& in, const Mask& active) {
  for (size_t i = 0; i < consts_of(attrs); ++i)
    require(!active[i] || !is_float(in[i].dtype()),
            "{}: the function closes over a tensor {} that is being differentiated, but its rule gives no derivative "
            "for it.\n  Pass it as an argument, or close over stop_gradient of it.",
            op.name, to_string(in[i].type()));
}

// Programs and operand types fit together: (consts, x) → y and the like.
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

Tensors body_transpose(const TransposeArgs& a) { return transpose(*a.attrs[body_key], {}, a.in, a.linear, a.ct); }
Arrays  body_eval(const Op&, const Arrays& in, const Attrs& a, const Types&) { return evaluate(*a[body_key], {}, in); }

Types custom_jvp_infer(const Op& op, const Types& in, const Attrs& a) {
  const size_t consts = consts_of(a);
  require(consts <= in.size(), "{}: {} consts were announced, got {} operand(s).", op.name, consts, in.size());
  require_takes(op, "function", *a[body_key], in);
  require_takes(op, "rule", *a[rule_key], joined(in, part(in, consts, in.size() - consts)));
  require_returns(op, "the rule", results_of(*a[rule_key]), results_of(*a[body_key]));
  return results_of(*a[body_key]);
}

Tensors custom_jvp_jvp(const JvpArgs& a) {
  const size_t consts = consts_of(a.attrs), n = a.in.size() - consts;
  require_no_tangent(a.op, a.attrs, a.in, defined_mask(a.tangents));
  const Tensors dx    = part(a.tangents, consts, n);
  const Tensors zeros = instantiated(Tensors(n), part(types_of(a.in), consts, n));
  const auto    given = [](const Tensor& t) { return t.defined(); };
  if (std::all_of(dx.begin(), dx.end(), given)) return replay(*a.attrs[rule_key], {}, concatenated(a.in, dx));
  // The rule is linear in dx, so it is its own derivative there. That way a tangent that is absent stays a symbolic
  // zero; as a tensor of zeros, what the rule makes of it would be a fixed term that cannot be transposed.
  Tensors tangents(a.in.size());
  tangents.insert(tangents.end(), dx.begin(), dx.end());
  return jvp(*a.attrs[rule_key], concatenated(a.in, zeros), tangents).tangents;
}

Tensors custom_jvp_batch(const BatchArgs& a) {
  const size_t consts = consts_of(a.attrs);
  const Mask   x      = part(a.batched, consts, a.in.size() - consts);
  return apply(a.op, a.in,
               a.attrs.with(body_key, batched(*a.attrs[body_key], a.batched, a.size))
                   .with(rule_key, batched(*a.attrs[rule_key], joined(a.batched, x), a.size)));
}

Types custom_vjp_infer(const Op& op, const Types& in, const Attrs& a) {
  const size_t consts = consts_of(a);
  require(consts <= in.size(), "{}: {} consts were announced, got {} operand(s).", op.name, consts, in.size());
  require_takes(op, "function", *a[body_key], in);
  require_takes(op, "fwd", *a[fwd_key], in);
  const Types y = results_of(*a[body_key]), f = results_of(*a[fwd_key]);
  require(f.size() >= y.size(), "{}: fwd returns {} result(s), the function {}.", op.name, f.size(), y.size());
  require_returns(op, "fwd", part(f, 0, y.size()), y);
  const Types residuals = part(f, y.size(), f.size() - y.size());
  require_takes(op, "bwd", *a[bwd_key], joined(joined(part(in, 0, consts), residuals), y));
  require_returns(op, "bwd", results_of(*a[bwd_key]), part(in, consts, in.size() - consts));
  return y;
}

// Results of fwd, and what bwd needs besides the cotangents: consts and residuals.
ForwardPass run_forward(const Attrs& attrs, const Tensors& in) {
  const Tensors y    = replay(*attrs[fwd_key], {}, in);
  const size_t  outs = attrs[body_key]->results.size();
  return {part(y, 0, outs), concatenated(part(in, 0, consts_of(attrs)), part(y, outs, y.size() - outs))};
}

Tensors tangents_of_x(const Attrs& attrs, const Tensors& tangents) {
  const Program& body   = *attrs[body_key];
  const size_t   consts = consts_of(attrs), n = tangents.size() - consts;
  return instantiated(part(tangents, consts, n), part(body.types_of(body.args), consts, n));
}

Linearized custom_vjp_linearize(const LinearizeArgs& a) {
  require_no_tangent(a.op, a.attrs, a.in, a.active);
  const ForwardPass r = run_forward(a.attrs, a.in);
  return {r.out, [attrs = a.attrs, fixed = r.residuals](const Tensors& tangents) {
            return apply(custom_linear_op, concatenated(fixed, tangents_of_x(attrs, tangents)),
                         {{bwd_key, attrs[bwd_key]}, {consts_key, static_cast<int64_t>(fixed.size())}});
          }};
}

// Forward mode: dy = bwdᵀ dx, where bwd is linear.
Tensors transposed_bwd(const Program& bwd, const Tensors& fixed, const Tensors& dx) {
  const Types  types = bwd.types_of(bwd.args);
  const size_t n     = types.size() - fixed.size();
  Mask         linear(fixed.size(), false);
  linear.resize(types.size(), true);
  try {
    const Tensors dy = transpose(bwd, {}, concatenated(fixed, Tensors(n)), linear, dx);
    return instantiated(part(dy, fixed.size(), n), part(types, fixed.size(), n));
  } catch (const UserError& error) {
    fail(
        "custom_vjp: forward mode needs the transpose of bwd, but bwd is not linear in the cotangents:\n  {}\n"
        "  Use reverse mode, or give the function a custom_jvp.",
        error.what());
  }
}

Pushed custom_vjp_push(const JvpArgs& a) {
  require_no_tangent(a.op, a.attrs, a.in, defined_mask(a.tangents));
  const ForwardPass r = run_forward(a.attrs, a.in);
  return {r.out, transposed_bwd(*a.attrs[bwd_key], r.residuals, tangents_of_x(a.attrs, a.tangents))};
}

Tensors custom_vjp_batch(const BatchArgs& a) {
  // Every x gets the axis, so that bwd gives a cotangent per sample; broadcasting then sums them.
  const size_t consts = consts_of(a.attrs);
  const Mask   w      = part(a.batched, 0, consts);
  Mask         x      = w;
  x.resize(a.in.size(), true);
  Tensors in = part(a.in, 0, consts);
  for (size_t i = consts; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  Mask back = w;
  back.resize(a.attrs[bwd_key]->args.size(), true);
  return apply(a.op, in,
               a.attrs.with(body_key, batched(*a.attrs[body_key], x, a.size))
                   .with(fwd_key, batched(*a.attrs[fwd_key], x, a.size))
                   .with(bwd_key, batched(*a.attrs[bwd_key], back, a.size)));
}

Types custom_linear_infer(const Op& op, const Types& in, const Attrs& a) {
  const Program& bwd   = *a[bwd_key];
  const size_t   fixed = consts_of(a);
  require(fixed <= in.size() && fixed <= bwd.args.size(), "{}: {} fixed operands were announced, got {} operand(s).",
          op.name, fixed, in.size());
  const Types given = bwd.types_of(bwd.args), out = part(given, fixed, given.size() - fixed);
  require_takes(op, "bwd", bwd, joined(part(in, 0, fixed), out));
  require_returns(op, "bwd", results_of(bwd), part(in, fixed, in.size() - fixed));
  return out;
}

Tensors custom_linear_batch(const BatchArgs& a) {
  Tensors in;
  for (size_t i = 0; i < a.in.size(); ++i) in.push_back(with_batch_axis(a.in[i], a.batched[i], a.size));
  const Program& bwd = *a.attrs[bwd_key];
  return apply(a.op, in, a.attrs.with(bwd_key, batched(bwd, Mask(bwd.args.size(), true), a.size)));
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
      return {{sample_in(rng), {{body_key, sample_body()}, {consts_key, int64_t{1}}, {rule_key, rule}}}};
    },
};

constinit const Op custom_linear_op = {
    .name     = "custom_linear",
    .doc      = "the linear part of custom_vjp: its transpose is the user's backward rule",
    .operands = "operands...",
    .infer    = custom_linear_infer,
    .expand =
        [](const Op&, const Tensors& in, const Attrs& a) {
          const size_t fixed = consts_of(a);
          return transposed_bwd(*a[bwd_key], part(in, 0, fixed), part(in, fixed, in.size() - fixed));
        },
    .transpose =
        [](const TransposeArgs& a) {
          const size_t fixed = consts_of(a.attrs);
          return concatenated(Tensors(fixed), replay(*a.attrs[bwd_key], {}, concatenated(part(a.in, 0, fixed), a.ct)));
        },
    .batch  = custom_linear_batch,
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      return {{concatenated(sample_in(rng), {random_array(rng, real_type()), random_array(rng, real_type())}),
               {{bwd_key, sample_bwd()}, {consts_key, int64_t{3}}}}};
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
               {{body_key, sample_body()}, {bwd_key, sample_bwd()}, {consts_key, int64_t{1}}, {fwd_key, fwd}}}};
    },
};

Function custom_jvp(const Function& f, const JvpRule& rule) {
  return [=](const Tensors& x) {
    const Types  types = types_of(x);
    const size_t n     = x.size();
    OpenBody     body  = open_body(types, f);
    OpenBody     dots =
        open_body(joined(types, types), [&](const Tensors& v) { return rule(part(v, 0, n), part(v, n, n)); });
    settle_numbers(dots.results, types_of(body.results));
    require_returns(custom_jvp_op, "the rule", types_of(dots.results), types_of(body.results));
    const Bodies b = close_over(std::vector{body, dots});
    return apply(
        custom_jvp_op, concatenated(b.captures, x),
        {{body_key, b.programs[0]}, {consts_key, static_cast<int64_t>(b.captures.size())}, {rule_key, b.programs[1]}});
  };
}

Function custom_vjp(const Function& f, const ForwardRule& fwd, const BackwardRule& bwd) {
  return [=](const Tensors& x) {
    const Types  types = types_of(x);
    OpenBody     body  = open_body(types, f);
    const Types  y     = types_of(body.results);
    Types        residuals;
    OpenBody     forward  = open_body(types, [&](const Tensors& v) {
      ForwardPass r = fwd(v);
      settle_numbers(r.out, y);
      require_returns(custom_vjp_op, "fwd", types_of(r.out), y);
      residuals = types_of(r.residuals);
      return concatenated(r.out, r.residuals);
    });
    const size_t n        = residuals.size();
    OpenBody     backward = open_body(joined(residuals, y), [&](const Tensors& v) {
      // Integers have no cotangent: the rule may leave theirs undefined.
      Tensors ct = bwd(part(v, 0, n), part(v, n, y.size()));
      for (size_t i = 0; i < ct.size() && i < types.size(); ++i)
        if (!ct[i].defined()) ct[i] = Tensor(types[i], 0);
      settle_numbers(ct, types);
      require_returns(custom_vjp_op, "bwd", types_of(ct), types);
      return ct;
    });
    const Bodies b        = close_over(std::vector{body, forward, backward});
    return apply(custom_vjp_op, concatenated(b.captures, x),
                 {{body_key, b.programs[0]},
                  {bwd_key, b.programs[2]},
                  {consts_key, static_cast<int64_t>(b.captures.size())},
                  {fwd_key, b.programs[1]}});
  };
}

const std::vector<const Op*>& custom_ops() {
  static const std::vector<const Op*> ops = {&custom_jvp_op, &custom_linear_op, &custom_vjp_op};
  return ops;
}

}  // namespace braintrace
