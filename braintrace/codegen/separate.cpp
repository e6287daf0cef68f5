// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/separate.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/rewrite.h"
#include "braintrace/codegen/view.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

namespace {

// Longer sums are not changed: searching for pairs takes quadratic time.
constexpr size_t most_terms = 16, most_products = 8;

// A coefficient times values.
struct Product {
  double number  = 1;
  Vars   factors = {};  // sorted
};
using Sum = std::vector<Product>;
// Factors keyed by the axes they vary over, each a sum of products of values that vary over exactly these. Factors
// gathered from the rows of matrices, in a space without rows, represent the sum of their product over the rows.
using ProductTerm = std::map<Ints, Sum>;

Product operator*(const Product& a, const Product& b) {
  Product c{a.number * b.number, a.factors};
  c.factors.insert(c.factors.end(), b.factors.begin(), b.factors.end());
  std::sort(c.factors.begin(), c.factors.end());
  return c;
}
Sum operator*(const Sum& a, const Sum& b) {
  Sum c;
  for (const Product& x : a)
    for (const Product& y : b) c.push_back(x * y);
  return c;
}
Sum operator*(Sum a, double number) {
  for (Product& x : a) x.number *= number;
  return a;
}
// Combines products with the same factors; they may cancel.
Sum operator+(Sum a, const Sum& b) {
  for (const Product& y : b) {
    const auto same = std::find_if(a.begin(), a.end(), [&](const Product& x) { return x.factors == y.factors; });
    if (same == a.end())
      a.push_back(y);
    else if ((same->number += y.number) == 0)
      a.erase(same);
  }
  return a;
}
// The ratio r with b = r a, or 0 if there is none.
double ratio(const Sum& a, const Sum& b) {
  if (a.size() != b.size() || a.empty()) return 0;
  const double r = b[0].number / a[0].number;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].factors != b[i].factors || a[i].number * r != b[i].number) return 0;
  return r;
}

class Separation {
 public:
  Separation(const Program& p, const Target& target)
      : p_(p), target_(target), maker_(makers(p)), inner_(p.types.size()) {
    const std::vector<int> count = uses(p);
    for (const Eqn& e : p.eqns)
      if (is_node(e))
        for (Var v : e.in) inner_[v] = count[v] == 1 && maker_[v] && is_node(*maker_[v]);
  }

  // Rebuilds the equation's expression tree from `values`; undefined if nothing is gained.
  Tensor rebuilt(const Eqn& e, const Tensors& values) const {
    const Var   v = e.out[0];
    const Type& t = p_.type(v);
    if (!is_node(e) || inner_[v] || (t.dtype != DType::F32 && t.dtype != DType::F64) ||
        t.size() < target_.separated_from)
      return {};
    std::vector<ProductTerm> terms = terms_of(v, true);
    // A product whose factors vary over some axes each, but none over all.
    const bool has_outer = std::any_of(terms.begin(), terms.end(), [all = all_axes(v)](const ProductTerm& x) {
      return !x.contains(all) && x.size() - x.count({}) > 1;
    });
    if (!has_outer || terms.size() > most_terms) return {};
    join(terms);
    if (terms.empty()) return {};
    if (cost(terms, squeezed(t.shape).size()) >= cost_of_tree(v, t.size(), true)) return {};
    // Start with a term without a negative sign.
    std::stable_partition(terms.begin(), terms.end(), [](const ProductTerm& x) {
      return std::none_of(x.begin(), x.end(), [](const auto& part) { return part.second[0].number < 0; });
    });
    return reshape(built(terms, squeezed(t.shape), values, t.dtype), t.shape);
  }

 private:
  // Nodes of a tree: sums, products, signs, sums over rows, and reshapes that add or remove axes of size one.
  bool is_node(const Eqn& e) const { return is_arithmetic(e) || is_row_sum(e); }
  bool is_arithmetic(const Eqn& e) const {
    return e.op == &add_op || e.op == &sub_op || e.op == &mul_op || e.op == &neg_op || keeps_axes(e, p_);
  }
  // Σ_b of values gathered at known indices: Σ_b x[b, from] q[b, to]
  bool is_row_sum(const Eqn& e) const {
    return (e.op == &reduce_sum_op || e.op == &product_sum_op) && e.attrs[keys::axes] == Ints{0} &&
           p_.type(e.in[0]).rank() == 2 &&
           std::all_of(e.in.begin(), e.in.end(), [&](Var v) { return is_made_of_rows(v); });
  }
  bool is_made_of_rows(Var v) const {
    const Eqn* e = maker_[v];
    if (!e) return false;
    if (e->op == &take_op) return source(v).first == e->in[0];
    if (e->op == &full_op || (e->op == &broadcast_op && p_.type(e->in[0]).size() == 1)) return true;
    return is_arithmetic(*e) && std::all_of(e->in.begin(), e->in.end(), [&](Var x) { return is_made_of_rows(x); });
  }

  // The value that v broadcasts, and the axes of v it varies over, ignoring axes of size one. A gather at a known index
  // has a virtual axis, which encodes index and length, and the number of rows if there are several.
  std::pair<Var, Ints> source(Var v) const {
    Ints axes = all_axes(v);
    for (const Eqn* e = maker_[v]; e; e = maker_[v]) {
      const Shape& shape = p_.type(v).shape;
      if (e->op == &full_op) return {v, {}};
      if (e->op == &take_op) {
        const Type &  x = p_.type(e->in[0]), &index = p_.type(e->in[1]);
        const int64_t rows = x.rank() == 2 ? x.shape[0] : 1;
        if (x.rank() > 2 || e->attrs[keys::axis] != x.rank() - 1 || e->attrs[keys::batch] != 0 || index.rank() != 1 ||
            axes != counted(0, rows > 1 ? 2 : 1) || !known_value(p_, e->in[1]))
          break;
        return {e->in[0], joined(Ints{-1 - e->in[1], x.shape.back()}, rows > 1 ? Ints{rows} : Ints{})};
      }
      if (e->op == &broadcast_op) {
        const Ints here = long_axes(shape);
        Ints       kept;
        for (size_t i = 0; i < here.size(); ++i)
          if (contains(e->attrs[keys::dims], here[i])) kept.push_back(axes[i]);
        axes = kept;
      } else if (!keeps_axes(*e, p_)) {
        break;
      }
      v = e->in[0];
    }
    return {v, axes};
  }

  // Expands products of sums if the other factor varies over fewer axes; v is the root or an inner node.
  std::vector<ProductTerm> terms_of(Var v, bool root = false) const {
    const Eqn* e = maker_[v];
    if (!root && !inner_[v]) return {leaf(v)};
    std::vector<ProductTerm> a = terms_of(e->in[0]);
    if (keeps_axes(*e, p_)) return a;
    if (e->op == &neg_op) return negative(std::move(a));
    if (e->op == &reduce_sum_op) return are_rows(a) ? a : std::vector{leaf(v)};
    std::vector<ProductTerm> b = terms_of(e->in[1]);
    if (e->op == &mul_op || e->op == &product_sum_op) {
      if (a.size() > 1) std::swap(a, b);
      if (a.size() > 1 || (b.size() > 1 && a[0].contains(all_axes(v)))) return {leaf(v)};
      // A product of two sums over rows cannot be expanded.
      if (p_.type(e->in[0]).rank() < 2 && rows_of(a[0]) > 1 && rows_of(b) > 1) return {leaf(v)};
      for (ProductTerm& t : b)
        for (const auto& [axes, sum] : a[0]) t[axes] = t.contains(axes) ? t[axes] * sum : sum;
      return e->op == &mul_op || are_rows(b) ? b : std::vector{leaf(v)};
    }
    if (e->op == &sub_op) b = negative(std::move(b));
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static std::vector<ProductTerm> negative(std::vector<ProductTerm> terms) {
    for (ProductTerm& t : terms) t.begin()->second = t.begin()->second * -1;
    return terms;
  }
  ProductTerm leaf(Var v) const {
    const auto [from, axes] = source(v);
    const Eqn* e            = maker_[from];
    return {{axes, {e && e->op == &full_op ? Product{number_of(*e), {}} : Product{1, {from}}}}};
  }
  // Rounded to the type, so that the same terms cancel as in the program.
  double number_of(const Eqn& full) const {
    return at(Array::scalar(p_.type(full.out[0]).dtype, full.attrs[keys::value]), 0);
  }
  static bool    is_gathered(const Ints& axes) { return !axes.empty() && axes[0] < 0; }
  static bool    has_rows(const Ints& axes) { return is_gathered(axes) && axes.size() == 3; }
  static int64_t rows_of(const ProductTerm& t) {
    int64_t rows = 1;
    for (const auto& [axes, sum] : t)
      if (has_rows(axes)) rows = axes[2];
    return rows;
  }
  static int64_t rows_of(const std::vector<ProductTerm>& terms) {
    int64_t rows = 1;
    for (const ProductTerm& t : terms) rows = std::max(rows, rows_of(t));
    return rows;
  }
  // Whether each is a product of coefficients and values gathered from rows, so that the sum over rows can be deferred.
  static bool are_rows(const std::vector<ProductTerm>& terms) {
    return std::all_of(terms.begin(), terms.end(), [](const ProductTerm& t) {
      return rows_of(t) > 1 && std::all_of(t.begin(), t.end(),
                                           [](const auto& part) { return part.first.empty() || has_rows(part.first); });
    });
  }
  Ints all_axes(Var v) const { return counted(0, static_cast<int64_t>(squeezed(p_.type(v).shape).size())); }

  // Multiplies coefficients into vectors, expands vectors that are sums of products if terms cancel, and combines terms
  // that differ in one factor only.
  void join(std::vector<ProductTerm>& terms) const {
    for (ProductTerm& t : terms) {
      const auto number = t.find({});
      if (number != t.end() && t.size() > 1) {
        // The factor with the fewest axes, and the last of those: columns before rows.
        auto best = std::next(number);
        for (auto i = best; i != t.end(); ++i)
          if (is_gathered(i->first) || (!is_gathered(best->first) && i->first.size() <= best->first.size())) best = i;
        best->second = best->second * number->second;
        t.erase(number);
      }
    }
    join_pairs(terms);
    for (ProductTerm& t : terms)
      if (t.size() > 1)
        for (auto& [axes, sum] : t)
          if (const Sum all = written_out(sum); all.size() <= sum.size()) sum = all;
    std::erase_if(terms, [](const ProductTerm& t) {
      return std::any_of(t.begin(), t.end(), [](const auto& part) { return part.second.empty(); });
    });
    join_pairs(terms);
  }
  void join_pairs(std::vector<ProductTerm>& terms) const {
    for (size_t i = 0; i < terms.size(); ++i)
      for (size_t j = i + 1; j < terms.size();)
        if (join_into(terms[i], terms[j]))
          terms.erase(terms.begin() + static_cast<int64_t>(j));
        else
          ++j;
  }
  bool join_into(ProductTerm& to, const ProductTerm& t) const {
    if (to.size() != t.size()) return false;
    const Ints* differs = nullptr;
    double      r       = 1;
    for (const auto& [axes, sum] : t) {
      const auto it = to.find(axes);
      if (it == to.end()) return false;
      if (const double x = ratio_of(it->second, sum); x != 0)
        r *= x;
      else if (differs)
        return false;
      else
        differs = &axes;
    }
    const Ints& axes = differs ? *differs : t.begin()->first;
    to[axes]         = to[axes] + (differs ? t.at(axes) : to[axes]) * r;
    return true;
  }

  double ratio_of(const Sum& a, const Sum& b) const {
    const double r = ratio(a, b);
    return r != 0 ? r : ratio(written_out(a), written_out(b));
  }

  // Expands the sum into products of values that are not sums or products themselves.
  Sum written_out(const Sum& sum) const {
    Sum out;
    for (const Product& x : sum) {
      Sum all{{x.number, {}}};
      for (Var v : x.factors) all = all * written_out(v);
      out = out + all;
    }
    return out;
  }
  Sum written_out(Var v) const {
    const auto [it, is_new] = written_out_.try_emplace(v, Sum{{1, {v}}});
    const Eqn* e            = maker_[v];
    if (!is_new || !e) return it->second;
    Sum y = it->second;
    if (e->op == &full_op) y = number_of(*e) == 0 ? Sum{} : Sum{{number_of(*e), {}}};
    if (keeps_axes(*e, p_)) y = written_out(e->in[0]);
    if (e->op == &neg_op) y = written_out(e->in[0]) * -1;
    if (e->op == &add_op) y = written_out(e->in[0]) + written_out(e->in[1]);
    if (e->op == &sub_op) y = written_out(e->in[0]) + written_out(e->in[1]) * -1;
    if (e->op == &mul_op) y = Sum() + written_out(e->in[0]) * written_out(e->in[1]);
    return y.size() > most_products ? Sum{{1, {v}}} : written_out_[v] = y;
  }

  // Operations per element of a value with `axes` axes.
  static int64_t cost(const std::vector<ProductTerm>& terms, size_t axes) {
    auto n = static_cast<int64_t>(terms.size()) - 1;
    for (const ProductTerm& t : terms) {
      const auto parts = static_cast<int64_t>(t.size());
      n += axes == 1 && rows_of(t) > 1 ? rows_of(t) * parts : parts - 1;
    }
    return n;
  }
  // The same for the original tree, whose value has `size` elements.
  int64_t cost_of_tree(Var v, int64_t size, bool root = false) const {
    if (!root && !inner_[v]) return 0;
    const Eqn& e = *maker_[v];
    int64_t    n = 0;
    if (!keeps_axes(e, p_) && axes_of_tree(v, root).size() >= all_axes(v).size())
      n = (is_row_sum(e) ? p_.type(e.in[0]) : p_.type(v)).size() / size;
    for (Var x : e.in) n += cost_of_tree(x, size);
    return n;
  }
  Ints axes_of_tree(Var v, bool root = false) const {
    if (!root && !inner_[v]) return source(v).second;
    Ints all;
    for (Var x : maker_[v]->in)
      for (int64_t a : axes_of_tree(x))
        if (!contains(all, a)) all.push_back(a);
    return all;
  }

  static Tensor product_of(const Product& x, const Shape& shape, const Tensors& values, DType dtype) {
    Tensor y;
    for (Var v : x.factors) {
      const Tensor& t = values[v];
      const Tensor  f = t.size() == 1 ? broadcast_to(reshape(t, {}), shape) : reshape(t, shape);
      y               = y.defined() ? y * f : f;
    }
    if (!y.defined() || std::abs(x.number) != 1) {
      const Tensor number = full(shape, std::abs(x.number), dtype);
      y                   = y.defined() ? y * number : number;
    }
    return y;
  }
  static Tensor sum_of(const Sum& sum, const Shape& shape, const Tensors& values, DType dtype) {
    Tensor y;
    for (const Product& x : sum) {
      const Tensor f = product_of(x, shape, values, dtype);
      y              = !y.defined() ? (x.number < 0 ? -f : f) : x.number < 0 ? y - f : y + f;
    }
    return y;
  }
  // Σ_b of a product.
  static Tensor summed_rows(const Tensors& parts) {
    Tensor y = parts[0];
    for (size_t i = 1; i + 1 < parts.size(); ++i) y = y * parts[i];
    return parts.size() == 1 ? sum(y, Ints{0}) : apply1(product_sum_op, {y, parts.back()}, {{keys::axes, Ints{0}}});
  }
  static Tensor built(const std::vector<ProductTerm>& terms, const Shape& space, const Tensors& values, DType dtype) {
    Tensor all;
    for (const ProductTerm& given : terms) {
      ProductTerm t = given;
      // A factor of negative products is subtracted, except in the first term.
      bool minus = false;
      if (all.defined())
        for (auto& [axes, sum] : t)
          if (std::all_of(sum.begin(), sum.end(), [](const Product& x) { return x.number < 0; })) {
            sum   = sum * -1;
            minus = !minus;
          }
      Tensors rows, parts;
      for (const auto& [axes, sum] : t) {
        const Shape  shape  = has_rows(axes)      ? Shape{axes[2], axes[1]}
                              : is_gathered(axes) ? Shape{axes[1]}
                                                  : gather(space, axes);
        const Tensor vector = sum_of(sum, shape, values, dtype);
        const Tensor part   = is_gathered(axes) ? take(vector, values[static_cast<Var>(-1 - axes[0])], -1)
                                                : broadcast_axes(vector, space, axes);
        (has_rows(axes) && space.size() == 1 ? rows : parts).push_back(part);
      }
      if (!rows.empty()) parts.insert(parts.begin(), summed_rows(rows));
      Tensor y;
      for (const Tensor& part : parts) y = y.defined() ? y * part : part;
      all = !all.defined() ? y : minus ? all - y : all + y;
    }
    return all;
  }

  const Program&             p_;
  const Target&              target_;
  std::vector<const Eqn*>    maker_;
  std::vector<bool>          inner_;  // computed by an arithmetic equation, and used by exactly one other
  mutable std::map<Var, Sum> written_out_;
};

}  // namespace

Program separated(const Program& program, const Target& target) {
  const Separation separation(program, target);
  Tensors          values(program.types.size());
  return rewritten(program, [&](const Rewriting& r) {
    scatter(values, r.e.in, r.in);
    const Tensor y = separation.rebuilt(r.e, values);
    return y.defined() ? Tensors{y} : Tensors();
  });
}

}  // namespace braintrace::codegen
