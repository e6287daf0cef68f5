// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/einsum.h"

#include <map>

#include "braintrace/ops/axes.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

// An axis name: a letter, or -1, -2, … for the axes of "..." counted from the right.
using Label  = int64_t;
using Labels = Ints;

struct Term {
  Tensor value;
  Labels labels;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Labels of one side of the equation; `open` axes take the place of "...".
Labels parse_labels(std::string_view text, int64_t open, std::string_view equation) {
  Labels out;
  bool   seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      require(!seen, "einsum: '{}' has more than one '...' in one operand.", equation);
      for (int64_t k = open; k > 0; --k) out.push_back(-k);
      seen = true;
      i += 2;
    } else {
      require(is_letter(text[i]), "einsum: '{}' contains '{}'; axes are single letters, as in 'bi,io->bo'.", equation,
              text[i]);
      out.push_back(text[i]);
    }
  }
  return out;
}

struct Equation {
  std::vector<std::string> operands;
  std::string              result;
  bool                     has_result = false;
};

Equation parse_equation(std::string_view equation) {
  std::string text;
  for (char c : equation)
    if (c != ' ') text += c;
  Equation   e;
  const auto arrow = text.find("->");
  if (arrow != std::string::npos) {
    e.has_result = true;
    e.result     = text.substr(arrow + 2);
    text.resize(arrow);
  }
  for (size_t begin = 0;;) {
    const auto comma = text.find(',', begin);
    e.operands.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return e;
    begin = comma + 1;
  }
}

// Axis `b` of x merged into axis `a`: the diagonal of the two, at the place of a.
Tensor diagonal(const Tensor& x, int64_t a, int64_t b) {
  const int64_t n = x.shape()[a], last = x.rank() - 1;
  const Tensor  moved = move_axis(move_axis(x, b, last), a, last - 1);  // b > a, so a has not moved
  Shape         flat  = part(moved.shape(), 0, last - 1);
  flat.push_back(n * n);
  return move_axis(slice_axis(reshape(moved, flat), last - 1, 0, n * n, n + 1), last - 1, a);
}

Tensor summed(const Tensor& x, const Ints& axes) { return axes.empty() ? x : sum(x, axes); }

// Takes diagonals, drops broadcast axes of size 1, and sums labels that no other term needs.
void reduce_term(Term& t, const std::map<Label, int64_t>& sizes, const Labels& needed) {
  for (size_t i = 0; i < t.labels.size(); ++i)
    for (size_t j = t.labels.size() - 1; j > i; --j)
      if (t.labels[j] == t.labels[i]) {
        t.value = diagonal(t.value, static_cast<int64_t>(i), static_cast<int64_t>(j));
        t.labels.erase(t.labels.begin() + static_cast<int64_t>(j));
      }
  Ints   gone;
  Labels kept;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    const bool repeats = t.value.shape()[i] == 1 && sizes.at(t.labels[i]) != 1;
    if (repeats || !contains(needed, t.labels[i]))
      gone.push_back(static_cast<int64_t>(i));
    else
      kept.push_back(t.labels[i]);
  }
  t.value  = summed(t.value, gone);
  t.labels = kept;
}

// The product of two terms, summed over shared labels that are not needed later.
Term multiplied(const Term& a, const Term& b, const Labels& needed) {
  DotAxes d;
  Term    out;
  for (size_t i = 0; i < a.labels.size(); ++i) {
    const auto j = std::find(b.labels.begin(), b.labels.end(), a.labels[i]) - b.labels.begin();
    if (j == static_cast<int64_t>(b.labels.size())) continue;
    const bool keep = contains(needed, a.labels[i]);
    (keep ? d.lhs_batch : d.lhs_contract).push_back(static_cast<int64_t>(i));
    (keep ? d.rhs_batch : d.rhs_contract).push_back(j);
    if (keep) out.labels.push_back(a.labels[i]);
  }
  for (Label l : a.labels)
    if (!contains(b.labels, l)) out.labels.push_back(l);
  for (Label l : b.labels)
    if (!contains(a.labels, l)) out.labels.push_back(l);
  out.value = dot_general(a.value, b.value, d);
  return out;
}

// The terms of the equation with their labels; fills the size of every label.
std::vector<Term> labeled(const Equation& e, const Tensors& in, std::string_view equation,
                          std::map<Label, int64_t>& sizes) {
  std::vector<Term> terms;
  for (size_t k = 0; k < in.size(); ++k) {
    const std::string& text    = e.operands[k];
    const bool         dots    = text.find("...") != std::string::npos;
    const int64_t      letters = static_cast<int64_t>(text.size()) - (dots ? 3 : 0);
    require(dots ? in[k].rank() >= letters : in[k].rank() == letters, ErrorKind::Shape,
            "einsum: operand {} of '{}' is written '{}' with {} axes, but the tensor is {}.", k, equation, text,
            letters, to_string(in[k].type()));
    terms.push_back({in[k], parse_labels(text, in[k].rank() - letters, equation)});
    for (int i = 0; i < in[k].rank(); ++i) {
      const Label   l    = terms.back().labels[i];
      const int64_t n    = in[k].shape()[i];
      auto [it, is_new]  = sizes.try_emplace(l, n);
      const bool stretch = l < 0 && (n == 1 || it->second == 1);
      require(is_new || it->second == n || stretch, ErrorKind::Shape,
              "einsum: axis '{}' of '{}' has size {} in one place and {} in operand {} ({}).",
              l < 0 ? std::string("...") : std::string(1, static_cast<char>(l)), equation, it->second, n, k,
              to_string(in[k].type()));
      if (stretch && it->second == 1) it->second = n;
    }
  }
  return terms;
}

Labels result_labels(const Equation& e, const std::vector<Term>& terms, std::string_view equation,
                     const std::map<Label, int64_t>& sizes) {
  std::map<Label, int> uses;
  for (const Term& t : terms)
    for (Label l : t.labels) ++uses[l];
  Labels open;
  for (const auto& [l, n] : sizes)
    if (l < 0) open.push_back(l);  // the map is sorted: leftmost axis first
  if (!e.has_result) {
    Labels out = open;
    for (const auto& [l, n] : uses)
      if (l > 0 && n == 1) out.push_back(l);
    return out;
  }
  const Labels out = parse_labels(e.result, static_cast<int64_t>(open.size()), equation);
  for (Label l : out) {
    require(uses.count(l) > 0, "einsum: axis '{}' of the result of '{}' does not appear in any operand.",
            static_cast<char>(l), equation);
    require(std::count(out.begin(), out.end(), l) == 1, "einsum: axis '{}' appears twice in the result of '{}'.",
            static_cast<char>(l), equation);
  }
  return out;
}

}  // namespace

Tensor einsum(std::string_view equation, Tensors operands) {
  const Equation e = parse_equation(equation);
  require(!operands.empty() && e.operands.size() == operands.size(),
          "einsum: '{}' describes {} operands, {} were given.", equation, e.operands.size(), operands.size());
  std::map<Label, int64_t> sizes;
  std::vector<Term>        terms  = labeled(e, promote_together(std::move(operands)), equation, sizes);
  const Labels             result = result_labels(e, terms, equation, sizes);
  // Labels that the result and the terms from k on still need.
  std::vector<Labels> needed(terms.size() + 1, result);
  for (size_t k = terms.size(); k-- > 0;) needed[k] = joined(needed[k + 1], terms[k].labels);

  Term product;
  for (size_t k = 0; k < terms.size(); ++k) {
    Labels others = k == 0 ? result : joined(result, product.labels);
    for (size_t j = 0; j < terms.size(); ++j)
      if (j > k) others = joined(others, terms[j].labels);
    reduce_term(terms[k], sizes, others);
    product = k == 0 ? terms[0] : multiplied(product, terms[k], needed[k + 1]);
  }
  reduce_term(product, sizes, result);  // axes of "..." that only met size 1
  Ints order;
  for (Label l : result)
    order.push_back(std::find(product.labels.begin(), product.labels.end(), l) - product.labels.begin());
  return std::is_sorted(order.begin(), order.end()) ? product.value : transpose(product.value, order);
}

}  // namespace braintrace
