// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/separate.h"

#include <algorithm>
#include <map>

#include "braintrace/codegen/rewrite.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace::codegen {

namespace {

constexpr Key<Ints>   dims_key{"dims"};
constexpr Key<double> value_key{"value"};
constexpr int64_t     worthwhile = 4096;  // elements: below, the vectors' own loops cost more than they save
constexpr size_t      most_terms = 16;

// ± a product of values
struct Product {
  bool negative = false;
  Vars factors;
};
// Parts by the axes they vary over, each a sum of products of values that vary over just these.
struct Term {
  bool                                 negative = false;
  std::map<Ints, std::vector<Product>> parts;
};

class Separation {
 public:
  explicit Separation(const Program& p)
      : p_(p), producer_(producers(p)), uses_(p.types.size(), 0), inner_(uses_.size()) {
    for (const Eqn& e : p.eqns)
      for (Var v : e.in) ++uses_[v];
    for (Var v : p.results) ++uses_[v];
    for (const Eqn& e : p.eqns)
      if (is_node(e))
        for (Var v : e.in) inner_[v] = uses_[v] == 1 && made(v) && is_node(*made(v));
  }

  // The value of the equation's tree in terms of `values`; undefined where nothing is gained.
  Tensor rebuilt(const Eqn& e, const Tensors& values) const {
    const Var   v = e.out[0];
    const Type& t = p_.type(v);
    if (!is_node(e) || inner_[v] || (t.dtype != DType::F32 && t.dtype != DType::F64) || t.size() < worthwhile)
      return {};
    std::vector<Term> terms = terms_of(v, true);
    // A product of values of which none varies over all axes, but several over some.
    const bool has_outer = std::any_of(terms.begin(), terms.end(), [all = all_axes(v)](const Term& x) {
      return !x.parts.contains(all) && x.parts.size() - x.parts.count({}) > 1;
    });
    if (!has_outer || terms.size() > most_terms) return {};
    join(terms);
    if (cost(terms) >= cost_of_tree(v, true)) return {};
    return reshape(built(terms, squeezed(t.shape), values), t.shape);
  }

 private:
  // Of a tree: sums, products, signs, and changes of axes of size one, which change nothing else.
  bool is_node(const Eqn& e) const {
    return e.op == &add_op || e.op == &sub_op || e.op == &mul_op || e.op == &neg_op || keeps_order(e);
  }
  bool keeps_order(const Eqn& e) const {
    return e.op == &reshape_op && squeezed(p_.type(e.in[0]).shape) == squeezed(p_.type(e.out[0]).shape);
  }
  const Eqn* made(Var v) const { return producer_[v] >= 0 ? &p_.eqns[producer_[v]] : nullptr; }

  // The value that v repeats, and the axes of v it varies over, counted without those of size one.
  std::pair<Var, Ints> source(Var v) const {
    Ints axes = all_axes(v);
    for (const Eqn* e = made(v); e; e = made(v)) {
      const Shape& shape = p_.type(v).shape;
      if (e->op == &full_op) return {v, {}};
      if (e->op == &broadcast_op) {
        const Ints here = long_axes(shape);
        Ints       kept;
        for (size_t i = 0; i < here.size(); ++i)
          if (contains(e->attrs[dims_key], here[i])) kept.push_back(axes[i]);
        axes = kept;
      } else if (!keeps_order(*e)) {
        break;
      }
      v = e->in[0];
    }
    return {v, axes};
  }

  // Products of a sum are taken term by term where the other factor varies over fewer axes; v is the root, or inner.
  std::vector<Term> terms_of(Var v, bool root = false) const {
    const Eqn* e = made(v);
    if (!root && !inner_[v]) return {leaf(v)};
    std::vector<Term> a = terms_of(e->in[0]);
    if (keeps_order(*e)) return a;
    if (e->op == &neg_op) {
      for (Term& t : a) t.negative = !t.negative;
      return a;
    }
    std::vector<Term> b = terms_of(e->in[1]);
    if (e->op == &mul_op) {
      if (a.size() > 1) std::swap(a, b);
      if (a.size() > 1 || (b.size() > 1 && a[0].parts.contains(all_axes(v)))) return {leaf(v)};
      for (Term& t : b) {
        t.negative = t.negative != a[0].negative;
        for (const auto& [axes, products] : a[0].parts) {
          std::vector<Product>& part = t.parts[axes];
          if (part.empty()) part.push_back({});
          part[0].factors = joined(part[0].factors, products[0].factors);
        }
      }
      return b;
    }
    for (Term& t : b) {
      t.negative = t.negative != (e->op == &sub_op);
      a.push_back(std::move(t));
    }
    return a;
  }
  Term leaf(Var v) const {
    const auto [from, axes] = source(v);
    Term t;
    t.parts[axes] = {{false, {from}}};
    return t;
  }
  static Vars joined(Vars a, const Vars& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    return a;
  }
  Ints all_axes(Var v) const { return counted(0, static_cast<int64_t>(squeezed(p_.type(v).shape).size())); }

  // Numbers become factors of the vectors; terms that differ in one part only become one.
  static void join(std::vector<Term>& terms) {
    for (Term& t : terms) {
      const auto number = t.parts.find({});
      if (number == t.parts.end() || t.parts.size() == 1) continue;
      // The part with the fewest axes, and the last of those: columns before rows.
      auto best = std::next(number);
      for (auto i = best; i != t.parts.end(); ++i)
        if (i->first.size() <= best->first.size()) best = i;
      best->second[0].factors = joined(best->second[0].factors, number->second[0].factors);
      t.parts.erase(number);
    }
    for (size_t i = 0; i < terms.size(); ++i)
      for (size_t j = i + 1; j < terms.size();) {
        if (join_into(terms[i], terms[j]))
          terms.erase(terms.begin() + static_cast<int64_t>(j));
        else
          ++j;
      }
  }
  static bool join_into(Term& to, const Term& t) {
    Ints differs;
    int  differences = 0;
    if (to.parts.size() != t.parts.size()) return false;
    for (const auto& [axes, products] : t.parts) {
      const auto it = to.parts.find(axes);
      if (it == to.parts.end()) return false;
      if (same(it->second, products)) continue;
      differs = axes;
      ++differences;
    }
    if (differences > 1) return false;
    if (differences == 0) differs = t.parts.begin()->first;
    for (Product x : t.parts.at(differs)) {
      x.negative = x.negative != (t.negative != to.negative);
      to.parts[differs].push_back(std::move(x));
    }
    return true;
  }
  static bool same(const std::vector<Product>& a, const std::vector<Product>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Product& x, const Product& y) {
      return x.negative == y.negative && x.factors == y.factors;
    });
  }

  // Operations per element.
  static size_t cost(const std::vector<Term>& terms) {
    size_t n = terms.size() - 1;
    for (const Term& t : terms) n += t.parts.size() - 1;
    return n;
  }
  size_t cost_of_tree(Var v, bool root = false) const {
    if (!root && !inner_[v]) return 0;
    size_t n = !keeps_order(*made(v)) && axes_of_tree(v, root).size() == all_axes(v).size() ? 1 : 0;
    for (Var x : made(v)->in) n += cost_of_tree(x);
    return n;
  }
  Ints axes_of_tree(Var v, bool root = false) const {
    if (!root && !inner_[v]) return source(v).second;
    Ints all;
    for (Var x : made(v)->in)
      for (int64_t a : axes_of_tree(x))
        if (!contains(all, a)) all.push_back(a);
    return all;
  }

  static Tensor product_of(const Product& x, const Shape& shape, const Tensors& values) {
    Tensor y;
    for (Var v : x.factors) {
      const Tensor& t = values[v];
      const auto    c = made_by(full_op, t);
      const Tensor  f = c               ? full(shape, c->attrs[value_key], t.dtype())
                        : t.size() == 1 ? broadcast_to(reshape(t, {}), shape)
                                        : reshape(t, shape);
      y               = y.defined() ? y * f : f;
    }
    return y;
  }
  static Tensor built(const std::vector<Term>& terms, const Shape& space, const Tensors& values) {
    const auto term = [&](const Term& t) {
      Tensor y;
      for (const auto& [axes, products] : t.parts) {
        Shape shape;
        for (int64_t a : axes) shape.push_back(space[a]);
        Tensor part;
        for (const Product& x : products) {
          const Tensor f = product_of(x, shape, values);
          part           = !part.defined() ? (x.negative ? -f : f) : x.negative ? part - f : part + f;
        }
        part = broadcast_axes(part, space, axes);
        y    = y.defined() ? y * part : part;
      }
      return y;
    };
    std::vector<Term> order = terms;  // the first positive term leads
    std::stable_partition(order.begin(), order.end(), [](const Term& t) { return !t.negative; });
    Tensor sum;
    for (const Term& t : order) {
      const Tensor y = term(t);
      sum            = !sum.defined() ? (t.negative ? -y : y) : t.negative ? sum - y : sum + y;
    }
    return sum;
  }

  const Program&       p_;
  std::vector<int32_t> producer_;
  std::vector<int>     uses_;
  std::vector<bool>    inner_;  // read by one arithmetic equation only, and made by another
};

}  // namespace

Program separated(const Program& program) {
  const Separation separation(program);
  Tensors          values(program.types.size());
  return rewritten(program, [&](Builder& to, const Program& p, const Eqn& e, const Tensors& in, const Mask&) {
    for (size_t i = 0; i < in.size(); ++i) values[e.in[i]] = in[i];
    const Tensor y = separation.rebuilt(e, values);
    return y.defined() ? Tensors{y} : to.emit(*e.op, in, e.attrs, p.types_of(e.out));
  });
}

}  // namespace braintrace::codegen
