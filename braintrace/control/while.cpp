// SPDX-License-Identifier: Apache-2.0
// while: c = body(w, c) while cond(w, c).  Operands (w, c_0); results c.
//
//   push       the body with tangents, the same condition
//   linearize, transpose   as a scan over max_steps whose finished steps keep the carry; an error without a bound,
//              because the residuals of an unknown number of steps cannot be stored
//   batch      one condition for all samples: batched body; a condition per sample: runs until all are done, and
//              finished samples keep their carry
#include "braintrace/control/while.h"

#include "braintrace/base/long_run.h"
#include "braintrace/base/rng.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/nested.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/sections.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {

namespace {

template <class List>
struct WhileOperands {
  List consts, carry;
};

struct WhileParts {
  const Program &body, &cond;
  size_t         consts, carry;  // lengths
  int64_t        max_steps;

  explicit WhileParts(const Attrs& a)
      : body(*a[keys::body]),
        cond(*a[keys::cond]),
        consts(static_cast<size_t>(std::max<int64_t>(0, a[keys::consts]))),
        carry(body.results.size()),
        max_steps(a[keys::max_steps]) {}

  template <class List>
  WhileOperands<List> split(const List& operands) const {
    return braintrace::split(operands, WhileOperands<size_t>{consts, carry});
  }
  // The marks of operands, extended to every carry they reach; to all carries if they reach the condition.
  WhileOperands<Mask> spread_to_carry(const Mask& operands) const {
    WhileOperands<Mask> marked  = split(operands);
    const auto          reached = [&] {
      const Mask in = joined(marked);
      return result_dependence(cond, in)[0] ? Mask(carry, true) : result_dependence(body, in);
    };
    while (grow(marked.carry, reached())) continue;
    return marked;
  }
};

Tensors apply_while(Traced cond, Traced body, const WhileOperands<Tensors>& operands, int64_t max_steps) {
  const Bodies b      = close_over({std::move(cond), std::move(body)});
  const auto   consts = joined(b.captures, operands.consts);
  return apply(while_op, joined(consts, operands.carry),
               {{keys::body, b.programs[1]},
                {keys::cond, b.programs[0]},
                {keys::consts, static_cast<int64_t>(consts.size())},
                {keys::max_steps, max_steps}});
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
  const Types before = s.split(in).carry;
  require_same_carry(op.name.data(), before, s.body.types_of(s.body.results));
  return before;
}

Arrays while_eval(const Op&, const Arrays& in, const Attrs& a, const Types&) {
  const WhileParts s(a);
  auto             args = s.split(in);
  const LongRun    stoppable;
  for (int64_t step = 0; s.max_steps == 0 || step < s.max_steps; ++step) {
    stop_if_asked();
    const Arrays now = joined(args);
    if (at(evaluate(s.cond, {}, now)[0], 0) == 0) break;
    args.carry = evaluate(s.body, {}, now);
  }
  return args.carry;
}

// Consts and carry, each followed by the tangents that it has.
template <class List>
struct PushedLoopOperands {
  List w, dw, c, dc;
};

Pushed while_push(const JvpArgs& a) {
  const WhileParts    s(a.attrs);
  const auto          types  = s.split(s.body.types_of(s.body.args));
  WhileOperands<Mask> moving = s.split(defined_mask(a.tangents));
  Mask                live;
  Traced              cond, body;
  do {
    const auto                      d = chosen(types, moving);
    const PushedLoopOperands<Types> operands{types.consts, d.consts, types.carry, d.carry};
    cond = trace(joined(operands), [&](const Tensors& args) {
      const auto in = split(args, operands);
      return replay(s.cond, {}, joined(in.w, in.c));
    });
    body = trace(joined(operands), [&](const Tensors& args) {
      const auto   in = split(args, operands);
      const Pushed r  = jvp(s.body, joined(in.w, in.c), joined(spread(WhileOperands<Tensors>{in.dw, in.dc}, moving)));
      live            = defined_mask(r.tangents);
      return joined(r.out, chosen(instantiated(r.tangents, types.carry), moving.carry));
    });
  } while (grow(moving.carry, live));
  const auto    x = s.split(a.in), dx = chosen(s.split(instantiated(a.tangents, types_of(a.in))), moving);
  const Tensors y = apply_while(std::move(cond), std::move(body),
                                {joined(x.consts, dx.consts), joined(x.carry, dx.carry)}, s.max_steps);
  const auto    r = split(y, Dual<size_t>{s.carry, dx.carry.size()});
  return {r.values, spread(r.tangents, moving.carry)};
}

// The same loop as a scan over max_steps: steps after the last one keep the carry.
Program bounded(const WhileParts& s) {
  require(s.max_steps > 0,
          "while: reverse-mode differentiation needs to know how many steps to keep, and this loop has no bound.\n"
          "  Give while_loop (or fori_loop) max_steps, or use scan or a fori_loop with fixed bounds.");
  return with_constants_inside(trace(s.body.types_of(s.body.args), [&](const Tensors& args) {
    const auto in   = s.split(args);
    const auto step = [&](const Tensors& c, const Tensors&) -> ScanResult {
      const Tensor run = replay(s.cond, {}, joined(in.consts, c))[0];
      return {cond(
                  run, [&](const Tensors& x) { return replay(s.body, {}, joined(in.consts, x)); },
                  [](const Tensors& x) { return x; }, c),
              {}};
    };
    return scan(step, in.carry, {}, {s.max_steps}).carry;
  }));
}

Linearized while_linearize(const LinearizeArgs& a) {
  const WhileParts s(a.attrs);
  // Integer carries have no derivative: there is nothing to store.
  const Types types  = types_of(a.in);
  const Mask  active = floats_among(joined(s.spread_to_carry(floats_among(a.active, types))), types);
  if (!any_true(s.split(active).carry))
    return {apply(a.op, a.in, a.attrs), [n = s.carry](const Tensors&) { return Tensors(n); }};
  return linearized(bounded(s), a.in, a.active);
}

Tensors while_batch(const BatchArgs& a) {
  const WhileParts s(a.attrs);
  const auto       given = s.split(a.batched), marks = s.spread_to_carry(a.batched);
  const Mask       moving   = joined(marks);
  const bool       per_case = result_dependence(s.cond, moving)[0];
  const Types      types    = with_batch_axis(s.body.types_of(s.body.args), moving, a.size);
  auto             operands = s.split(a.in);
  for (size_t k = 0; k < s.carry; ++k)
    if (marks.carry[k]) operands.carry[k] = with_batch_axis(operands.carry[k], given.carry[k], a.size);

  auto   running = [&](const Tensors& args) { return vmap(s.cond, args, moving, a.size).out[0]; };
  Traced cond    = trace(types, [&](const Tensors& args) -> Tensors {
    const Tensor run = running(args);
    return {per_case ? greater(sum(convert(run, DType::I32)), 0) : run};
  });
  Traced body    = trace(types, [&](const Tensors& args) {
    Tensors after = vmap(s.body, args, moving, a.size, marks.carry);
    if (!per_case) return after;
    const Tensor  run    = running(args);
    const Tensors before = s.split(args).carry;
    for (size_t k = 0; k < s.carry; ++k)
      after[k] = select(broadcast_axes(run, after[k].shape(), {0}), after[k], before[k]);
    return after;
  });
  return apply_while(std::move(cond), std::move(body), operands, s.max_steps);
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
  return {{in,
           {{keys::body, b.programs[1]},
            {keys::cond, b.programs[0]},
            {keys::consts, int64_t{1}},
            {keys::max_steps, int64_t{6}}}}};
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
    .batch    = while_batch,
    .reach    = [](const Op&, const Attrs& a, const Mask& in) { return WhileParts(a).spread_to_carry(in).carry; },
    .simplify = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      // A loop whose condition is known to be false does nothing.
      const WhileParts s(a);
      const auto       from = producers(s.cond)[s.cond.results[0]];
      const Eqn*       e    = from < 0 ? nullptr : &s.cond.eqns[from];
      if (!e || !e->op->fill || e->op->fill(e->attrs) != 0) return {};
      return s.split(in).carry;
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
  return apply_while(std::move(c), std::move(b), {{}, init}, options.max_steps);
}

const std::vector<const Op*>& while_ops() {
  static const std::vector<const Op*> ops = {&while_op};
  return ops;
}

}  // namespace braintrace
