// SPDX-License-Identifier: Apache-2.0
// while: c = body(w, c) while cond(w, c).  Operands (w, c_0); results c.
//
//   push       the body with tangents, the same condition
//   linearize, transpose   as a scan over max_steps whose finished steps pass the carry on; refused without a bound,
//              since the residuals of an unknown number of steps have no place
//   batch      one condition for all samples: batched body; a condition per sample: runs until all are done, and
//              finished samples keep their carry
#include "braintrace/control/while.h"

#include "braintrace/base/rng.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

constexpr Key<ProgramPtr> body_key{"body"}, cond_key{"cond"};
constexpr Key<int64_t>    consts_key{"consts"}, max_steps_key{"max_steps"};

struct WhileParts {
  const Program &body, &cond;
  size_t         consts, carry;
  int64_t        max_steps;

  explicit WhileParts(const Attrs& a)
      : body(*a[body_key]),
        cond(*a[cond_key]),
        consts(static_cast<size_t>(std::max<int64_t>(0, a[consts_key]))),
        carry(body.results.size()),
        max_steps(a[max_steps_key]) {}

  // The marks of operands, spread to every carry they reach; all, when they reach the condition.
  Mask spread_to_carry(Mask in) const {
    for (bool changed = true; changed;) {
      changed        = false;
      const Mask out = result_dependence(body, in);
      const bool all = result_dependence(cond, in)[0];
      for (size_t k = 0; k < carry; ++k)
        if ((all || out[k]) && !in[consts + k]) changed = in[consts + k] = true;
    }
    return in;
  }
};

Tensors apply_while(Traced cond, Traced body, const Tensors& consts, const Tensors& carry, int64_t max_steps) {
  const Bodies b = close_over({std::move(cond), std::move(body)});
  return apply(while_op, concatenated(concatenated(b.captures, consts), carry),
               {{body_key, b.programs[1]},
                {cond_key, b.programs[0]},
                {consts_key, static_cast<int64_t>(b.captures.size() + consts.size())},
                {max_steps_key, max_steps}});
}

Types while_infer(const Op& op, const Types& in, const Attrs& a) {
  const WhileParts s(a);
  require(s.max_steps >= 0, "{}: max_steps {} is negative; use 0 for no bound.", op.name, s.max_steps);
  require(s.consts + s.carry == in.size(), "{}: expected {} consts and {} carries, got {} operand(s).", op.name,
          s.consts, s.carry, in.size());
  require_takes(op, "condition", s.cond, in);
  require_takes(op, "body", s.body, in);
  require(s.cond.types_of(s.cond.results) == Types{{DType::Bool, {}}}, "{}: the condition must return one bool[].",
          op.name);
  const Types before = part(in, s.consts, s.carry);
  require_same_carry(op.name.data(), before, s.body.types_of(s.body.results));
  return before;
}

Arrays while_eval(const Op&, const Arrays& in, const Attrs& a, const Types&) {
  const WhileParts s(a);
  Arrays           args = in;
  for (int64_t step = 0; s.max_steps == 0 || step < s.max_steps; ++step) {
    if (at(evaluate(s.cond, {}, args)[0], 0) == 0) break;
    const Arrays y = evaluate(s.body, {}, args);
    std::copy(y.begin(), y.end(), args.begin() + static_cast<int64_t>(s.consts));
  }
  return Arrays(args.begin() + static_cast<int64_t>(s.consts), args.end());
}

Pushed while_push(const JvpArgs& a) {
  const WhileParts s(a.attrs);
  const Types      types  = s.body.types_of(s.body.args);
  Mask             active = defined_mask(a.tangents);
  Traced           cond, body;
  for (bool again = true; again;) {
    // consts, their tangents, carry, its tangents
    const Mask  moved_w = part(active, 0, s.consts), moved_c = part(active, s.consts, s.carry);
    const Types w = part(types, 0, s.consts), c = part(types, s.consts, s.carry), dw = chosen(w, moved_w),
                dc     = chosen(c, moved_c);
    const Types  inner = joined(joined(w, dw), joined(c, dc));
    const size_t at_c  = w.size() + dw.size();
    cond               = trace(inner, [&](const Tensors& args) {
      return replay(s.cond, {}, concatenated(part(args, 0, w.size()), part(args, at_c, c.size())));
    });
    body               = trace(inner, [&](const Tensors& args) {
      const Pushed r = jvp(s.body, concatenated(part(args, 0, w.size()), part(args, at_c, c.size())),
                                         concatenated(spread(part(args, w.size(), dw.size()), moved_w),
                                                      spread(part(args, at_c + c.size(), dc.size()), moved_c)));
      again          = false;
      for (size_t k = 0; k < s.carry; ++k)
        if (r.tangents[k].defined() && !active[s.consts + k]) again = active[s.consts + k] = true;
      return concatenated(r.out, chosen(instantiated(r.tangents, c), moved_c));
    });
  }
  const Mask    moved = part(active, s.consts, s.carry);
  const Tensors dx    = instantiated(a.tangents, types_of(a.in));
  const Tensors y =
      apply_while(std::move(cond), std::move(body),
                  concatenated(part(a.in, 0, s.consts), chosen(part(dx, 0, s.consts), part(active, 0, s.consts))),
                  concatenated(part(a.in, s.consts, s.carry), chosen(part(dx, s.consts, s.carry), moved)), s.max_steps);
  return {part(y, 0, s.carry), spread(part(y, s.carry, y.size() - s.carry), moved)};
}

// The same loop as a scan over max_steps: steps after the last pass the carry on.
Program bounded(const WhileParts& s) {
  require(s.max_steps > 0,
          "while: reverse-mode differentiation needs to know how many steps to keep, and this loop has no bound.\n"
          "  Give while_loop (or fori_loop) max_steps, or use scan or a fori_loop with fixed bounds.");
  const Types types = s.body.types_of(s.body.args);
  return with_constants_inside(trace(types, [&](const Tensors& args) {
    const Tensors consts = part(args, 0, s.consts);
    return scan(
               [&](const Tensors& c, const Tensors&) -> ScanResult {
                 const Tensor run = replay(s.cond, {}, concatenated(consts, c))[0];
                 return {cond(
                             run, [&](const Tensors& x) { return replay(s.body, {}, concatenated(consts, x)); },
                             [](const Tensors& x) { return x; }, c),
                         {}};
               },
               part(args, s.consts, s.carry), {}, {s.max_steps})
        .carry;
  }));
}

Linearized while_linearize(const LinearizeArgs& a) {
  const WhileParts s(a.attrs);
  // Integer carries alone have no derivative: nothing to keep.
  const Mask active = floats_among(s.spread_to_carry(floats_among(a.active, types_of(a.in))), types_of(a.in));
  if (!any_true(part(active, s.consts, s.carry)))
    return {apply(a.op, a.in, a.attrs), [n = s.carry](const Tensors&) { return Tensors(n); }};
  return linearized(bounded(s), a.in, a.active);
}

Tensors while_batch(const BatchArgs& a) {
  const WhileParts s(a.attrs);
  const Mask       moving   = s.spread_to_carry(a.batched);
  const bool       per_case = result_dependence(s.cond, moving)[0];
  Tensors          carry;
  Types            inner = s.body.types_of(s.body.args);
  for (size_t i = 0; i < inner.size(); ++i)
    if (moving[i]) inner[i].shape.insert(inner[i].shape.begin(), a.size);
  for (size_t i = s.consts; i < a.in.size(); ++i)
    carry.push_back(moving[i] ? with_batch_axis(a.in[i], a.batched[i], a.size) : a.in[i]);

  auto   running = [&](const Tensors& args) { return vmap(s.cond, args, moving, a.size).out[0]; };
  Traced cond    = trace(inner, [&](const Tensors& args) -> Tensors {
    const Tensor run = running(args);
    return {per_case ? greater(sum(convert(run, DType::I32)), 0) : run};
  });
  Traced body    = trace(inner, [&](const Tensors& args) {
    VmapResult r = vmap(s.body, args, moving, a.size);
    for (size_t k = 0; k < s.carry; ++k)
      if (moving[s.consts + k]) r.out[k] = with_batch_axis(r.out[k], r.batched[k], a.size);
    if (!per_case) return r.out;
    const Tensor run = running(args);
    for (size_t k = 0; k < s.carry; ++k)
      r.out[k] = select(broadcast_axes(run, r.out[k].shape(), {0}), r.out[k], args[s.consts + k]);
    return r.out;
  });
  return apply_while(std::move(cond), std::move(body), part(a.in, 0, s.consts), carry, s.max_steps);
}

std::vector<Sample> while_sample(const Op&, Rng& rng) {
  const Type t{DType::F64, {2}}, n{DType::I32, {}};
  // w : [2] is a const; the carry is limit, i, h : [2]
  auto         cond  = trace({t, n, n, t}, [](const Tensors& v) -> Tensors { return {less(v[2], v[1])}; });
  auto         body  = trace({t, n, n, t}, [](const Tensors& v) -> Tensors {
    return {v[1], v[2] + 1, tanh(v[0] * v[3]) + v[3] * 0.5};
  });
  const Bodies b     = close_over({std::move(cond), std::move(body)});
  const auto   limit = static_cast<int32_t>(1 + rng.integer(4));
  const auto   in =
      Tensors{random_array(rng, t), Array::of<int32_t>({limit}, {}), Array::of<int32_t>({0}, {}), random_array(rng, t)};
  return {
      {in,
       {{body_key, b.programs[1]}, {cond_key, b.programs[0]}, {consts_key, int64_t{1}}, {max_steps_key, int64_t{6}}}}};
}

}  // namespace

constinit const Op while_op = {
    .name      = "while",
    .doc       = "a loop that runs as long as a condition holds",
    .operands  = "operands...",
    .infer     = while_infer,
    .eval      = while_eval,
    .push      = while_push,
    .linearize = while_linearize,
    .transpose =
        [](const TransposeArgs& a) { return transpose(bounded(WhileParts(a.attrs)), {}, a.in, a.linear, a.ct); },
    .batch = while_batch,
    .reach =
        [](const Op&, const Attrs& a, const Mask& in) {
          const WhileParts s(a);
          return part(s.spread_to_carry(in), s.consts, s.carry);
        },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      // A loop whose condition is known to be false does nothing.
      const WhileParts s(a);
      const auto       from = producers(s.cond)[s.cond.results[0]];
      if (from < 0 || s.cond.eqns[from].op->name != "full" || s.cond.eqns[from].attrs[Key<double>{"value"}] != 0)
        return {};
      return part(in, s.consts, s.carry);
    },
    .sample = while_sample,
};

Tensors while_loop(const std::function<Tensor(const Tensors&)>& cond, const Function& body, const Tensors& init,
                   const WhileOptions& options) {
  const Types types = types_of(init);
  OpenBody    test  = open_body(types, [&](const Tensors& c) -> Tensors { return {cond(c)}; });
  const Type  got   = test.results[0].type();
  require(got.rank() == 0,
          "while_loop: the condition must be a scalar, got {}.\n  Reduce it, for example with any or all.",
          to_string(got));
  test.results[0] = convert(test.results[0], DType::Bool);
  OpenBody step   = open_body(types, body);
  settle_numbers(step.results, types);
  require_same_carry("while_loop", types, types_of(step.results));
  Traced c = test.builder->finish(test.results), b = step.builder->finish(step.results);
  return apply_while(std::move(c), std::move(b), {}, init, options.max_steps);
}

const std::vector<const Op*>& while_ops() {
  static const std::vector<const Op*> ops = {&while_op};
  return ops;
}

}  // namespace braintrace
