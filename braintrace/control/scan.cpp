// SPDX-License-Identifier: Apache-2.0
// scan: (c_{t+1}, y_t) = body(w, c_t, x_t).  Operands (w, c_0, xs); results (c_T, ys).  The derivative is in
// scan_grad.cpp.
#include "braintrace/control/scan.h"

#include <cstring>

#include "braintrace/base/rng.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/control/while.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

Array row(const Array& xs, int64_t t, const Type& type) {
  Array x(type);
  std::memcpy(x.mutable_raw(), static_cast<const char*>(xs.raw()) + static_cast<size_t>(t) * x.bytes(), x.bytes());
  return x;
}

Types scan_infer(const Op& op, const Types& in, const Attrs& a) {
  const ScanParts s(a);
  require(s.consts + s.carry <= in.size(), "{}: {} consts and {} carries were announced, got {} operand(s).", op.name,
          s.consts, s.carry, in.size());
  require(s.length >= 0, "{}: the length {} is negative.", op.name, s.length);
  Types inner = in;
  for (size_t i = s.consts + s.carry; i < in.size(); ++i) {
    require(in[i].rank() > 0 && in[i].shape[0] == s.length,
            "{}: xs {} is {}; its leading axis must have the length {}.", op.name, i - s.consts - s.carry,
            to_string(in[i]), s.length);
    inner[i].shape.erase(inner[i].shape.begin());
  }
  require_takes(op, "body", s.body, inner);
  Types out = s.body.types_of(s.body.results);
  require(out.size() >= s.carry, "{}: the body returns {} result(s) for {} carries.", op.name, out.size(), s.carry);
  const Types after = part(out, 0, s.carry);
  require_same_carry(op.name.data(), part(in, s.consts, s.carry), after);
  return joined(after, stacked(part(out, s.carry, out.size() - s.carry), s.length));
}

Arrays scan_eval(const Op&, const Arrays& in, const Attrs& a, const Types& out) {
  const ScanParts s(a);
  Arrays          args(in.begin(), in.end()),
      results(in.begin() + static_cast<int64_t>(s.consts), in.begin() + static_cast<int64_t>(s.consts + s.carry));
  for (size_t k = s.carry; k < out.size(); ++k) results.emplace_back(out[k]);
  for (int64_t step = 0; step < s.length; ++step) {
    const int64_t t = s.reverse ? s.length - 1 - step : step;
    for (size_t i = s.consts + s.carry; i < in.size(); ++i) args[i] = row(in[i], t, s.body.type(s.body.args[i]));
    Arrays y = evaluate(s.body, {}, args);
    for (size_t k = 0; k < s.carry; ++k) results[k] = args[s.consts + k] = y[k];
    for (size_t k = s.carry; k < y.size(); ++k)
      std::memcpy(static_cast<char*>(results[k].mutable_raw()) + static_cast<size_t>(t) * y[k].bytes(), y[k].raw(),
                  y[k].bytes());
  }
  return results;
}

Tensors scan_batch(const BatchArgs& a) {
  const ScanParts s(a.attrs);
  const Mask      moving = s.spread_to_carry(a.batched);
  ScanOperands    operands;
  Types           inner;
  for (size_t i = 0; i < a.in.size(); ++i) {
    const bool is_carry = i >= s.consts && i < s.consts + s.carry, is_x = i >= s.consts + s.carry;
    Tensor     t = is_carry && moving[i] ? with_batch_axis(a.in[i], a.batched[i], a.size) : a.in[i];
    if (is_x && moving[i]) t = move_axis(t, 0, 1);
    (is_x ? operands.xs : is_carry ? operands.carry : operands.consts).push_back(t);
    Type type = s.body.type(s.body.args[i]);
    if (moving[i]) type.shape.insert(type.shape.begin(), a.size);
    inner.push_back(std::move(type));
  }
  const Mask reached = result_dependence(s.body, moving);
  Traced     body    = trace(inner, [&](const Tensors& args) {
    VmapResult r = vmap(s.body, args, moving, a.size);
    for (size_t k = 0; k < r.out.size(); ++k)
      if (k < s.carry ? moving[s.consts + k] : reached[k]) r.out[k] = with_batch_axis(r.out[k], r.batched[k], a.size);
    return r.out;
  });
  Tensors    out     = apply_scan(std::move(body), std::move(operands), s.length, s.reverse);
  for (size_t k = s.carry; k < out.size(); ++k)
    if (reached[k]) out[k] = move_axis(out[k], 1, 0);
  return out;
}

// Carries that every step passes on unchanged are consts.
Tensors scan_simplify(const Op& op, const Tensors& in, const Attrs& a) {
  const ScanParts s(a);
  if (s.length == 0) {
    Tensors out = part(in, s.consts, s.carry);
    for (const Type& t : part(infer(op, types_of(in), a), s.carry, s.body.results.size() - s.carry))
      out.emplace_back(t, 0);
    return out;
  }
  Mask fixed(s.carry);
  for (size_t k = 0; k < s.carry; ++k) fixed[k] = s.body.results[k] == s.body.args[s.consts + k];
  if (!any_true(fixed)) return {};
  Mask varies = fixed;
  varies.flip();
  Program       body  = s.body;
  const auto    begin = body.args.begin() + static_cast<int64_t>(s.consts);
  const Vars    carried(begin, begin + static_cast<int64_t>(s.carry));
  const Vars    returned = body.results;
  Vars          args(body.args.begin(), begin);
  const auto    given = s.split(in);
  const Tensors init  = given.carry;
  ScanOperands  operands{concatenated(given.consts, chosen(init, fixed)), chosen(init, varies), given.xs};
  for (size_t k = 0; k < s.carry; ++k)
    if (fixed[k]) args.push_back(carried[k]);
  for (size_t k = 0; k < s.carry; ++k)
    if (varies[k]) args.push_back(carried[k]);
  args.insert(args.end(), begin + static_cast<int64_t>(s.carry), body.args.end());
  body.args = std::move(args);
  body.results.clear();
  for (size_t k = 0; k < returned.size(); ++k)
    if (k >= s.carry || varies[k]) body.results.push_back(returned[k]);
  const Tensors some = apply_scan({std::move(body), {}}, std::move(operands), s.length, s.reverse);
  Tensors       out;
  size_t        next = 0;
  for (size_t k = 0; k < returned.size(); ++k) out.push_back(k < s.carry && fixed[k] ? init[k] : some[next++]);
  return out;
}

// A carry stays when its last value is used, or when a step needs it for something that stays.
Pruned scan_prune(const Attrs& a, const Mask& used) {
  const ScanParts s(a);
  Mask            results = used, needed;
  for (bool changed = true; changed;) {
    changed = false;
    needed  = backward_dependence(s.body, results);
    for (size_t k = 0; k < s.carry; ++k)
      if (needed[s.body.args[s.consts + k]] && !results[k]) changed = results[k] = true;
  }
  Mask operands;
  for (size_t i = 0; i < s.body.args.size(); ++i) {
    const bool is_carry = i >= s.consts && i < s.consts + s.carry;
    operands.push_back(is_carry ? results[i - s.consts] : needed[s.body.args[i]]);
  }
  Program body         = s.body;
  body.args            = chosen(body.args, operands);
  body.results         = chosen(body.results, results);
  const Mask of_consts = part(operands, 0, s.consts), of_carry = part(results, 0, s.carry);
  return {
      ScanParts::attrs(std::make_shared<const Program>(dce(std::move(body))),
                       static_cast<size_t>(std::count(of_consts.begin(), of_consts.end(), true)),
                       static_cast<size_t>(std::count(of_carry.begin(), of_carry.end(), true)), s.length, s.reverse),
      operands, results};
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
          Mask            out = result_dependence(s.body, s.spread_to_carry(in));
          for (size_t k = 0; k < s.carry; ++k) out[k] = out[k] || in[s.consts + k];
          return out;
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

Tensors apply_scan(Traced body, ScanOperands operands, int64_t length, bool reverse) {
  const size_t consts = body.constants.size() + operands.consts.size(), carry = operands.carry.size();
  const auto   program = std::make_shared<const Program>(constants_as_args(std::move(body.program)));
  Tensors      in      = concatenated(std::move(body.constants), operands.consts);
  in                   = concatenated(concatenated(std::move(in), operands.carry), operands.xs);
  return apply(scan_op, std::move(in), ScanParts::attrs(program, consts, carry, length, reverse));
}

ScanResult scan(const ScanBody& body, const Tensors& carry, const Tensors& xs, const ScanOptions& options) {
  int64_t length = options.length;
  Types   types  = types_of(carry);
  for (size_t i = 0; i < xs.size(); ++i) {
    require(xs[i].defined() && xs[i].rank() > 0, "scan: xs {} has no leading axis to loop over.", i);
    const int64_t n = xs[i].shape()[0];
    require(length < 0 || n == length, "scan: xs {} is {}, but the length is {}.\n  All xs share their leading axis.",
            i, to_string(xs[i].type()), length);
    length = n;
    types.push_back({xs[i].dtype(), Shape(xs[i].shape().begin() + 1, xs[i].shape().end())});
  }
  require(length >= 0, "scan: without xs the number of steps is unknown; set ScanOptions.length.");
  size_t   returned = 0;
  OpenBody open     = open_body(types, [&](const Tensors& args) {
    ScanResult r = body(part(args, 0, carry.size()), part(args, carry.size(), xs.size()));
    returned     = r.carry.size();
    return concatenated(std::move(r.carry), r.ys);
  });
  settle_numbers(open.results, part(types, 0, std::min(carry.size(), returned)));
  require_same_carry("scan", types_of(carry), part(types_of(open.results), 0, returned));
  const Tensors out = apply_scan(open.builder->finish(open.results), {{}, carry, xs}, length, options.reverse);
  return {part(out, 0, carry.size()), part(out, carry.size(), out.size() - carry.size())};
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
  const Tensor  end = convert(hi, dtype);
  const Tensors out =
      while_loop([&](const Tensors& c) -> Tensor { return less(c[0], end); },
                 [&](const Tensors& c) { return concatenated({c[0] + 1}, body(c[0], part(c, 1, init.size()))); },
                 concatenated({convert(lo, dtype)}, init), {max_steps});
  return part(out, 1, init.size());
}

const std::vector<const Op*>& scan_ops() {
  static const std::vector<const Op*> ops = {&scan_op};
  return ops;
}

}  // namespace braintrace
