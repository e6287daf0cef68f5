// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/view.h"

#include <algorithm>

#include "braintrace/codegen/patches.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/keys.h"
#include "braintrace/ops/move.h"

namespace braintrace::codegen {

namespace {

// Maps an index into `to` to an index into `from`. Axes of `from` must be products of adjacent axes of `to` or equal to
// them; otherwise the position is not affine.
std::optional<Index> through_reshape(const Shape& from, const Shape& to, const Index& index, size_t counters) {
  Index  out(from.size(), constant(counters, 0));
  size_t j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    int64_t n  = 1;
    Affine  at = constant(counters, 0);
    while (n < from[i] && j < to.size()) {
      at = sum(index[j], at, to[j]);
      n *= to[j++];
    }
    if (n != from[i]) return {};
    out[i] = at;
  }
  return out;
}

}  // namespace

bool Affine::is_constant() const {
  return std::all_of(c.begin(), c.end(), [](int64_t x) { return x == 0; });
}

Affine constant(size_t counters, int64_t k) { return {Ints(counters, 0), k}; }

std::string text_of(const Affine& x, const std::function<std::string(size_t)>& name) {
  std::string out;
  const auto  add = [&](const std::string& term) { out += (out.empty() ? "" : " + ") + term; };
  for (size_t a = 0; a < x.c.size(); ++a)
    if (x.c[a]) add((x.c[a] == 1 ? "" : std::to_string(x.c[a]) + " * ") + name(a));
  if (x.k || out.empty()) add(std::to_string(x.k));
  return out;
}

Affine sum(Affine a, const Affine& b, int64_t times) {
  a.k += b.k * times;
  for (size_t i = 0; i < a.c.size(); ++i) a.c[i] += b.c[i] * times;
  return a;
}

Affine offset(const Index& index, const Shape& shape, size_t counters) {
  const Ints strides = strides_of(shape);
  Affine     at      = constant(counters, 0);
  for (size_t i = 0; i < index.size(); ++i)
    if (shape[i] != 1) at = sum(std::move(at), index[i], strides[i]);
  return at;
}

bool is_view(const Op& op) {
  return &op == &broadcast_op || &op == &reshape_op || &op == &transpose_op || &op == &slice_op || &op == &flip_op ||
         &op == &patches_op;
}

std::optional<Index> seen(const Eqn& e, const Program& p, const Index& index, size_t counters) {
  const Shape &from = p.type(e.in[0]).shape, &to = p.type(e.out[0]).shape;
  Index        out(from.size(), constant(counters, 0));
  if (e.op == &broadcast_op) {
    for (size_t i = 0; i < from.size(); ++i) out[i] = index[e.attrs[keys::dims][i]];
  } else if (e.op == &transpose_op) {
    for (size_t i = 0; i < from.size(); ++i) out[e.attrs[keys::perm][i]] = index[i];
  } else if (e.op == &slice_op) {
    for (size_t i = 0; i < from.size(); ++i)
      out[i] = sum(constant(counters, e.attrs[keys::start][i]), index[i], e.attrs[keys::stride][i]);
  } else if (e.op == &flip_op) {
    out = index;
    for (int64_t i : e.attrs[keys::axes]) out[i] = sum(constant(counters, from[i] - 1), index[i], -1);
  } else if (e.op == &patches_op) {
    const size_t n = e.attrs[keys::window].size(), lead = from.size() - n - 1;
    for (size_t i = 0; i < from.size(); ++i) out[i] = index[i < lead ? i : i + n];
    for (size_t i = 0; i < n; ++i)
      out[lead + i] = sum(sum(constant(counters, 0), index[lead + i], e.attrs[keys::stride][i]), index[lead + n + i],
                          e.attrs[keys::rhs_dilation][i]);
  } else {
    return through_reshape(from, to, index, counters);
  }
  return out;
}

Var behind_views(const Program& p, const std::vector<int32_t>& producer, Var v, Index& index, size_t counters) {
  while (producer[v] >= 0 && is_view(*p.eqns[producer[v]].op)) {
    const Eqn& e      = p.eqns[producer[v]];
    auto       deeper = seen(e, p, index, counters);
    if (!deeper) break;
    index = std::move(*deeper);
    v     = e.in[0];
  }
  return v;
}

bool keeps_axes(const Eqn& e, const Program& p) {
  return e.op == &reshape_op && squeezed(p.type(e.in[0]).shape) == squeezed(p.type(e.out[0]).shape);
}

std::vector<Piece> dense_pieces(const Program& p, const std::vector<int32_t>& producer, Var v) {
  std::vector<Piece> out;
  if (producer[v] >= 0 && p.eqns[producer[v]].op == &concat_op) {
    const Eqn& e = p.eqns[producer[v]];
    if (e.attrs[keys::axis] != 0 || p.type(v).size() == 0) return {};
    for (Var part : e.in) {
      const std::vector<Piece> one = dense_pieces(p, producer, part);
      if (one.size() != 1) return {};
      out.push_back(one[0]);
    }
    return out;
  }
  const Shape& shape = p.type(v).shape;
  const size_t n     = squeezed(shape).size();
  Index        index = natural_index(shape);
  const Var    base  = behind_views(p, producer, v, index, n);
  if (producer[base] >= 0 && is_view(*p.eqns[producer[base]].op)) return {};
  const Affine here = offset(natural_index(shape), shape, n), there = offset(index, p.type(base).shape, n);
  if (here.c != there.c) return {};
  return {{base, there.k, p.type(v).size()}};
}

Shape squeezed(const Shape& shape) {
  Shape out;
  for (int64_t n : shape)
    if (n != 1) out.push_back(n);
  return out;
}

Ints long_axes(const Shape& shape) {
  Ints out;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) out.push_back(static_cast<int64_t>(i));
  return out;
}

Index natural_index(const Shape& shape) {
  const Ints axes = long_axes(shape);
  Index      index(shape.size(), constant(axes.size(), 0));
  for (size_t i = 0; i < axes.size(); ++i) index[axes[i]].c[i] = 1;
  return index;
}

}  // namespace braintrace::codegen
