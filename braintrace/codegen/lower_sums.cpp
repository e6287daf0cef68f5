// SPDX-License-Identifier: Apache-2.0
// Moves sums over the steps of a loop out of the loop: g ← g + x_tᵀ δ_t becomes one product after it. The factors of
// every step are stacked, unless they are already available:
//
//   an input                       x_t
//   the old value of a carry       h_{t-1}: the initial value, then the new carries shifted by one step
//   concatenated pieces            [x;h]ᵀ δ = [xᵀ δ; hᵀ δ], each as above
//   a view                         patches(x_t): its operand, if that is smaller
//
// A reduction of values that are not stacked is accumulated elementwise in the loop, and reduced after it.
#include <algorithm>
#include <functional>
#include <utility>

#include "braintrace/codegen/time_loop.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace::codegen {

namespace {

using keys::lhs_batch;
using keys::lhs_contract;
using keys::rhs_batch;
using keys::rhs_contract;

// One term of a sum over steps: a product or reduction of values of the step, under views and signs.
struct Term {
  const Eqn*              made = nullptr;  // dot_general or reduce_sum
  std::vector<const Eqn*> views;           // views and signs, innermost first
  Vars                    left;            // pieces of the left operand
  int64_t                 axis = 0;        // the axis along which they are concatenated
};

// The value of v in every step: an available input, or a stacked result (index among the ys), which for a carry is
// shifted by one step.
struct Stacked {
  Tensor  given;
  int64_t y = -1, carry = -1;
  bool    found() const { return given.defined() || y >= 0; }
};
Stacked find_stacked(const Loop& l, Var v) {
  if (const size_t i = index_of(l.args.xs, v); i < l.args.xs.size()) return {l.values.xs[i]};
  Stacked out;
  if (const size_t k = index_of(l.args.carry, v); k < l.args.carry.size()) out.carry = static_cast<int64_t>(k);
  const Var left = out.carry < 0 ? v : l.results.carry[static_cast<size_t>(out.carry)];
  if (const size_t y = index_of(l.results.ys, left); y < l.results.ys.size()) out.y = static_cast<int64_t>(y);
  return out;
}
// The equation that computes v as a view of a value that is not larger.
const Eqn* view_of(const Loop& l, Var v) {
  const auto is_maker = [&](const Eqn& e) { return e.out[0] == v; };
  const auto e        = std::find_if(l.body.eqns.begin(), l.body.eqns.end(), is_maker);
  const bool is_one =
      e != l.body.eqns.end() && is_view(*e->op) && l.body.type(e->in[0]).size() <= l.body.type(v).size();
  return is_one ? &*e : nullptr;
}
void stack(Loop& l, Var v) {
  const Stacked s = find_stacked(l, v);
  if (s.found()) return;
  if (const Eqn* view = view_of(l, v))
    stack(l, view->in[0]);
  else
    l.results.ys.push_back(s.carry >= 0 ? l.results.carry[static_cast<size_t>(s.carry)] : v);
}

// Finds the terms of carries in the body at the time of construction.
class Sums {
 public:
  explicit Sums(const Loop& l)
      : l_(l), maker_(makers(l.body)), uses_(uses(l.program())), varying_(l.reached(true, true)) {}

  struct Split {
    std::vector<Term> terms;   // to move out of the loop
    std::vector<Term> spread;  // to reduce after the loop
    Vars              rest;    // that stay in the loop
    bool              empty() const { return terms.empty() && spread.empty(); }
  };
  // `stacks` determines which values are available for every step.
  Split of(size_t k, const Loop& stacks) const {
    Split out;
    Vars  open{l_.results.carry[k]};
    int   own = 0;
    while (!open.empty()) {
      const Var v = open.back();
      open.pop_back();
      const Eqn* e = maker_[v];
      if (v == l_.args.carry[k]) {
        ++own;
      } else if (e && e->op == &add_op && uses_[v] == 1) {
        open.insert(open.end(), e->in.begin(), e->in.end());
      } else if (Term t = term(v); t.made) {
        const Stacked s = find_stacked(stacks, t.made->in[0]);
        if (t.made->op == &dot_general_op || (s.found() && s.carry < 0))
          out.terms.push_back(std::move(t));
        else if (contains(t.made->attrs[keys::axes], 0))
          out.spread.push_back(std::move(t));
        else
          out.rest.push_back(v);
      } else {
        out.rest.push_back(v);
      }
    }
    // The carry must occur exactly once, as a term of its own update.
    const bool only_here = own == 1 && uses_[l_.args.carry[k]] == 1 && is_float(l_.body.type(l_.args.carry[k]).dtype);
    return only_here && !out.empty() ? out : Split{};
  }

 private:
  Term term(Var v) const {
    Term       t;
    const Eqn* e = maker_[v];
    for (; e && (is_view(*e->op) || e->op == &neg_op); e = maker_[e->in[0]]) t.views.insert(t.views.begin(), e);
    const bool product = e && e->op == &dot_general_op && varying_[e->in[0]] && varying_[e->in[1]];
    if (product || (e && e->op == &reduce_sum_op)) t.made = e;
    if (product) find_pieces(*e, t);
    return t;
  }
  void find_pieces(const Eqn& product, Term& t) const {
    t.left            = {product.in[0]};
    const Eqn* pieces = maker_[t.left[0]];
    if (!pieces || pieces->op != &concat_op) return;
    t.axis          = pieces->attrs[keys::axis];
    const bool free = !contains(product.attrs[lhs_contract], t.axis) && !contains(product.attrs[lhs_batch], t.axis);
    if (free) t.left = pieces->in;
  }

  const Loop&             l_;
  std::vector<const Eqn*> maker_;
  std::vector<int>        uses_;
  Mask                    varying_;
};

// Σ_t a_t b_t. If the steps are in several tensors, sums tensor by tensor.
Tensor summed_product(const Attrs& a, const Tensor& l, const Tensor& r) {
  for (const bool left : {true, false}) {
    const auto parts = made_by(concat_op, left ? l : r);
    if (!parts || parts->attrs[keys::axis] != 0) continue;
    Tensor  sum;
    int64_t at = 0;
    for (const Tensor& part : parts->in) {
      const int64_t from  = std::exchange(at, at + part.shape()[0]);
      const Tensor  other = slice_axis(left ? r : l, 0, from, at);
      sum                 = add_defined(sum, left ? summed_product(a, part, other) : summed_product(a, other, part));
    }
    return sum;
  }
  return dot_general(l, r,
                     {prepend(0, shifted(a[lhs_contract])), prepend(0, shifted(a[rhs_contract])), shifted(a[lhs_batch]),
                      shifted(a[rhs_batch])});
}

Tensor seen_through(const Term& t, Tensor y) {
  for (const Eqn* e : t.views) y = apply1(*e->op, {y}, e->attrs);
  return y;
}

// Maps an axis of the left operand to the axis of the product.
int64_t axis_of_product(const Attrs& a, int64_t axis) {
  auto at = static_cast<int64_t>(a[lhs_batch].size());
  for (int64_t i = 0; i < axis; ++i)
    if (!contains(a[lhs_contract], i) && !contains(a[lhs_batch], i)) ++at;
  return at;
}

// Moves the sums out of a loop: shortens it, runs it, and adds the sums to its results.
class LoopWithoutSums {
 public:
  explicit LoopWithoutSums(const Loop& whole) : whole_(whole), short_(whole), stacked_(whole) {
    stack_factors();
    drop_sums();
    short_.prune();
  }

  Tensors results(const RunLoop& run) {
    ran_ = run(short_);
    Tensors out;
    for (size_t k = 0; k < splits_.size(); ++k) out.push_back(total(k));
    for (size_t i = 0; i < whole_.results.ys.size(); ++i) out.push_back(y(static_cast<int64_t>(i)));
    return out;
  }

 private:
  // Stacks both factors of each product.
  void stack_factors() {
    const Sums   sums(whole_);
    const size_t n = whole_.args.carry.size();
    for (size_t k = 0; k < n; ++k)
      for (const Term& t : sums.of(k, short_).terms)
        if (t.made->op == &dot_general_op) {
          for (Var v : t.left) stack(short_, v);
          stack(short_, t.made->in[1]);
        }
    for (size_t k = 0; k < n; ++k) splits_.push_back(sums.of(k, short_));
    stacked_ = short_;
  }

  // Removes carries that are only sums. Terms that are not products stay in the loop; reductions are accumulated before
  // they are reduced.
  void drop_sums() {
    short_.args.carry.clear();
    short_.results.carry.clear();
    short_.values.carry.clear();
    const size_t n = splits_.size();
    stays_.assign(n, -1);
    spread_.resize(n);
    for (size_t k = 0; k < n; ++k) {
      const Sums::Split& split = splits_[k];
      for (const Term& t : split.spread) {
        const Type type = short_.body.type(t.made->in[0]);
        const Var  sum  = short_.body.add_value(type);
        spread_[k].push_back(carry(sum, added(sum, t.made->in[0]), Tensor(type, 0)));
      }
      if (!split.empty() && split.rest.empty()) continue;
      Var next = split.empty() ? whole_.results.carry[k] : whole_.args.carry[k];
      for (Var v : split.rest) next = added(next, v);
      stays_[k] = static_cast<int64_t>(carry(whole_.args.carry[k], next, whole_.values.carry[k]));
    }
  }
  Var added(Var a, Var b) {
    const Var sum = short_.body.add_value(short_.body.type(b));
    short_.body.eqns.push_back({&add_op, {a, b}, {sum}, {}, 0});
    return sum;
  }
  size_t carry(Var arg, Var out, const Tensor& init) {
    short_.args.carry.push_back(arg);
    short_.results.carry.push_back(out);
    short_.values.carry.push_back(init);
    return short_.args.carry.size() - 1;
  }

  Tensor total(size_t k) const {
    Tensor sum_so_far = stays_[k] >= 0 ? ran_[static_cast<size_t>(stays_[k])] : whole_.values.carry[k];
    for (const Term& t : splits_[k].terms) sum_so_far = sum_so_far + seen_through(t, sum_over_steps(t));
    for (size_t i = 0; i < spread_[k].size(); ++i) {
      const Term& t = splits_[k].spread[i];
      sum_so_far    = sum_so_far + seen_through(t, sum(ran_[spread_[k][i]], t.made->attrs[keys::axes]));
    }
    return sum_so_far;
  }
  Tensor sum_over_steps(const Term& t) const {
    const Attrs& a = t.made->attrs;
    if (t.made->op == &reduce_sum_op) return sum(at_all_steps(t.made->in[0]), prepend(0, shifted(a[keys::axes])));
    Tensors pieces;
    for (Var v : t.left) pieces.push_back(summed_product(a, at_all_steps(v), at_all_steps(t.made->in[1])));
    return pieces.size() == 1 ? pieces[0] : concat(pieces, axis_of_product(a, t.axis));
  }
  Tensor at_all_steps(Var v) const {
    const Stacked s = find_stacked(stacked_, v);
    if (s.given.defined()) return s.given;
    if (s.found()) return s.carry < 0 ? y(s.y) : one_late(whole_, static_cast<size_t>(s.carry), y(s.y));
    const Eqn* view = view_of(stacked_, v);
    Program    look = stacked_.body;
    look.eqns       = {*view};
    return stacked_.in_all_steps(look, view->in, {at_all_steps(view->in[0])}, {v})[0];
  }
  Tensor y(int64_t i) const { return ran_[short_.args.carry.size() + static_cast<size_t>(i)]; }

  const Loop&                      whole_;
  Loop                             short_, stacked_;  // the loop that runs; the same with all carries
  std::vector<Sums::Split>         splits_;           // per carry of the whole loop, like the next two:
  std::vector<int64_t>             stays_;            // index of the remaining carry, or -1
  std::vector<std::vector<size_t>> spread_;           // carries with unreduced sums
  Tensors                          ran_;
};

}  // namespace

Tensor one_late(const Loop& l, size_t carry, const Tensor& left) {
  const Tensor  first = expand_dims(l.values.carry[carry], 0);
  const int64_t from  = l.reverse ? 1 : 0;
  const Tensor  later = slice_axis(left, 0, from, from + l.length - 1);
  return concat(l.reverse ? Tensors{later, first} : Tensors{first, later}, 0);
}

Tensors run_without_sums(const Loop& whole, const RunLoop& run) { return LoopWithoutSums(whole).results(run); }

}  // namespace braintrace::codegen
