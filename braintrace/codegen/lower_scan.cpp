// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/lower_scan.h"

#include <algorithm>
#include <numeric>

#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/view.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/copy.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace::codegen {

namespace {

constexpr Key<Ints> lhs_contract{"lhs_contract"}, rhs_contract{"rhs_contract"}, lhs_batch{"lhs_batch"},
    rhs_batch{"rhs_batch"};
constexpr Key<int64_t> axis_key{"axis"};
constexpr Key<double>  value_key{"value"};
constexpr Key<Ints>    dims_key{"dims"}, perm_key{"perm"}, shape_key{"shape"};

// A scan in pieces that can be exchanged one by one. Variables are those of the body.
struct Loop {
  Program body;
  Vars    const_args, carry_args, x_args;
  Tensors consts, init, xs;  // their values outside
  Vars    carry_out, ys;     // results of the body
  int64_t length;
  bool    reverse;

  Loop(const ScanParts& s, const Tensors& in) : body(s.body), length(s.length), reverse(s.reverse) {
    const auto first = body.args.begin(), second = first + static_cast<int64_t>(s.consts),
               third = second + static_cast<int64_t>(s.carry);
    const_args.assign(first, second);
    carry_args.assign(second, third);
    x_args.assign(third, body.args.end());
    const auto given = s.split(in);
    consts = given.consts, init = given.carry, xs = given.xs;
    const auto carries = static_cast<int64_t>(s.carry);
    carry_out.assign(body.results.begin(), body.results.begin() + carries);
    ys.assign(body.results.begin() + carries, body.results.end());
  }

  // The body with its present arguments and results.
  Program program() const {
    Program p = body;
    p.args    = const_args;
    p.args.insert(p.args.end(), carry_args.begin(), carry_args.end());
    p.args.insert(p.args.end(), x_args.begin(), x_args.end());
    p.results = carry_out;
    p.results.insert(p.results.end(), ys.begin(), ys.end());
    return p;
  }
  // Forgets equations and inputs that the results do not need.
  void prune() {
    Mask live(body.types.size());
    for (const Vars* vars : {&carry_out, &ys})
      for (Var v : *vars) live[v] = true;
    std::vector<Eqn> kept;
    for (size_t i = body.eqns.size(); i-- > 0;) {
      Eqn& e = body.eqns[i];
      if (std::none_of(e.out.begin(), e.out.end(), [&](Var v) { return live[v]; })) continue;
      for (Var v : e.in) live[v] = true;
      kept.push_back(std::move(e));
    }
    std::reverse(kept.begin(), kept.end());
    body.eqns = std::move(kept);
    auto keep = [&](Vars& vars, Tensors& values) {
      size_t n = 0;
      for (size_t i = 0; i < vars.size(); ++i)
        if (live[vars[i]]) {
          vars[n]     = vars[i];
          values[n++] = values[i];
        }
      vars.resize(n);
      values.resize(n);
    };
    keep(const_args, consts);
    keep(x_args, xs);
  }
  // Values that depend on marked arguments.
  Mask reached(bool from_carry, bool from_xs) const {
    Mask active(const_args.size(), false);
    active.resize(const_args.size() + carry_args.size(), from_carry);
    active.resize(const_args.size() + carry_args.size() + x_args.size(), from_xs);
    return forward_dependence(program(), active);
  }
};

bool keeps_rows(const Op& op, const Attrs& a, const Shape& from, const Shape& to) {
  if (from.empty() || to.empty() || from[0] != to[0]) return false;
  if (&op == &broadcast_op) return !a[dims_key].empty() && a[dims_key][0] == 0;
  return &op == &reshape_op || a[perm_key][0] == 0;
}
// The same view of one row.
Attrs of_row(const Op& op, const Attrs& a) {
  auto tail  = [](const Ints& v) { return Ints(v.begin() + 1, v.end()); };
  auto lower = [&](Ints v) {
    for (int64_t& x : v) --x;
    return v;
  };
  if (&op == &broadcast_op) return {{dims_key, lower(tail(a[dims_key]))}, {shape_key, tail(a[shape_key])}};
  if (&op == &reshape_op) return {{shape_key, tail(a[shape_key])}};
  return {{perm_key, lower(tail(a[perm_key]))}};
}

// Operands that only look at another tensor are looked at inside, xs row by row: their elements need no memory, and
// equal computations inside meet.
void take_views_in(Loop& l) {
  std::vector<Eqn> views;
  auto             look_inside = [&](Var& arg, Tensor& t, bool rows) {
    for (const Op* op : {&broadcast_op, &reshape_op, &transpose_op}) {
      const auto made = made_by(*op, t);
      if (!made || (rows && !keeps_rows(*op, made->attrs, made->in[0].shape(), t.shape()))) continue;
      Type type = made->in[0].type();
      if (rows) type.shape.erase(type.shape.begin());
      const Var base = l.body.add_value(type);
      views.push_back({op, {base}, {arg}, rows ? of_row(*op, made->attrs) : made->attrs, 0});
      arg = base;
      t   = made->in[0];
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < l.const_args.size(); ++i)
    while (look_inside(l.const_args[i], l.consts[i], false)) continue;
  for (size_t i = 0; i < l.x_args.size(); ++i)
    while (look_inside(l.x_args[i], l.xs[i], true)) continue;
  std::reverse(views.begin(), views.end());
  l.body.eqns.insert(l.body.eqns.begin(), views.begin(), views.end());
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
                                 values[i].var() != kept_values[k].var() || !values[i].is_traced()))
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
    if (!e || e->op != &full_op || !start || start->attrs[value_key] != e->attrs[value_key]) continue;
    const Var unused = l.body.add_value(l.body.type(l.carry_args[k]));
    known.push_back({&full_op, {}, {l.carry_args[k]}, e->attrs, 0});
    l.carry_args[k] = unused;
  }
  l.body.eqns.insert(l.body.eqns.begin(), known.begin(), known.end());
}

// Stacked results that repeat a smaller value are repeated outside; returns the views to apply, by number of y.
std::vector<std::vector<Eqn>> take_views_out(Loop& l) {
  const auto                    producer = producers(l.body);
  std::vector<std::vector<Eqn>> views(l.ys.size());
  for (size_t k = 0; k < l.ys.size(); ++k)
    while (producer[l.ys[k]] >= 0) {
      const Eqn& e = l.body.eqns[producer[l.ys[k]]];
      if (e.op != &broadcast_op) break;
      views[k].insert(views[k].begin(), e);
      l.ys[k] = e.in[0];
    }
  return views;
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
                       e.attrs[lhs_contract][0] == joined->attrs[axis_key] &&
                       std::any_of(joined->in.begin(), joined->in.end(), [&](Var v) { return !carried[v]; });
    if (!parts) {
      eqns.push_back(std::move(e));
      continue;
    }
    const Vars    pieces = joined->in;
    const int64_t along = e.attrs[rhs_contract][0], axis = joined->attrs[axis_key];
    int64_t       at  = 0;
    Var           sum = -1;
    for (Var v : pieces) {
      const Shape w = l.body.type(e.in[1]).shape;
      Ints        start(w.size(), 0), limit = w;
      start[along] = at;
      limit[along] = at += l.body.type(v).shape[axis];
      const Var rows =
          emit(slice_op, {e.in[1]},
               {{Key<Ints>{"limit"}, limit}, {Key<Ints>{"start"}, start}, {Key<Ints>{"stride"}, Ints(w.size(), 1)}});
      const Var product = emit(dot_general_op, {v, rows}, e.attrs);
      sum               = sum < 0 ? product : emit(add_op, {sum, product}, {});
    }
    eqns.push_back({&copy_op, {sum}, e.out, {}, 0});
  }
  l.body.eqns = std::move(eqns);
}

// Values that no step changes become constants of the loop; products of inputs alone become inputs.
void hoist(Loop& l) {
  const Mask varying = l.reached(true, true), carried = l.reached(true, false);
  Mask       is_input(l.body.types.size());
  for (const Vars* vars : {&l.const_args, &l.carry_args, &l.x_args})
    for (Var v : *vars) is_input[v] = true;
  Vars invariant, products;
  for (const Eqn& e : l.body.eqns) {
    const bool trivial = is_view(*e.op) || e.op->name == "full" || e.op->name == "iota" || e.op->name == "constant";
    // Of a loop inside this one some results may vary and others not: then it stays where it is.
    const bool varies = std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return varying[v]; });
    if (!varies && !trivial) invariant.insert(invariant.end(), e.out.begin(), e.out.end());
    // One operand is the same in every step: then all steps are one product.
    if (e.op == &dot_general_op && !carried[e.out[0]] && varying[e.in[0]] != varying[e.in[1]])
      products.push_back(e.out[0]);
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

// One term of a sum over steps that can be taken after the loop: a product or a sum of each step's values, seen through
// views and signs.
struct Term {
  const Eqn*              made = nullptr;  // dot_general or reduce_sum
  std::vector<const Eqn*> views;           // and signs, from the inside out
};

// The value of v in every step: an input that is there already, or a stacked result (its number among ys).
struct Stacked {
  Tensor  given;
  int64_t y = -1;
};
Stacked find_stacked(const Loop& l, Var v) {
  for (size_t i = 0; i < l.x_args.size(); ++i)
    if (l.x_args[i] == v) return {l.xs[i], -1};
  const auto at = std::find(l.ys.begin(), l.ys.end(), v);
  return {{}, at == l.ys.end() ? -1 : at - l.ys.begin()};
}
bool is_stacked(const Loop& l, Var v) {
  const Stacked s = find_stacked(l, v);
  return s.given.defined() || s.y >= 0;
}

// Finds, in the body as it is when made, the terms of carries.
class Sums {
 public:
  explicit Sums(const Loop& l)
      : l_(l), producer_(producers(l.body)), uses_(l.body.types.size(), 0), varying_(l.reached(true, true)) {
    for (const Eqn& e : l.body.eqns)
      for (Var v : e.in) ++uses_[v];
    for (const Vars* vars : {&l.carry_out, &l.ys})
      for (Var v : *vars) ++uses_[v];
  }

  struct Split {
    std::vector<Term> terms;  // to be taken out
    Vars              rest;   // that stay
  };
  // `stacks` tells which values are there for every step; sums over elements are taken out only of those.
  Split of(size_t k, const Loop& stacks) const {
    Split out;
    Vars  open{l_.carry_out[k]};
    int   own = 0;
    while (!open.empty()) {
      const Var v = open.back();
      open.pop_back();
      const Eqn* e = producer_[v] >= 0 ? &l_.body.eqns[producer_[v]] : nullptr;
      if (v == l_.carry_args[k]) {
        ++own;
      } else if (e && e->op == &add_op && uses_[v] == 1) {
        open.insert(open.end(), e->in.begin(), e->in.end());
      } else if (Term t = term(v); t.made && (t.made->op == &dot_general_op || is_stacked(stacks, t.made->in[0]))) {
        out.terms.push_back(std::move(t));
      } else {
        out.rest.push_back(v);
      }
    }
    // The carry must enter once, as a term, and nowhere else.
    const bool only_here = own == 1 && uses_[l_.carry_args[k]] == 1 && is_float(l_.body.type(l_.carry_args[k]).dtype);
    return only_here && !out.terms.empty() ? out : Split{};
  }

 private:
  Term term(Var v) const {
    Term t;
    for (; producer_[v] >= 0; v = l_.body.eqns[producer_[v]].in[0]) {
      const Eqn& e = l_.body.eqns[producer_[v]];
      if (!is_view(*e.op) && e.op != &neg_op) {
        const bool product = e.op == &dot_general_op && varying_[e.in[0]] && varying_[e.in[1]];
        if (product || e.op == &reduce_sum_op) t.made = &e;
        return t;
      }
      t.views.insert(t.views.begin(), &e);
    }
    return t;
  }

  const Loop&          l_;
  std::vector<int32_t> producer_;
  std::vector<int>     uses_;
  Mask                 varying_;
};

// Σ over steps of a term, from the stacked operands.
Tensor summed(const Term& t, const Tensors& in) {
  const Attrs& a = t.made->attrs;
  Tensor       y = t.made->op == &dot_general_op
                       ? dot_general(in[0], in[1],
                                     {prepend(0, shifted(a[lhs_contract])), prepend(0, shifted(a[rhs_contract])),
                                      shifted(a[lhs_batch]), shifted(a[rhs_batch])})
                       : sum(in[0], prepend(0, shifted(a[axes_key])));
  for (const Eqn* e : t.views) y = apply1(*e->op, {y}, e->attrs);
  return y;
}

// Runs the loop without the sums over steps, and takes them after it. Results: carries, then ys.
Tensors run_without_sums(const Loop& whole) {
  Loop         l = whole;
  const Sums   sums(whole);
  const size_t n = whole.carry_args.size();
  for (size_t k = 0; k < n; ++k)
    for (const Term& t : sums.of(k, l).terms)
      for (Var v : t.made->in)
        if (!is_stacked(l, v)) l.ys.push_back(v);
  l.carry_args.clear();
  l.carry_out.clear();
  l.init.clear();
  std::vector<std::vector<Term>> terms(n);
  std::vector<int64_t>           at(n, -1);  // number of the carry that stays
  for (size_t k = 0; k < n; ++k) {
    const Sums::Split split = sums.of(k, l);
    terms[k]                = split.terms;
    if (!terms[k].empty() && split.rest.empty()) continue;
    Var next = terms[k].empty() ? whole.carry_out[k] : whole.carry_args[k];
    for (Var v : split.rest) {
      const Var sum = l.body.add_value(l.body.type(v));
      l.body.eqns.push_back({&add_op, {next, v}, {sum}, {}, 0});
      next = sum;
    }
    at[k] = static_cast<int64_t>(l.carry_args.size());
    l.carry_args.push_back(whole.carry_args[k]);
    l.carry_out.push_back(next);
    l.init.push_back(whole.init[k]);
  }
  std::vector<std::vector<std::vector<Stacked>>> operands(n);
  for (size_t k = 0; k < n; ++k)
    for (const Term& t : terms[k]) {
      operands[k].emplace_back();
      for (Var v : t.made->in) operands[k].back().push_back(find_stacked(l, v));
    }
  l.prune();
  const Tensors ran = apply_scan({l.program(), {}}, {l.consts, l.init, l.xs}, l.length, l.reverse);
  auto          y   = [&](int64_t i) { return ran[l.carry_args.size() + static_cast<size_t>(i)]; };
  Tensors       out;
  for (size_t k = 0; k < n; ++k) {
    Tensor total = at[k] >= 0 ? ran[static_cast<size_t>(at[k])] : whole.init[k];
    for (size_t i = 0; i < terms[k].size(); ++i) {
      Tensors in;
      for (const Stacked& s : operands[k][i]) in.push_back(s.given.defined() ? s.given : y(s.y));
      total = total + summed(terms[k][i], in);
    }
    out.push_back(total);
  }
  for (size_t i = 0; i < whole.ys.size(); ++i) out.push_back(y(static_cast<int64_t>(i)));
  return out;
}

}  // namespace

Tensors lowered_scan(const Eqn& e, const Tensors& in, const Mask& used) {
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
  take_views_in(some);
  join_operands(some);
  fix_constant_carries(some);
  const auto views = take_views_out(some);
  some.prune();
  use_products(some);
  const Vars all_ys = some.ys;  // equal ones are stacked once
  some.ys.clear();
  for (Var v : all_ys)
    if (std::find(some.ys.begin(), some.ys.end(), v) == some.ys.end()) some.ys.push_back(v);
  const Vars ys = some.ys;
  part_products(some);
  hoist(some);
  some.prune();
  const Tensors ran     = run_without_sums(some);
  const size_t  n_live  = some.carry_out.size();
  Tensors       results = part(ran, 0, n_live);
  for (Var v : all_ys)
    results.push_back(ran[n_live + static_cast<size_t>(std::find(ys.begin(), ys.end(), v) - ys.begin())]);
  for (size_t k = 0; k < views.size(); ++k)
    for (const Eqn& view : views[k])
      results[n_live + k] = view.op->batch({*view.op, view.attrs, {results[n_live + k]}, {true}, some.length})[0];
  Tensors out(used.size());
  for (size_t i = 0; i < place.size(); ++i) out[place[i]] = results[i];
  return out;
}

}  // namespace braintrace::codegen
