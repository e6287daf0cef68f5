// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/lower_scan.h"

#include <algorithm>
#include <numeric>

#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/time_loop.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/copy.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace::codegen {

namespace {

using keys::lhs_contract;
using keys::rhs_contract;

bool keeps_rows(const Op& op, const Attrs& a, const Shape& from, const Shape& to) {
  if (from.empty() || to.empty() || from[0] != to[0]) return false;
  if (&op == &broadcast_op) return !a[keys::dims].empty() && a[keys::dims][0] == 0;
  return &op == &reshape_op || a[keys::perm][0] == 0;
}
// The same view of one row.
Attrs of_row(const Op& op, const Attrs& a) {
  auto tail  = [](const Ints& v) { return Ints(v.begin() + 1, v.end()); };
  auto lower = [&](Ints v) {
    for (int64_t& x : v) --x;
    return v;
  };
  if (&op == &broadcast_op) return {{keys::dims, lower(tail(a[keys::dims]))}, {keys::shape, tail(a[keys::shape])}};
  if (&op == &reshape_op) return {{keys::shape, tail(a[keys::shape])}};
  return {{keys::perm, lower(tail(a[keys::perm]))}};
}

// Operands that only look at another tensor are looked at inside, known indices too, xs row by row, and xs that follow
// cheaply from other tensors are computed there: their elements need no memory, and equal computations inside meet.
void take_operands_in(Loop& l) {
  std::vector<Eqn> inside;
  auto             look_inside = [&](Var& arg, Tensor& t, bool rows) {
    for (const Op* op : {&broadcast_op, &reshape_op, &transpose_op}) {
      const auto made = made_by(*op, t);
      if (!made || (rows && !keeps_rows(*op, made->attrs, made->in[0].shape(), t.shape()))) continue;
      Type type = made->in[0].type();
      if (rows) type.shape.erase(type.shape.begin());
      const Var base = l.body.add_value(type);
      inside.push_back({op, {base}, {arg}, rows ? of_row(*op, made->attrs) : made->attrs, 0});
      arg = base;
      t   = made->in[0];
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < l.const_args.size(); ++i) {
    while (look_inside(l.const_args[i], l.consts[i], false)) continue;
    const auto known = made_by(constant_op, l.consts[i]);
    if (!known || !is_integer(l.consts[i].dtype())) continue;
    inside.push_back({&constant_op, {}, {l.const_args[i]}, known->attrs, 0});
    l.const_args[i] = l.body.add_value(l.consts[i].type());  // unused from now on
  }
  for (size_t i = 0; i < l.x_args.size(); ++i) {
    while (look_inside(l.x_args[i], l.xs[i], true)) continue;
    const Tensor t = l.xs[i];
    const Eqn*   e = t.is_traced() && t.trace()->is_open() ? t.trace()->producer(t.trace_var()) : nullptr;
    if (!e || e->out.size() != 1) continue;
    Type row = t.type();
    row.shape.erase(row.shape.begin());
    if (e->op == &full_op) {
      inside.push_back({&full_op, {}, {l.x_args[i]}, e->attrs.with(keys::shape, Ints(row.shape)), 0});
      l.x_args[i] = l.body.add_value(row);  // unused from now on
    } else if (is_cheap(*e->op) || (e->op == &concat_op && e->attrs[keys::axis] > 0)) {
      // Every operand has the rows of t: elementwise operands are alike, and pieces differ along another axis.
      const auto made = *made_by(*e->op, t);
      Vars       in;
      for (const Tensor& operand : made.in) {
        Type type = operand.type();
        type.shape.erase(type.shape.begin());
        in.push_back(l.body.add_value(type));
        l.x_args.push_back(in.back());
        l.xs.push_back(operand);
      }
      const bool joins = e->op == &concat_op;
      inside.push_back(
          {e->op, in, {l.x_args[i]}, joins ? made.attrs.with(keys::axis, made.attrs[keys::axis] - 1) : made.attrs, 0});
      l.x_args[i] = l.body.add_value(row);
    }
  }
  std::reverse(inside.begin(), inside.end());
  l.body.eqns.insert(l.body.eqns.begin(), inside.begin(), inside.end());
}

// Operands that are the same tensor become one.
void join_operands(Loop& l) {
  Vars to(l.body.types.size());
  std::iota(to.begin(), to.end(), 0);
  auto join = [&](Vars& args, Tensors& values) {
    Vars    kept;
    Tensors kept_values;
    for (size_t i = 0; i < args.size(); ++i) {
      size_t k = 0;
      while (k < kept.size() && (values[i].trace() != kept_values[k].trace() ||
                                 values[i].trace_var() != kept_values[k].trace_var() || !values[i].is_traced()))
        ++k;
      if (k < kept.size()) {
        to[args[i]] = kept[k];
        continue;
      }
      kept.push_back(args[i]);
      kept_values.push_back(values[i]);
    }
    args   = std::move(kept);
    values = std::move(kept_values);
  };
  join(l.const_args, l.consts);
  join(l.x_args, l.xs);
  for (Eqn& e : l.body.eqns)
    for (Var& v : e.in) v = to[v];
  for (Vars* results : {&l.carry_out, &l.ys})
    for (Var& v : *results) v = to[v];
}

// A carry that is the same number at the start and after every step is that number.
void fix_constant_carries(Loop& l) {
  const auto       producer = producers(l.body);
  std::vector<Eqn> known;
  for (size_t k = 0; k < l.carry_args.size(); ++k) {
    const Eqn* e     = producer[l.carry_out[k]] >= 0 ? &l.body.eqns[producer[l.carry_out[k]]] : nullptr;
    const auto start = made_by(full_op, l.init[k]);
    if (!e || e->op != &full_op || !start || start->attrs[keys::value] != e->attrs[keys::value]) continue;
    const Var unused = l.body.add_value(l.body.type(l.carry_args[k]));
    known.push_back({&full_op, {}, {l.carry_args[k]}, e->attrs, 0});
    l.carry_args[k] = unused;
  }
  l.body.eqns.insert(l.body.eqns.begin(), known.begin(), known.end());
}

// Whether a value costs less to compute again than to read from memory.
bool is_cheap_to_repeat(const Op& op) { return is_cheap(op) || is_view(op) || &op == &full_op || &op == &concat_op; }

// What to stack in place of the ys: values from which, with inputs and carries, all of them follow by cheap equations;
// the ys themselves where these are smaller.
Vars worth_stacking(const Loop& l) {
  const auto producer = producers(l.body);
  auto       bytes    = [&](const Vars& vars) {
    int64_t n = 0;
    for (Var v : vars) n += l.body.type(v).size() * static_cast<int64_t>(size_of(l.body.type(v).dtype));
    return n;
  };
  auto has = [](const Vars& vars, Var v) { return std::find(vars.begin(), vars.end(), v) != vars.end(); };
  Mask done(l.body.types.size());
  for (const Vars* vars : {&l.const_args, &l.x_args})
    for (Var v : *vars) done[v] = true;
  Vars open = l.ys, out;
  while (!open.empty()) {
    const Var v = open.back();
    open.pop_back();
    if (done[v]) continue;
    done[v]          = true;
    const Eqn* e     = producer[v] >= 0 ? &l.body.eqns[producer[v]] : nullptr;
    const auto carry = std::find(l.carry_args.begin(), l.carry_args.end(), v) - l.carry_args.begin();
    const Var  left  = carry < static_cast<int64_t>(l.carry_args.size()) ? l.carry_out[static_cast<size_t>(carry)] : -1;
    if (left >= 0 && producer[left] >= 0)
      open.push_back(left);  // what the step before left
    else if (e && is_cheap_to_repeat(*e->op) && !has(l.carry_out, v))
      open.insert(open.end(), e->in.begin(), e->in.end());
    else
      out.push_back(v);
  }
  return bytes(out) < bytes(l.ys) ? out : l.ys;
}

// The ys of all steps, from what was stacked.
Tensors all_ys(const Loop& l, const Vars& have, const Tensors& stacked) {
  Program rest = l.body;
  rest.args    = l.const_args;
  rest.args.insert(rest.args.end(), l.x_args.begin(), l.x_args.end());
  rest.results = l.ys;
  Tensors in   = concatenated(l.consts, l.xs);
  for (size_t i = 0; i < have.size(); ++i) {
    const Var given = rest.add_value(l.body.type(have[i]));
    for (Eqn& e : rest.eqns) std::replace(e.in.begin(), e.in.end(), have[i], given);
    std::replace(rest.results.begin(), rest.results.end(), have[i], given);
    rest.args.push_back(given);
    in.push_back(stacked[i]);
    for (size_t k = 0; k < l.carry_args.size(); ++k)
      if (l.carry_out[k] == have[i]) {
        rest.args.push_back(l.carry_args[k]);
        in.push_back(one_late(l, k, stacked[i]));
      }
  }
  Mask batched(l.consts.size(), false);
  batched.resize(in.size(), true);
  const VmapResult r = vmap(dce(rest), in, batched, l.length);
  Tensors          out;
  for (size_t k = 0; k < r.out.size(); ++k) out.push_back(with_batch_axis(r.out[k], r.batched[k], l.length));
  return out;
}

// Weights that products inside read by columns are turned once, outside.
void turn_weights(Loop& l) {
  const Mask varying = l.reached(true, true);
  for (Eqn& e : l.body.eqns) {
    if (e.op != &dot_general_op || !varying[e.in[0]] || varying[e.in[1]] || l.body.type(e.in[1]).shape.size() != 2 ||
        e.attrs[rhs_contract] != Ints{1})
      continue;
    Program weight      = l.body;
    weight.args         = l.const_args;
    weight.results      = {e.in[1]};
    const Tensor turned = transpose(replay(dce(weight), {}, l.consts)[0], {1, 0});
    e.in[1]             = l.body.add_value(turned.type());
    e.attrs             = e.attrs.with(rhs_contract, Ints{0});
    l.const_args.push_back(e.in[1]);
    l.consts.push_back(turned);
  }
}

// Which carries the used results need, directly or through other carries.
Mask live_carries(const Loop& l, const Mask& used) {
  Mask live(used.begin(), used.begin() + static_cast<int64_t>(l.carry_out.size()));
  for (bool changed = true; changed;) {
    changed = false;
    Mask needed(l.body.types.size());
    for (size_t k = 0; k < l.carry_out.size(); ++k)
      if (live[k]) needed[l.carry_out[k]] = true;
    for (size_t k = 0; k < l.ys.size(); ++k)
      if (used[l.carry_out.size() + k]) needed[l.ys[k]] = true;
    for (size_t i = l.body.eqns.size(); i-- > 0;) {
      const Eqn& e = l.body.eqns[i];
      if (std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return needed[v]; }))
        for (Var v : e.in) needed[v] = true;
    }
    for (size_t k = 0; k < live.size(); ++k)
      if (!live[k] && needed[l.carry_args[k]]) changed = live[k] = true;
  }
  return live;
}

// The body with sums of products as matrix products; its inputs and results keep their places.
void use_products(Loop& l) {
  l.body          = with_products(l.program());
  const auto args = l.body.args.begin();
  const auto c = static_cast<int64_t>(l.const_args.size()), s = static_cast<int64_t>(l.carry_args.size());
  l.const_args.assign(args, args + c);
  l.carry_args.assign(args + c, args + c + s);
  l.x_args.assign(args + c + s, l.body.args.end());
  l.carry_out.assign(l.body.results.begin(), l.body.results.begin() + s);
  l.ys.assign(l.body.results.begin() + s, l.body.results.end());
}

// y = Σ_i p_i W_i in place of [p_1; p_2; …] W, where some part is free of carries and some is not.
void part_products(Loop& l) {
  const Mask       carried  = l.reached(true, false);
  const auto       producer = producers(l.body);
  std::vector<Eqn> eqns;
  auto             emit = [&](const Op& op, Vars in, Attrs attrs) {
    const Var v = l.body.add_value(infer(op, l.body.types_of(in), attrs)[0]);
    eqns.push_back({&op, std::move(in), {v}, std::move(attrs), 0});
    return v;
  };
  for (Eqn& e : std::vector<Eqn>(l.body.eqns)) {
    const Eqn* joined = e.op == &dot_general_op && producer[e.in[0]] >= 0 ? &l.body.eqns[producer[e.in[0]]] : nullptr;
    const bool parts  = joined && joined->op == &concat_op && !carried[e.in[1]] && e.attrs[lhs_contract].size() == 1 &&
                       e.attrs[lhs_contract][0] == joined->attrs[keys::axis] &&
                       std::any_of(joined->in.begin(), joined->in.end(), [&](Var v) { return !carried[v]; });
    if (!parts) {
      eqns.push_back(std::move(e));
      continue;
    }
    const Vars    pieces = joined->in;
    const int64_t along = e.attrs[rhs_contract][0], axis = joined->attrs[keys::axis];
    int64_t       at  = 0;
    Var           sum = -1;
    for (Var v : pieces) {
      const Shape w = l.body.type(e.in[1]).shape;
      Ints        start(w.size(), 0), limit = w;
      start[along] = at;
      limit[along] = at += l.body.type(v).shape[axis];
      const Var rows =
          emit(slice_op, {e.in[1]}, {{keys::limit, limit}, {keys::start, start}, {keys::stride, Ints(w.size(), 1)}});
      const Var product = emit(dot_general_op, {v, rows}, e.attrs);
      sum               = sum < 0 ? product : emit(add_op, {sum, product}, {});
    }
    eqns.push_back({&copy_op, {sum}, e.out, {}, 0});
  }
  l.body.eqns = std::move(eqns);
}

int64_t rows_of(const Program& p, const Eqn& product, size_t operand) {
  const Shape& shape      = p.type(product.in[operand]).shape;
  const Ints&  contracted = product.attrs[operand == 0 ? lhs_contract : rhs_contract];
  int64_t      n          = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!contains(contracted, static_cast<int64_t>(i))) n *= shape[i];
  return n;
}

// Values that no step changes become constants of the loop; products of inputs alone become inputs.
void hoist(Loop& l, const Target& target) {
  const Mask varying = l.reached(true, true), carried = l.reached(true, false);
  Mask       is_input(l.body.types.size());
  for (const Vars* vars : {&l.const_args, &l.carry_args, &l.x_args})
    for (Var v : *vars) is_input[v] = true;
  Vars invariant, products;
  for (const Eqn& e : l.body.eqns) {
    const bool trivial = is_view(*e.op) || e.op == &full_op || e.op == &iota_op || e.op == &constant_op;
    // Of a loop inside this one some results may vary and others not: then it stays where it is.
    const bool varies = std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return varying[v]; });
    if (!varies && !trivial) invariant.insert(invariant.end(), e.out.begin(), e.out.end());
    // One operand is the same in every step: then all steps are one product.
    if (e.op != &dot_general_op || carried[e.out[0]] || varying[e.in[0]] == varying[e.in[1]]) continue;
    // A product of values that a step computes stays inside when it has enough rows: it is as fast as one of all steps
    // would be, and its operands and result stay in the caches. Many cores do not meet for it in every step.
    const size_t operand = varying[e.in[0]] ? 0 : 1;
    const bool   stays   = rows_of(l.body, e, operand) >= target.enough_rows && target.cores < target.columns_from;
    if (is_input[e.in[operand]] || !stays) products.push_back(e.out[0]);
  }
  if (!invariant.empty()) {
    Program before       = l.body;
    before.args          = l.const_args;
    before.results       = invariant;
    const Tensors values = replay(dce(before), {}, l.consts);
    for (size_t i = 0; i < invariant.size(); ++i) {
      l.const_args.push_back(invariant[i]);
      l.consts.push_back(values[i]);
    }
  }
  if (!products.empty()) {
    Program before = l.body;
    before.args    = l.const_args;
    before.args.insert(before.args.end(), l.x_args.begin(), l.x_args.end());
    before.results = products;
    // Values that are constants by now are not computed again.
    std::erase_if(before.eqns, [&](const Eqn& e) {
      return std::find(invariant.begin(), invariant.end(), e.out[0]) != invariant.end();
    });
    Mask batched(l.const_args.size(), false);
    batched.resize(before.args.size(), true);
    const VmapResult r = vmap(dce(before), concatenated(l.consts, l.xs), batched, l.length);
    for (size_t i = 0; i < products.size(); ++i) {
      l.x_args.push_back(products[i]);
      l.xs.push_back(with_batch_axis(r.out[i], r.batched[i], l.length));
    }
  }
  std::erase_if(l.body.eqns, [&](const Eqn& e) {
    auto moved = [&](const Vars& vars) { return std::find(vars.begin(), vars.end(), e.out[0]) != vars.end(); };
    return moved(invariant) || moved(products);
  });
}

}  // namespace

Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used, const Target& target) {
  Loop                l(ScanParts(e.attrs), in);
  const size_t        n_carry = l.carry_out.size();
  const Mask          live    = live_carries(l, used);
  std::vector<size_t> place;  // of each result that remains
  Loop                some = l;
  some.carry_args.clear(), some.carry_out.clear(), some.init.clear(), some.ys.clear();
  for (size_t k = 0; k < n_carry; ++k)
    if (live[k]) {
      place.push_back(k);
      some.carry_args.push_back(l.carry_args[k]);
      some.carry_out.push_back(l.carry_out[k]);
      some.init.push_back(l.init[k]);
    }
  for (size_t k = 0; k < l.ys.size(); ++k)
    if (used[n_carry + k]) {
      place.push_back(n_carry + k);
      some.ys.push_back(l.ys[k]);
    }
  take_operands_in(some);
  join_operands(some);
  fix_constant_carries(some);
  some.prune();
  use_products(some);
  const Vars ys = some.ys;  // equal ones are stacked once
  some.ys.clear();
  for (Var v : ys)
    if (std::find(some.ys.begin(), some.ys.end(), v) == some.ys.end()) some.ys.push_back(v);
  const Loop full = some;
  some.ys         = worth_stacking(full);
  const Vars have = some.ys;
  part_products(some);
  hoist(some, target);
  some.prune();
  turn_weights(some);
  some.prune();
  const Tensors ran     = run_without_sums(some);
  const size_t  n_live  = some.carry_out.size();
  const Tensors stacked = all_ys(full, have, part(ran, n_live, ran.size() - n_live));
  Tensors       results = part(ran, 0, n_live);
  for (Var v : ys)
    results.push_back(stacked[static_cast<size_t>(std::find(full.ys.begin(), full.ys.end(), v) - full.ys.begin())]);
  Tensors out(used.size());
  for (size_t i = 0; i < place.size(); ++i) out[place[i]] = results[i];
  return out;
}

}  // namespace braintrace::codegen
