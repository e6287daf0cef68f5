// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/lower_scan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "braintrace/codegen/elementwise.h"
#include "braintrace/codegen/fuse.h"
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

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;
using keys::rhs_contract;

bool keeps_rows(const Op& op, const Attrs& a, const Shape& from, const Shape& to) {
  if (from.empty() || to.empty() || from[0] != to[0]) return false;
  if (&op == &broadcast_op) return !a[keys::dims].empty() && a[keys::dims][0] == 0;
  return &op == &reshape_op || a[keys::perm][0] == 0;
}
// The attributes of the same view for a single row.
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

// Sinks views, known indices and cheap elementwise functions of operands into the body, for xs row by row. They need no
// memory there, and common-subexpression elimination merges equal ones.
void take_operands_in(Loop& l) {
  std::vector<Eqn> inside;
  const auto       row_of      = [](const Tensor& t) { return Type{t.dtype(), part(t.shape(), 1, t.rank())}; };
  auto             look_inside = [&](Var& arg, Tensor& t, bool rows) {
    for (const Op* op : {&broadcast_op, &reshape_op, &transpose_op}) {
      const auto made = made_by(*op, t);
      if (!made || (rows && !keeps_rows(*op, made->attrs, made->in[0].shape(), t.shape()))) continue;
      const Var base = l.body.add_value(rows ? row_of(made->in[0]) : made->in[0].type());
      inside.push_back({op, {base}, {arg}, rows ? of_row(*op, made->attrs) : made->attrs, 0});
      arg = base;
      t   = made->in[0];
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < l.args.consts.size(); ++i) {
    Var&    arg   = l.args.consts[i];
    Tensor& value = l.values.consts[i];
    while (look_inside(arg, value, false)) continue;
    const auto known = made_by(constant_op, value);
    if (!known || !is_integer(value.dtype())) continue;
    inside.push_back({&constant_op, {}, {arg}, known->attrs, 0});
    arg = l.body.add_value(value.type());  // no longer used
  }
  for (size_t i = 0; i < l.args.xs.size(); ++i) {
    while (look_inside(l.args.xs[i], l.values.xs[i], true)) continue;
    const Tensor t = l.values.xs[i];
    const Eqn*   e = t.is_traced() && t.trace()->is_open() ? t.trace()->producer(t.trace_var()) : nullptr;
    if (!e || e->out.size() != 1) continue;
    const Var x = l.args.xs[i];
    if (e->op == &full_op) {
      inside.push_back({&full_op, {}, {x}, e->attrs.with(keys::shape, Ints(row_of(t).shape)), 0});
    } else if (is_cheap(*e->op) || (e->op == &concat_op && e->attrs[keys::axis] > 0)) {
      // Every operand has the rows of t: elementwise operands have its shape, and concatenated pieces differ along
      // another axis.
      const auto made = *made_by(*e->op, t);
      Vars       in;
      for (const Tensor& operand : made.in) {
        in.push_back(l.body.add_value(row_of(operand)));
        l.args.xs.push_back(in.back());
        l.values.xs.push_back(operand);
      }
      const bool joins = e->op == &concat_op;
      inside.push_back(
          {e->op, in, {x}, joins ? made.attrs.with(keys::axis, made.attrs[keys::axis] - 1) : made.attrs, 0});
    } else {
      continue;
    }
    l.args.xs[i] = l.body.add_value(row_of(t));  // no longer used
  }
  std::reverse(inside.begin(), inside.end());
  l.body.eqns.insert(l.body.eqns.begin(), inside.begin(), inside.end());
}

// Merges operands that are the same tensor.
void join_operands(Loop& l) {
  Vars to(l.body.types.size());
  std::iota(to.begin(), to.end(), 0);
  auto join = [&](Vars& args, Tensors& values) {
    Mask                                          is_first(args.size(), true);
    std::map<std::pair<const void*, Var>, size_t> first;  // by trace and value
    for (size_t i = 0; i < args.size(); ++i) {
      if (!values[i].is_traced()) continue;
      const auto [known, is_new] = first.try_emplace({values[i].trace().get(), values[i].trace_var()}, i);
      to[args[i]]                = args[known->second];
      is_first[i]                = is_new;
    }
    args   = chosen(args, is_first);
    values = chosen(values, is_first);
  };
  join(l.args.consts, l.values.consts);
  join(l.args.xs, l.values.xs);
  for (Eqn& e : l.body.eqns)
    for (Var& v : e.in) v = to[v];
  for (Vars* results : {&l.results.carry, &l.results.ys})
    for (Var& v : *results) v = to[v];
}

// Replaces a carry that has the same constant value at the start and after every step.
void fix_constant_carries(Loop& l) {
  const auto       maker = makers(l.body);
  std::vector<Eqn> known;
  for (size_t k = 0; k < l.args.carry.size(); ++k) {
    const Eqn* e     = maker[l.results.carry[k]];
    const auto start = made_by(full_op, l.values.carry[k]);
    if (!e || e->op != &full_op || !start || start->attrs[keys::value] != e->attrs[keys::value]) continue;
    const Var unused = l.body.add_value(l.body.type(l.args.carry[k]));
    known.push_back({&full_op, {}, {l.args.carry[k]}, e->attrs, 0});
    l.args.carry[k] = unused;
  }
  l.body.eqns.insert(l.body.eqns.begin(), known.begin(), known.end());
}

// Whether recomputing a value is cheaper than loading it.
bool is_cheap_to_repeat(const Op& op) { return is_cheap(op) || is_view(op) || &op == &full_op || &op == &concat_op; }

// Number of rows of an operand whose product has a loop-invariant other operand.
int64_t rows_of(const Program& p, const Eqn& product, size_t operand) {
  const Type& type = p.type(product.in[operand]);
  return size_along(type.shape, others(type.rank(), product.attrs[operand == 0 ? lhs_contract : rhs_contract], {}));
}
// Whether a step computes a matrix product. With one row or column it computes sums, which add in another order than
// those over all steps: then the number of cores must not decide between the two.
bool has_rows_and_columns(const Program& p, const Eqn& product) {
  const Attrs& a    = product.attrs;
  const auto   free = [&](Var v, const Ints& contract, const Ints& batch) {
    const Type& type = p.type(v);
    return size_along(type.shape, others(type.rank(), contract, batch)) > 1;
  };
  return free(product.in[0], a[lhs_contract], a[lhs_batch]) && free(product.in[1], a[rhs_contract], a[rhs_batch]);
}
// A product of values computed in the step stays in the loop if it has enough rows: it is as fast as one product over
// all steps, and its operands and result stay in cache. Many cores should not synchronize for a small product in every
// step, but computing a short sum is faster than fetching its result from the cache of another core.
bool stays_inside(const Loop& l, const Eqn& product, size_t operand, const Target& target) {
  const int64_t terms    = size_along(l.body.type(product.in[0]).shape, product.attrs[lhs_contract]);
  const bool    is_small = l.length * l.body.type(product.out[0]).size() <= target.stacked_elements;
  const bool    apart    = target.cores >= target.columns_from && is_small && terms > target.short_sum;
  return rows_of(l.body, product, operand) >= target.enough_rows && !(apart && has_rows_and_columns(l.body, product));
}

// Chooses what to stack instead of the ys: values from which, with inputs and carries, all ys can be recomputed
// cheaply; or the ys themselves if they are smaller. A product that only ys need, such as a readout, becomes one
// product over all steps if its operand is available anyway.
class Stacking {
 public:
  Stacking(const Loop& l, const Target& target)
      : l_(l), target_(target), maker_(makers(l.body)), varying_(l.reached(true, true)) {
    const ScanResults<Mask> carries{Mask(l.results.carry.size(), true), Mask(l.results.ys.size(), false)};
    awaited_ = backward_dependence(l.program(), joined(carries));
  }

  Vars worth_it() const {
    Vars out = roots(l_.results.ys, {});
    for (const Vars all = out; const Var v : all)
      if (const Vars others = without(out, v); is_product_outside(v, others)) out = others;
    return target_.steps_together || bytes(out) < bytes(l_.results.ys) ? out : l_.results.ys;
  }

 private:
  static Vars without(const Vars& vars, Var v) {
    Vars out;
    std::copy_if(vars.begin(), vars.end(), std::back_inserter(out), [&](Var u) { return u != v; });
    return out;
  }
  int64_t bytes(const Vars& vars) const {
    int64_t n = 0;
    for (Var v : vars) n += l_.body.type(v).bytes();
    return n;
  }
  // Values that must be stacked for `wanted` in addition to those available.
  Vars roots(Vars wanted, const Vars& there) const {
    Mask done(l_.body.types.size());
    for (Var v : joined(l_.args.consts, l_.args.xs, there)) done[v] = true;
    Vars out;
    while (!wanted.empty()) {
      const Var v = wanted.back();
      wanted.pop_back();
      if (done[v]) continue;
      done[v]            = true;
      const Eqn*   e     = maker_[v];
      const size_t carry = index_of(l_.args.carry, v);
      const Var    left  = carry < l_.args.carry.size() ? l_.results.carry[carry] : -1;
      if (left >= 0 && maker_[left])
        wanted.push_back(left);  // the new carry of the previous step
      else if (e && (is_cheap_to_repeat(*e->op) || is_work_of_all_steps(*e)) && !contains(l_.results.carry, v))
        wanted.insert(wanted.end(), e->in.begin(), e->in.end());
      else
        out.push_back(v);
    }
    return out;
  }
  bool is_work_of_all_steps(const Eqn& e) const {
    return target_.steps_together && !awaited_[e.out[0]] && (e.op == &dot_general_op || is_reduction(e));
  }
  bool is_product_outside(Var v, const Vars& there) const {
    const Eqn* e = maker_[v];
    if (!e || e->op != &dot_general_op || contains(l_.results.carry, v) || varying_[e->in[0]] == varying_[e->in[1]])
      return false;
    const size_t operand = varying_[e->in[0]] ? 0 : 1;
    return !stays_inside(l_, *e, operand, target_) && roots({e->in[operand]}, there).empty();
  }

  const Loop&             l_;
  const Target&           target_;
  std::vector<const Eqn*> maker_;
  Mask                    varying_;
  Mask                    awaited_;  // per value: whether a carry depends on it
};

// Recomputes the ys of all steps from the stacked values.
Tensors all_ys(const Loop& l, const Vars& have, const Tensors& stacked) {
  Program    rest = l.body;
  Vars       args = l.args.xs, ys = l.results.ys;
  Tensors    rows = l.values.xs;
  const auto give = [&](Var arg, const Tensor& value) {
    args.push_back(arg);
    rows.push_back(value);
  };
  Vars to(l.body.types.size());  // renaming: stacked values become arguments
  std::iota(to.begin(), to.end(), 0);
  for (size_t i = 0; i < have.size(); ++i) {
    to[have[i]] = rest.add_value(l.body.type(have[i]));
    give(to[have[i]], stacked[i]);
    for (size_t k = 0; k < l.args.carry.size(); ++k)
      if (l.results.carry[k] == have[i]) give(l.args.carry[k], one_late(l, k, stacked[i]));
  }
  for (Eqn& e : rest.eqns)
    for (Var& v : e.in) v = to[v];
  for (Var& v : ys) v = to[v];
  return l.in_all_steps(std::move(rest), args, rows, ys);
}

// Whether no step depends on an earlier step.
bool are_apart(const Loop& l) { return l.length > 0 && !any_true(gather(l.reached(true, false), joined(l.results))); }
// The results of a loop with independent steps, as one batched computation.
Tensors in_all_steps(const Loop& l) {
  Tensors       out  = l.in_all_steps(l.body, l.args.xs, l.values.xs, joined(l.results));
  const int64_t last = l.reverse ? 0 : l.length - 1;
  for (size_t k = 0; k < l.results.carry.size(); ++k) out[k] = squeeze(slice_axis(out[k], 0, last, last + 1), {0});
  return out;
}

// Stacks as little as possible, and computes the remaining ys of all steps after the loop.
Tensors run_stacking_less(const Loop& l, const Target& target) {
  Loop some       = l;
  some.results.ys = Stacking(l, target).worth_it();
  some.prune();
  const Vars have      = some.results.ys;
  auto [results, rows] = split(apply_scan({some.program(), {}}, some.values, some.length, some.reverse), some.results);
  return joined(results, all_ys(l, have, rows));
}
Tensors run(const Loop& l, const Target& target) {
  if (!target.steps_together) return apply_scan({l.program(), {}}, l.values, l.length, l.reverse);
  return are_apart(l) ? in_all_steps(l) : run_stacking_less(l, target);
}

// Transposes weights once, outside the loop, if products inside read them in a different axis order.
void transpose_weights(Loop& l) {
  const Mask    varying = l.reached(true, true);
  const Program p       = l.program();
  const auto    made    = producers(p);
  struct Weight {
    Eqn* product;
    Ints order;
  };
  std::vector<Weight> found;
  Vars                stored;
  for (Eqn& e : l.body.eqns) {
    if (e.op != &dot_general_op || !varying[e.in[0]] || varying[e.in[1]]) continue;
    const Ints &batch = e.attrs[rhs_batch], &inner = e.attrs[rhs_contract];
    const Ints  order = joined(batch, inner, others(p.type(e.in[1]).rank(), batch, inner));
    if (std::is_sorted(order.begin(), order.end()) && dense_pieces(p, made, e.in[1]).size() == 1) continue;
    found.push_back({&e, order});
    stored.push_back(e.in[1]);
  }
  const Tensors now = l.before(stored);
  for (size_t i = 0; i < found.size(); ++i) {
    Eqn&          e       = *found[i].product;
    const int64_t batched = std::ssize(e.attrs[rhs_batch]), summed = std::ssize(e.attrs[rhs_contract]);
    e.attrs = e.attrs.with(rhs_contract, counted(batched, summed)).with(rhs_batch, counted(0, batched));
    l.values.consts.push_back(transpose(now[i], found[i].order));
    l.args.consts.push_back(e.in[1] = l.body.add_value(l.values.consts.back().type()));
  }
}

// Carries that the used results need, directly or through other carries.
Mask live_carries(const Loop& l, const Mask& used) {
  const Program     p    = l.program();
  ScanResults<Mask> live = split(used, l.results);
  while (grow(live.carry, gather(backward_dependence(p, joined(live)), l.args.carry))) continue;
  return live.carry;
}

// The body with sums of products as matrix products; its inputs and results keep their places.
void use_products(Loop& l, Options options) {
  ++options.depth;
  l.body    = with_passes({"products", "factor"}, l.program(), options);
  l.args    = split(l.body.args, l.args);
  l.results = split(l.body.results, l.results);
}

// Rewrites [p_1; p_2; …] W as Σ_i p_i W_i if some pieces depend on carries and some do not.
void split_products(Loop& l) {
  const Mask       carried = l.reached(true, false);
  const auto       given   = l.body.eqns;
  std::vector<Eqn> eqns;
  const auto       producer = producers(l.body);
  auto             emit     = [&](const Op& op, Vars in, Attrs attrs) {
    const Var v = l.body.add_value(infer(op, l.body.types_of(in), attrs)[0]);
    eqns.push_back({&op, std::move(in), {v}, std::move(attrs), 0});
    return v;
  };
  for (const Eqn& e : given) {
    const Eqn* pieces = e.op == &dot_general_op && producer[e.in[0]] >= 0 ? &given[producer[e.in[0]]] : nullptr;
    const bool parts  = pieces && pieces->op == &concat_op && !carried[e.in[1]] && e.attrs[lhs_contract].size() == 1 &&
                       e.attrs[lhs_contract][0] == pieces->attrs[keys::axis] && !all_true(gather(carried, pieces->in));
    if (!parts) {
      eqns.push_back(e);
      continue;
    }
    const int64_t along = e.attrs[rhs_contract][0], axis = pieces->attrs[keys::axis];
    int64_t       at  = 0;
    Var           sum = -1;
    for (Var v : pieces->in) {
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

// The types of products with carries whose columns many cores split: products of inputs with results of the same type
// join their region, so nobody waits for them, and they need not be stored for all steps.
Types split_by_columns(const Loop& l, const Target& target) {
  const Mask varying = l.reached(true, true), carried = l.reached(true, false);
  Types      out;
  int64_t    weights = 0;
  for (const Eqn& e : l.body.eqns) {
    if (e.op != &dot_general_op || !carried[e.in[0]] || varying[e.in[1]] || !has_rows_and_columns(l.body, e)) continue;
    out.push_back(l.body.type(e.out[0]));
    weights += l.body.type(e.in[1]).size();
  }
  return target.splits_columns(weights) ? out : Types();
}

// Hoists loop-invariant values to constants of the loop. Products that depend only on inputs become inputs, and so do
// scalars if many threads would wait for the one that computes them.
void hoist(Loop& l, const Target& target) {
  const Mask  varying = l.reached(true, true), carried = l.reached(true, false);
  const Types by_columns = split_by_columns(l, target);
  const Vars  inputs     = joined(l.args);
  Vars        invariant, of_inputs;
  for (const Eqn& e : l.body.eqns) {
    const bool trivial = is_view(*e.op) || e.op == &full_op || e.op == &iota_op || e.op == &constant_op;
    // A nested loop may have both varying and invariant results; it is then not hoisted.
    if (!any_true(gather(varying, e.out)) && !trivial) invariant.insert(invariant.end(), e.out.begin(), e.out.end());
    if (target.steps_together && has_expression(*e.op) && varying[e.out[0]] && !carried[e.out[0]] &&
        l.body.type(e.out[0]).size() == 1)
      of_inputs.push_back(e.out[0]);
    // One operand is loop-invariant, so the products of all steps are one product.
    if (e.op != &dot_general_op || carried[e.out[0]] || varying[e.in[0]] == varying[e.in[1]]) continue;
    const size_t operand = varying[e.in[0]] ? 0 : 1;
    if (contains(by_columns, l.body.type(e.out[0]))) continue;
    if (contains(inputs, e.in[operand]) || !stays_inside(l, e, operand, target)) of_inputs.push_back(e.out[0]);
  }
  const auto drop = [&l](const Vars& made) {
    Mask dropped(l.body.types.size());
    for (Var v : made) dropped[v] = true;
    std::erase_if(l.body.eqns, [&](const Eqn& e) { return dropped[e.out[0]]; });
  };
  if (!invariant.empty()) {
    l.values.consts = joined(l.values.consts, l.before(invariant));
    l.args.consts   = joined(l.args.consts, invariant);
    drop(invariant);
  }
  if (!of_inputs.empty()) {
    l.values.xs = joined(l.values.xs, l.in_all_steps(l.body, l.args.xs, l.values.xs, of_inputs));
    l.args.xs   = joined(l.args.xs, of_inputs);
    drop(of_inputs);
  }
}

}  // namespace

// The transformations listed in the header. The ys may change: `have` is stacked, and `wanted` is computed from it.
Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used, const Options& options) {
  const Target&           target = options.target;
  const Loop              l(ScanParts(e.attrs), in);
  const ScanResults<Mask> kept{live_carries(l, used), split(used, l.results).ys};
  Loop                    some = l;
  some.args.carry              = chosen(l.args.carry, kept.carry);
  some.values.carry            = chosen(l.values.carry, kept.carry);
  some.results                 = chosen(l.results, kept);
  take_operands_in(some);
  join_operands(some);
  fix_constant_carries(some);
  some.prune();
  use_products(some, options);
  const Vars wanted = some.results.ys;  // equal ones are stacked once
  some.results.ys.clear();
  for (Var v : wanted)
    if (!contains(some.results.ys, v)) some.results.ys.push_back(v);
  const Loop full = some;
  some.results.ys = Stacking(full, target).worth_it();
  const Vars have = some.results.ys;
  split_products(some);
  hoist(some, target);
  some.prune();
  transpose_weights(some);
  some.prune();
  auto [results, rows] =
      split(run_without_sums(some, [&](const Loop& rest) { return run(rest, target); }), some.results);
  const Tensors stacked = all_ys(full, have, rows);
  for (Var v : wanted) results.push_back(stacked[index_of(full.results.ys, v)]);
  return spread(results, joined(kept));
}

}  // namespace braintrace::codegen
