// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/factor.h"

#include <algorithm>
#include <optional>

#include "braintrace/codegen/view.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/copy.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace::codegen {

namespace {

// Which operands of two equations with the same linear op differ; any other operand is common.
struct Difference {
  size_t left, right;
};

class Factors {
 public:
  explicit Factors(const Program& p)
      : given_(p), p_(p), maker_(makers(given_)), uses_(uses(p)), in_sum_(p.types.size()) {
    for (const Eqn& e : p.eqns)
      if (is_sum(e))
        for (Var v : e.in) in_sum_[v] = true;
  }

  // Returns whether any terms were combined; the new program is then in `result`.
  bool run() {
    for (const Eqn& e : given_.eqns) {
      if (is_sum(e) && is_float(p_.type(e.out[0]).dtype) && !is_inner(e))
        join_terms(e);
      else
        eqns_.push_back(e);
    }
    p_.eqns = std::move(eqns_);
    return joined_;
  }
  Program result() && { return std::move(p_); }

 private:
  struct Term {
    Var  v;
    bool negative;
  };

  static bool is_sum(const Eqn& e) { return e.op == &add_op || e.op == &sub_op; }
  const Eqn*  made(Var v) const { return static_cast<size_t>(v) < maker_.size() ? maker_[v] : nullptr; }
  bool        once(Var v) const { return static_cast<size_t>(v) < uses_.size() && uses_[v] == 1; }
  // A sum whose only use is in another sum.
  bool is_inner(const Eqn& e) const { return once(e.out[0]) && in_sum_[e.out[0]]; }
  void collect(Var v, bool negative, std::vector<Term>& out) const {
    const Eqn* e = made(v);
    if (!e || !is_sum(*e) || !once(v)) return out.push_back({v, negative});
    collect(e->in[0], negative, out);
    collect(e->in[1], negative != (e->op == &sub_op), out);
  }

  std::optional<Difference> difference(Var u, Var v) const {
    const Eqn *a = made(u), *b = made(v);
    if (!a || !b || !once(u) || !once(v) || u == v || a->op != b->op || p_.type(u) != p_.type(v) ||
        !(a->attrs == b->attrs))
      return {};
    auto alike = [&](size_t i, size_t j) { return p_.type(a->in[i]) == p_.type(b->in[j]); };
    if (a->op == &mul_op || a->op == &dot_general_op)
      for (size_t i : {0, 1})
        for (size_t j : {0, 1})
          if (a->in[i] == b->in[j] && (i == j || a->op == &mul_op) && alike(1 - i, 1 - j))
            return Difference{1 - i, 1 - j};
    if ((a->op == &neg_op || a->op == &reduce_sum_op || is_view(*a->op)) && alike(0, 0)) return Difference{0, 0};
    return {};
  }
  // Whether combining u and v saves a product or a reduction.
  bool saves(Var u, Var v) const {
    const auto d = difference(u, v);
    if (!d) return false;
    const Eqn &a = *made(u), &b = *made(v);
    return a.op == &dot_general_op || a.op == &reduce_sum_op || saves(a.in[d->left], b.in[d->right]);
  }
  // u ± v
  Var joined(Var u, Var v, bool minus) {
    if (!saves(u, v)) return emit({minus ? &sub_op : &add_op, {u, v}, {}, {}, 0});
    const auto d  = difference(u, v);
    Eqn        e  = *made(u);
    e.in[d->left] = joined(e.in[d->left], made(v)->in[d->right], minus);
    joined_       = true;
    return emit(std::move(e));
  }
  Var emit(Eqn e) {
    e.out = {p_.add_value(infer(*e.op, p_.types_of(e.in), e.attrs)[0])};
    eqns_.push_back(std::move(e));
    return eqns_.back().out[0];
  }

  void join_terms(const Eqn& root) {
    std::vector<Term> terms;
    collect(root.in[0], false, terms);
    collect(root.in[1], root.op == &sub_op, terms);
    bool changed = false;
    for (size_t i = 0; i < terms.size(); ++i)
      for (size_t j = i + 1; j < terms.size();) {
        if (!saves(terms[i].v, terms[j].v)) {
          ++j;
          continue;
        }
        terms[i].v = joined(terms[i].v, terms[j].v, terms[i].negative != terms[j].negative);
        terms.erase(terms.begin() + static_cast<int64_t>(j));
        changed = true;
      }
    if (!changed) return keep(root);
    // Start with a positive term.
    std::stable_partition(terms.begin(), terms.end(), [](const Term& t) { return !t.negative; });
    Var sum = terms[0].negative ? emit({&neg_op, {terms[0].v}, {}, {}, 0}) : terms[0].v;
    for (size_t i = 1; i < terms.size(); ++i)
      sum = emit({terms[i].negative ? &sub_op : &add_op, {sum, terms[i].v}, {}, {}, 0});
    eqns_.push_back({&copy_op, {sum}, root.out, {}, root.note});
  }
  // Keeps the sum unchanged, and the sums that only it uses.
  void keep(const Eqn& root) {
    for (Var v : root.in)
      if (const Eqn* e = made(v); e && is_sum(*e) && once(v) && is_float(p_.type(v).dtype)) keep(*e);
    eqns_.push_back(root);
  }

  const Program&          given_;
  Program                 p_;
  std::vector<const Eqn*> maker_;
  std::vector<int>        uses_;
  Mask                    in_sum_;  // whether a sum uses the value
  std::vector<Eqn>        eqns_;
  bool                    joined_ = false;
};

}  // namespace

Program factored(const Program& program) {
  Factors f(program);
  return f.run() ? factored(simplify(std::move(f).result())) : program;
}

}  // namespace braintrace::codegen
