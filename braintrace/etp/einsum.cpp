// SPDX-License-Identifier: Apache-2.0
// y = einsum("xs,ws->ys", x, W)       letters of the result that W lacks are *shared* (the batch letter is one)
//
//   ε_W : [*shared,*ws,S]   ∂y/∂W = x, summed over the letters that only x has
//
// A weight shared over an axis on which D differs by position needs that axis in its trace: a sum of products is not
// a product of sums.
#include "braintrace/etp/einsum.h"

#include <algorithm>

#include "braintrace/base/rng.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

constexpr Key<std::string> equation_key{"equation"};

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

struct Equation {
  std::string x, w, y;

  template <class Keep>
  static std::string filtered(const std::string& letters, Keep keep) {
    std::string out;
    std::copy_if(letters.begin(), letters.end(), std::back_inserter(out), keep);
    return out;
  }
  std::string shared() const {
    return filtered(y, [&](char c) { return !has(w, c); });
  }
  std::string trace() const { return shared() + w; }
  std::string text() const { return x + "," + w + "->" + y; }
};

void check_letters(const std::string& equation, const std::string& spec, const char* what) {
  require(!spec.empty(), "einsum: '{}' has no letters for {}.", equation, what);
  for (char c : spec)
    require('a' <= c && c <= 'z', "einsum: '{}' has '{}' in {}; use lower-case letters, one per axis, no ellipsis.",
            equation, c, what);
  for (char c : spec)
    require(std::count(spec.begin(), spec.end(), c) == 1, "einsum: '{}' repeats '{}' in {}; name every axis once.",
            equation, c, what);
}

Equation parse_equation(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const auto arrow = text.find("->");
  require(arrow != std::string::npos, "einsum: '{}' has no arrow; write the result out, as in 'bk,kn->bn'.", text);
  const std::string in = text.substr(0, arrow);
  require(std::count(in.begin(), in.end(), ',') == 1,
          "einsum: '{}' must have exactly two operands, x and the weight, as in 'bk,kn->bn'.", text);
  const auto comma = in.find(',');
  Equation   e{in.substr(0, comma), in.substr(comma + 1), text.substr(arrow + 2)};
  check_letters(text, e.x, "x");
  check_letters(text, e.w, "the weight");
  check_letters(text, e.y, "the result");
  require(e.x[0] == e.y[0] && !has(e.w, e.x[0]),
          "einsum: '{}' must begin x and the result with one batch letter that the weight lacks.", text);
  for (char c : e.y)
    require(has(e.x, c) || has(e.w, c), "einsum: '{}' has '{}' in the result, but not in any operand.", text, c);
  for (char c : e.w)
    require(has(e.x, c) || has(e.y, c), "einsum: '{}' has '{}' in the weight only; sum the weight over it first.", text,
            c);
  return e;
}

// x without the letters that neither W nor y has.
Tensor without_own_axes(const Tensor& x, const Equation& e, std::string& letters) {
  Ints own;
  letters.clear();
  for (size_t i = 0; i < e.x.size(); ++i) {
    if (has(e.w, e.x[i]) || has(e.y, e.x[i]))
      letters += e.x[i];
    else
      own.push_back(static_cast<int64_t>(i));
  }
  return own.empty() ? x : sum(x, own);
}

Tensor product(const Equation& e, const Tensor& x, const Tensor& W) {
  std::string  xs;
  const Tensor lhs = without_own_axes(x, e, xs);
  DotAxes      axes;
  std::string  batch, x_free, w_free;
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto in_w = e.w.find(xs[i]);
    if (in_w == std::string::npos) {
      x_free += xs[i];
    } else if (has(e.y, xs[i])) {
      axes.lhs_batch.push_back(static_cast<int64_t>(i));
      axes.rhs_batch.push_back(static_cast<int64_t>(in_w));
      batch += xs[i];
    } else {
      axes.lhs_contract.push_back(static_cast<int64_t>(i));
      axes.rhs_contract.push_back(static_cast<int64_t>(in_w));
    }
  }
  for (char c : e.w)
    if (!has(xs, c)) w_free += c;
  return laid_out(dot_general(lhs, W, axes), batch + x_free + w_free, e.y);
}

Types einsum_infer(const Op& op, const Types& in, const Attrs& a) {
  const Equation e = parse_equation(a[equation_key]);
  const Type &   x = in[0], &W = in[1];
  require(x.rank() == static_cast<int>(e.x.size()) && W.rank() == static_cast<int>(e.w.size()),
          "einsum: '{}' names {} axes of x and {} of the weight, got {} and {}.", e.text(), e.x.size(), e.w.size(),
          to_string(x), to_string(W));
  require_one_dtype(op, in, 1);
  for (size_t i = 0; i < e.x.size(); ++i)
    if (const auto j = e.w.find(e.x[i]); j != std::string::npos)
      require(x.shape[i] == W.shape[j], "einsum: '{}': axis '{}' has size {} in x {} and {} in the weight {}.",
              e.text(), e.x[i], x.shape[i], to_string(x), W.shape[j], to_string(W));
  Type y{x.dtype, {}};
  for (char c : e.y) y.shape.push_back(has(e.x, c) ? x.shape[e.x.find(c)] : W.shape[e.w.find(c)]);
  return {y};
}

// The mapped axis becomes one more shared letter.
Tensors einsum_batch(const BatchArgs& a) {
  if (!a.batched[0] || a.batched[1]) return {};
  Equation          e    = parse_equation(a.attrs[equation_key]);
  const std::string used = e.x + e.w;
  for (char c = 'a'; c <= 'z'; ++c) {
    if (has(used, c)) continue;
    e.x = c + e.x;
    e.y = c + e.y;
    return apply(a.op, a.in, a.attrs.with(equation_key, e.text()));
  }
  return {};
}

Equation equation_of(const EtpCall& c) { return parse_equation(c.attrs[equation_key]); }

constexpr EtpRules einsum_rules = {
    .primitive   = [](const EtpCall&) -> std::string_view { return "etp_einsum"; },
    .weights     = weight_and_bias,
    .coefficient = [](const EtpCall& c, int, const Tensors& in) -> Tensor {
      const Equation e = equation_of(c);
      std::string    xs;
      const Tensor   x = without_own_axes(in[0], e, xs);
      return laid_out(x, xs, e.trace());
    },
    .spread = [](const EtpCall& c, int, const Tensor& t) -> Tensor {
      const Equation e = equation_of(c);
      return laid_out(t, e.y, e.trace());
    },
    .fold = sum_to_weight,
};

}  // namespace

constinit const Op einsum_op = composite({
    .name     = "einsum",
    .doc      = "trainable product with named axes",
    .operands = "x weight",
    .infer    = einsum_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs& a) -> Tensors {
      return {product(parse_equation(a[equation_key]), in[0], in[1])};
    },
    .batch  = einsum_batch,
    .depend = [](const DependArgs& a) -> AxisLinks {
      const Equation     e    = parse_equation(a.attrs[equation_key]);
      const std::string& from = a.operand == 0 ? e.x : e.w;
      AxisLinks          links;
      for (int i = 0; i < static_cast<int>(from.size()); ++i)
        if (const auto at = e.y.find(from[i]); at != std::string::npos) {
          const int j = static_cast<int>(at);
          links.push_back({i, i + 1, j, j + 1});
        }
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto r   = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
      auto use = [](const char* text) { return Attrs{{equation_key, std::string(text)}}; };
      return {{{r({2, 3}), r({3, 4})}, use("bk,kn->bn")},          {{r({2, 3, 2}), r({2, 4})}, use("btk,kn->btn")},
              {{r({2, 2, 3}), r({2, 3, 2})}, use("bhd,hde->bhe")}, {{r({2, 3, 4}), r({4})}, use("bkn,n->bkn")},
              {{r({2, 3, 2}), r({4, 2})}, use("bjk,nk->bn")},      {{r({2, 3}), r({2})}, use("bk,n->bnk")}};
    },
    .etp = &einsum_rules,
});

Tensor einsum(const std::string& equation, const Tensor& x, const Tensor& weight, const EinsumOptions& o) {
  const Equation e = parse_equation(equation);
  return apply1(einsum_op, operands(x, {transformed(weight, o.weight_fn, "einsum", "weight_fn")}, {}),
                {{equation_key, e.text()}});
}

}  // namespace braintrace
