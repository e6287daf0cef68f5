// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/positions.h"

#include <algorithm>

#include "braintrace/control/custom.h"
#include "braintrace/control/keys.h"

namespace braintrace {

AxisLinks compose(const AxisLinks& first, const AxisLinks& then) {
  AxisLinks out;
  for (const AxisLink& b : then) {
    if (b.op_begin == b.op_end) continue;
    // Neighboring links of `first` that cover [b.op_begin, b.op_end) exactly, in order on both sides.
    AxisLink joined{-1, -1, b.res_begin, b.res_end, b.kind};
    int      at = b.op_begin;
    bool     ok = true;
    while (ok && at < b.op_end) {
      const auto it = std::find_if(first.begin(), first.end(),
                                   [&](const AxisLink& a) { return a.res_begin == at && a.res_end > at; });
      ok = it != first.end() && it->res_end <= b.op_end && (joined.op_begin < 0 || joined.op_end == it->op_begin);
      if (!ok) break;
      if (joined.op_begin < 0) joined.op_begin = it->op_begin;
      joined.op_end = it->op_end;
      if (it->kind == AxisLink::Kind::Moved) joined.kind = AxisLink::Kind::Moved;
      at = it->res_end;
    }
    if (ok) out.push_back(joined);
  }
  // Links of `first` that span several links of `then`.
  for (const AxisLink& a : first) {
    AxisLink joined{a.op_begin, a.op_end, -1, -1, a.kind};
    int      at = a.res_begin, parts = 0;
    bool     ok = true;
    while (ok && at < a.res_end) {
      const auto it =
          std::find_if(then.begin(), then.end(), [&](const AxisLink& b) { return b.op_begin == at && b.op_end > at; });
      ok = it != then.end() && it->op_end <= a.res_end && (joined.res_begin < 0 || joined.res_end == it->res_begin);
      if (!ok) break;
      if (joined.res_begin < 0) joined.res_begin = it->res_begin;
      joined.res_end = it->res_end;
      if (it->kind == AxisLink::Kind::Moved) joined.kind = AxisLink::Kind::Moved;
      at = it->op_end;
      ++parts;
    }
    if (ok && parts > 1) out.push_back(joined);
  }
  return out;
}

AxisLinks meet(const AxisLinks& a, const AxisLinks& b) {
  AxisLinks out;
  for (const AxisLink& x : a)
    for (const AxisLink& y : b) {
      AxisLink same = y;
      same.kind     = x.kind;
      // Two different movements along one axis are not one movement.
      if (same == x && x.kind == AxisLink::Kind::Same && y.kind == AxisLink::Kind::Same) out.push_back(x);
    }
  return out;
}

namespace {

// Links of result r of a derivative with respect to its argument `arg`. If it does not depend on the argument, all
// links hold.
AxisLinks derivative_links(const Program& derivative, size_t arg, size_t r) {
  const PositionMap map = follow_positions(derivative, arg);
  const Var         v   = derivative.results[r];
  if (map.reached[v]) return map.links[v];
  AxisLinks links;
  if (derivative.type(v).shape == derivative.type(derivative.args[arg]).shape)
    for (int i = 0; i < derivative.type(v).rank(); ++i) links.push_back({i, i + 1, i, i + 1});
  return links;
}

}  // namespace

bool tells_positions(const Eqn& e) { return e.op->depend || e.op == &custom_jvp_op || e.op == &custom_vjp_op; }

AxisLinks equation_links(const Eqn& e, const Types& in, const Types& out, size_t k, size_t r) {
  if (e.op->depend) return e.op->depend({*e.op, e.attrs, in, out, static_cast<int>(k), static_cast<int>(r)});
  if (!tells_positions(e)) return {};
  const auto consts = static_cast<size_t>(e.attrs[keys::consts]);
  if (k < consts) return {};
  if (e.op == &custom_jvp_op)  // rule(w, x, dx) → dy
    return derivative_links(*e.attrs[keys::rule], in.size() + k - consts, r);
  // bwd(w, residuals, ct) → ct_x: the same from result to operand
  const Program& bwd   = *e.attrs[keys::bwd];
  AxisLinks      links = derivative_links(bwd, bwd.args.size() - out.size() + r, k - consts);
  for (AxisLink& l : links) l = {l.res_begin, l.res_end, l.op_begin, l.op_end, l.kind};
  return links;
}

namespace {

// Of each element: its flat position inside the given ranges of axes, as one number.
std::vector<int64_t> flat_numbers(const Shape& shape, const std::vector<std::pair<int, int>>& ranges) {
  std::vector<int64_t> stride(shape.size(), 0);
  int64_t              next = 1;
  for (auto [begin, end] : ranges)
    for (int axis = end; axis-- > begin;) {
      stride[axis] = next;
      next *= shape[axis];
    }
  std::vector<int64_t> out(static_cast<size_t>(size_of(shape)), 0);
  int64_t              inner = 1;
  for (size_t axis = shape.size(); axis-- > 0; inner *= shape[axis])
    for (size_t e = 0; e < out.size(); ++e) out[e] += static_cast<int64_t>(e) / inner % shape[axis] * stride[axis];
  return out;
}

}  // namespace

LinkedElements linked_elements(const Program& program, const Eqn& e, size_t k, size_t r) {
  std::vector<std::pair<int, int>> from, to;
  for (const AxisLink& l : equation_links(e, program.types_of(e.in), program.types_of(e.out), k, r))
    if (l.kind == AxisLink::Kind::Same)
      from.emplace_back(l.op_begin, l.op_end), to.emplace_back(l.res_begin, l.res_end);
  return {flat_numbers(program.type(e.in[k]).shape, from), flat_numbers(program.type(e.out[r]).shape, to)};
}

PositionMap follow_positions(const Program& region, size_t arg) {
  PositionMap map{std::vector<bool>(region.types.size()), std::vector<AxisLinks>(region.types.size())};
  const Var   source  = region.args[arg];
  map.reached[source] = true;
  for (int i = 0; i < region.type(source).rank(); ++i) map.links[source].push_back({i, i + 1, i, i + 1});
  for (const Eqn& e : region.eqns) {
    const Types in = region.types_of(e.in), out = region.types_of(e.out);
    for (size_t r = 0; r < e.out.size(); ++r)
      for (size_t k = 0; k < e.in.size(); ++k) {
        if (!map.reached[e.in[k]]) continue;
        const AxisLinks links = compose(map.links[e.in[k]], equation_links(e, in, out, k, r));
        const Var       v     = e.out[r];
        map.links[v]          = map.reached[v] ? meet(map.links[v], links) : links;
        map.reached[v]        = true;
      }
  }
  return map;
}

std::optional<Shape> layout_on(const PositionMap& map, const Program& region, size_t arg, size_t result,
                               int source_axes, int result_axes) {
  const Var    v    = region.results[result];
  const Shape &from = region.type(region.args[arg]).shape, &to = region.type(v).shape;
  AxisLinks    links;
  for (const AxisLink& l : map.links[v])
    if (l.kind == AxisLink::Kind::Same && l.op_end <= source_axes && l.res_end <= result_axes) links.push_back(l);
  std::sort(links.begin(), links.end(), [](const AxisLink& a, const AxisLink& b) { return a.op_begin < b.op_begin; });
  // The links cover every axis of the argument, in the same order on both sides. Axes of size one carry no position.
  Shape      laid(static_cast<size_t>(result_axes), 1);
  int        s = 0, r = 0;
  const auto skip_source = [&](int until) {
    for (; s < until; ++s)
      if (from[s] != 1) return false;
    return true;
  };
  for (const AxisLink& l : links) {
    if (l.op_begin < s || l.res_begin < r || !skip_source(l.op_begin)) return std::nullopt;
    std::copy(to.begin() + l.res_begin, to.begin() + l.res_end, laid.begin() + l.res_begin);
    s = l.op_end;
    r = l.res_end;
  }
  return skip_source(source_axes) ? std::optional(laid) : std::nullopt;
}

bool keeps_positions(const PositionMap& map, const Program& region, size_t arg, size_t result, int axes) {
  const Var v = region.results[result];
  if (!map.reached[v]) return true;
  const Shape& to = region.type(v).shape;
  return layout_on(map, region, arg, result, axes, axes) == Shape(to.begin(), to.begin() + axes);
}

size_t separate_axes(const Program& region, size_t arg, size_t axes) {
  const PositionMap map  = follow_positions(region, arg);
  const Shape&      from = region.type(region.args[arg]).shape;
  for (Var v : region.results) {
    if (!map.reached[v]) continue;
    const Shape& to    = region.type(v).shape;
    const auto   apart = [&](size_t i) {
      return i < from.size() && i < to.size() && from[i] == to[i] &&
             std::any_of(map.links[v].begin(), map.links[v].end(), [&](const AxisLink& l) {
               return l.kind == AxisLink::Kind::Same && l.op_begin == l.res_begin && l.op_end == l.res_end &&
                      l.op_begin <= static_cast<int>(i) && static_cast<int>(i) < l.op_end;
             });
    };
    size_t i = 0;
    while (i < axes && apart(i)) ++i;
    axes = i;
  }
  return axes;
}

}  // namespace braintrace
