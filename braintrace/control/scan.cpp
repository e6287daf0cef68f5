// SPDX-License-Identifier: Apache-2.0
// scan: (c_{t+1}, y_t) = body(w, c_t, x_t).  Operands (w, c_0, xs); results (c_T, ys).  The derivative is in
// scan_grad.cpp.
#include "braintrace/control/scan.h"

#include <cstring>

#include "braintrace/base/long_run.h"
#include "braintrace/base/rng.h"
#include "braintrace/control/nested.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {

namespace {

Array row(const Array& xs, int64_t t, const Type& type) {
  Array x(type);
  std::memcpy(x.mutable_raw(), static_cast<const char*>(xs.raw()) + static_cast<size_t>(t) * x.bytes(), x.bytes());
  return x;
}

Types scan_infer(const Op& op, const Types& in, const Attrs& a) {
  const ScanParts s(a);
  require(s.consts + s.carry <= in.size(), "{}: expected {} consts and {} carries, got {} operand(s).", op.name,
          s.consts, s.carry, in.size());
  require(s.length >= 0, "{}: the length {} is negative.", op.name, s.length);
  auto types = split(in, ScanRoles<size_t>{s.consts, s.carry, in.size() - s.consts - s.carry});
  for (size_t i = 0; i < types.xs.size(); ++i) {
    Type& x = types.xs[i];
    require(x.rank() > 0 && x.shape[0] == s.length, "{}: xs {} is {}; its leading axis must have the length {}.",
            op.name, i, to_string(x), s.length);
    x.shape.erase(x.shape.begin());
  }
  require_takes(op, "body", s.body, joined(types));
  require(s.body.results.size() >= s.carry, "{}: the body returns {} result(s) for {} carries.", op.name,
          s.body.results.size(), s.carry);
  const auto out = s.result_types();
  require_same_carry(op.name.data(), types.carry, out.carry);
  return joined(out.carry, stacked(out.ys, s.length));
}

Arrays scan_eval(const Op&, const Arrays& in, const Attrs& a, const Types& out) {
  const ScanParts s(a);
  const auto      types = s.arg_types();
  const auto      given = s.split(in);
  auto            args  = given;
  Arrays          ys;
  for (const Type& t : s.split_results(out).ys) ys.emplace_back(t);
  const LongRun stoppable;
  for (int64_t step = 0; step < s.length; ++step) {
    stop_if_asked();
    const int64_t t = s.reverse ? s.length - 1 - step : step;
    for (size_t i = 0; i < given.xs.size(); ++i) args.xs[i] = row(given.xs[i], t, types.xs[i]);
    const auto y = s.split_results(evaluate(s.body, {}, joined(args)));
    args.carry   = y.carry;
    for (size_t k = 0; k < ys.size(); ++k)
      std::memcpy(static_cast<char*>(ys[k].mutable_raw()) + static_cast<size_t>(t) * y.ys[k].bytes(), y.ys[k].raw(),
                  y.ys[k].bytes());
  }
  return joined(args.carry, ys);
}

Tensors scan_batch(const BatchArgs& a) {
  const ScanParts   s(a.attrs);
  const auto        given = s.split(a.batched), moving = s.spread_to_carry(a.batched);
  ScanResults<Mask> moved = s.split_results(result_dependence(s.body, joined(moving)));
  moved.carry             = moving.carry;
  auto operands           = s.split(a.in);
  for (size_t k = 0; k < s.carry; ++k)
    if (moving.carry[k]) operands.carry[k] = with_batch_axis(operands.carry[k], given.carry[k], a.size);
  for (size_t i = 0; i < s.xs(); ++i)
    if (moving.xs[i]) operands.xs[i] = move_axis(operands.xs[i], 0, 1);
  const Types types = with_batch_axis(joined(s.arg_types()), joined(moving), a.size);
  Traced      body =
      trace(types, [&](const Tensors& args) { return vmap(s.body, args, joined(moving), a.size, joined(moved)); });
  auto out = s.split_results(apply_scan(std::move(body), operands, s.length, s.reverse));
  for (size_t k = 0; k < s.ys(); ++k)
    if (moved.ys[k]) out.ys[k] = move_axis(out.ys[k], 1, 0);
  return joined(out);
}

// Carries that no step changes become consts.
Tensors scan_simplify(const Op& op, const Tensors& in, const Attrs& a) {
  const ScanParts s(a);
  const auto      given = s.split(in);
  if (s.length == 0) return joined(given.carry, zeros_of(s.split_results(infer(op, types_of(in), a)).ys));
  const auto args    = s.split(s.body.args);
  const auto results = s.split_results(s.body.results);
  Mask       fixed(s.carry);
  for (size_t k = 0; k < s.carry; ++k) fixed[k] = results.carry[k] == args.carry[k];
  if (!any_true(fixed)) return {};
  const Mask varies  = inverted(fixed);
  Program    body    = s.body;
  body.args          = joined(args.consts, chosen(args.carry, fixed), chosen(args.carry, varies), args.xs);
  body.results       = joined(chosen(results.carry, varies), results.ys);
  const Tensors some = apply_scan(
      {std::move(body), {}}, {joined(given.consts, chosen(given.carry, fixed)), chosen(given.carry, varies), given.xs},
      s.length, s.reverse);
  auto out  = split(some, ScanResults<size_t>{some.size() - s.ys(), s.ys()});
  out.carry = spread(out.carry, varies);
  for (size_t k = 0; k < s.carry; ++k)
    if (fixed[k]) out.carry[k] = given.carry[k];
  return joined(out);
}

// A carry is kept if its last value is used, or if a step needs it for something that is kept.
Pruned scan_prune(const Attrs& a, const Mask& used) {
  const ScanParts   s(a);
  ScanResults<Mask> results = s.split_results(used);
  ScanRoles<Mask>   operands;
  do operands = s.split(gather(backward_dependence(s.body, joined(results)), s.body.args));
  while (grow(results.carry, operands.carry));
  operands.carry = results.carry;
  Program body   = s.body;
  body.args      = chosen(body.args, joined(operands));
  body.results   = chosen(body.results, joined(results));
  const auto n   = counts(operands);
  return {
      ScanParts::attrs(std::make_shared<const Program>(dce(std::move(body))), n.consts, n.carry, s.length, s.reverse),
      joined(operands), joined(results)};
}

std::vector<Sample> scan_sample(const Op&, Rng& rng) {
  const Type row_type{DType::F64, {2}}, square{DType::F64, {2, 2}}, count{DType::I32, {}};
  // w : [2], h : [2], c : [2] accumulates, n counts steps, x : [2]
  const auto body = std::make_shared<const Program>(
      trace({row_type, row_type, row_type, count, row_type}, [](const Tensors& v) -> Tensors {
        const Tensor h = tanh(v[0] * v[1] + v[4]);
        return {h, v[2] + h * v[4], v[3] + 1, sum(h * v[0]), v[4] * convert(v[3], DType::F64)};
      }).program);
  const Tensors in = {random_array(rng, row_type), random_array(rng, row_type), random_array(rng, row_type),
                      Array::of<int32_t>({1}, {}), random_array(rng, {DType::F64, {4, 2}})};
  return {{in, ScanParts::attrs(body, 1, 3, 4, false)}, {in, ScanParts::attrs(body, 1, 3, 4, true)}};
}

}  // namespace

constinit const Op scan_op = {
    .name      = "scan",
    .doc       = "a loop over the leading axis, with a carry",
    .operands  = "operands...",
    .infer     = scan_infer,
    .eval      = scan_eval,
    .push      = scan_push,
    .linearize = scan_linearize,
    .transpose = scan_transpose,
    .batch     = scan_batch,
    .reach =
        [](const Op&, const Attrs& a, const Mask& in) {
          const ScanParts s(a);
          const auto      marked = s.spread_to_carry(in);
          return joined(marked.carry, s.split_results(result_dependence(s.body, joined(marked))).ys);
        },
    .simplify = scan_simplify,
    .prune    = scan_prune,
    .sample   = scan_sample,
};

void require_same_carry(const char* where, const Types& before, const Types& after) {
  require(before.size() == after.size(), "{}: the body must return one tensor per carry ({}), got {}.", where,
          before.size(), after.size());
  for (size_t k = 0; k < before.size(); ++k)
    require(before[k] == after[k],
            "{}: carry {} starts as {} but the body returns {}.\n  The carry keeps its type: convert or broadcast the "
            "initial value or the result.",
            where, k, to_string(before[k]), to_string(after[k]));
}

Tensors apply_scan(Traced body, const ScanOperands& operands, int64_t length, bool reverse) {
  const Tensors consts  = joined(body.constants, operands.consts);
  const auto    program = std::make_shared<const Program>(constants_as_args(std::move(body.program)));
  return apply(scan_op, joined(consts, operands.carry, operands.xs),
               ScanParts::attrs(program, consts.size(), operands.carry.size(), length, reverse));
}

namespace {

// Arguments of the body of a loop over xs, and the carry of one that counts.
template <class List>
struct LoopArgs {
  List carry, x;
};
template <class List>
struct ForCarry {
  List i, carry;
};

}  // namespace

ScanResult scan(const ScanBody& body, const Tensors& carry, const Tensors& xs, const ScanOptions& options) {
  int64_t         length = options.length;
  LoopArgs<Types> types{types_of(carry), {}};
  for (size_t i = 0; i < xs.size(); ++i) {
    require(xs[i].defined() && xs[i].rank() > 0, "scan: xs {} has no leading axis to loop over.", i);
    const int64_t n = xs[i].shape()[0];
    require(length < 0 || n == length, "scan: xs {} is {}, but the length is {}.\n  All xs share their leading axis.",
            i, to_string(xs[i].type()), length);
    length = n;
    types.x.push_back({xs[i].dtype(), Shape(xs[i].shape().begin() + 1, xs[i].shape().end())});
  }
  require(length >= 0, "scan: without xs the number of steps is unknown; set ScanOptions.length.");
  ScanResults<size_t> n;
  OpenBody            open = open_body(joined(types), [&](const Tensors& args) {
    const auto       in = split(args, types);
    const ScanResult r  = body(in.carry, in.x);
    n                   = section_sizes(r);
    return joined(r);
  });
  settle_numbers(open.results, types.carry);
  require_same_carry("scan", types.carry, split(types_of(open.results), n).carry);
  return split(apply_scan(open.builder->finish(open.results), {{}, carry, xs}, length, options.reverse), n);
}

Tensors fori_loop(const Tensor& lo, const Tensor& hi, const ForBody& body, const Tensors& init, int64_t max_steps) {
  require(lo.defined() && hi.defined() && lo.rank() == 0 && hi.rank() == 0, "fori_loop: the bounds must be scalars.");
  const DType dtype = hi.is_weak() ? (lo.is_weak() ? DType::I32 : lo.dtype()) : hi.dtype();
  require(!is_float(dtype), "fori_loop: the bounds must be integers, got {}.", name_of(dtype));
  if (!lo.is_traced() && !hi.is_traced()) {
    const auto    first = static_cast<int64_t>(lo.item()), last = static_cast<int64_t>(hi.item());
    const int64_t n = std::max<int64_t>(0, last - first);
    const Tensor  i = iota({n}, 0, dtype) + Tensor(Type{dtype, {}}, static_cast<double>(first));
    return scan([&](const Tensors& c, const Tensors& x) -> ScanResult { return {body(x[0], c), {}}; }, init, {i}).carry;
  }
  const Tensor end  = convert(hi, dtype);
  const auto   next = [&](const Tensors& flat) {
    const auto c = split(flat, ForCarry<size_t>{1, init.size()});
    return joined(Tensors{c.i[0] + 1}, body(c.i[0], c.carry));
  };
  const Tensors out = while_loop([&](const Tensors& c) -> Tensor { return less(c[0], end); }, next,
                                 joined(Tensors{convert(lo, dtype)}, init), {max_steps});
  return split(out, ForCarry<size_t>{1, init.size()}).carry;
}

const std::vector<const Op*>& scan_ops() {
  static const std::vector<const Op*> ops = {&scan_op};
  return ops;
}

}  // namespace braintrace
