// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/jacobians.h"

#include <algorithm>

#include "braintrace/compiler/meetings.h"
#include "braintrace/compiler/position_graph.h"
#include "braintrace/compiler/positions.h"
#include "braintrace/control/scan.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/vmap.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// One in slot `slot` of the member at every position, zero elsewhere.
Tensor slot_ones(const HiddenVar& h, int slot, DType dtype) {
  const Type t = h.type(dtype);
  if (!h.stacked) return Tensor(t, 1);
  return convert(equal(iota(t.shape, -1), Tensor(static_cast<double>(slot))), dtype);
}

Tensors push(const Region& region, const Tensors& constants, const Tensors& args, const Tensors& tangents) {
  return jvp(region.program, joined(constants, args), joined(Tensors(constants.size()), tangents)).tangents;
}

bool any_defined(const Tensors& t) {
  return std::any_of(t.begin(), t.end(), [](const Tensor& x) { return x.defined(); });
}

// The tangents of one jvp: the same positions of several rows, which do not interact. ones[c,u]: position u of a row is
// in push c.
struct Pushes {
  int64_t rows = 1;
  Tensor  ones;

  // [C, *like]. The positions lie on the leading axes of `like`; axes of size one repeat them.
  Tensor on(const Type& like, const Shape& positions) const {
    const int64_t C = ones.shape()[0], U = ones.shape()[1];
    Shape         shape = joined(Shape{C}, positions);
    shape.resize(like.shape.size() + 1, 1);
    const Tensor all = broadcast_axes(convert(ones, like.dtype), {C, rows, U}, {0, 2});
    return broadcast_to(reshape(all, shape), joined(Shape{C}, like.shape));
  }
};
Pushes one_by_one(const Shape& positions) { return {1, eye(size_of(positions), DType::F64)}; }

// Positions are pushed together if no result at one of them reads another one.
Pushes together(const Program& region, size_t arg, const Shape& from, const Shape& to) {
  const size_t  axes = separate_axes(region, arg, std::min(from.size(), to.size()));
  const int64_t rows = size_of(Shape(from.begin(), from.begin() + static_cast<int64_t>(axes)));
  if (size_of(from) == 0 || size_of(from) != size_of(to)) return one_by_one(from);
  const int64_t          U     = size_of(from) / rows;
  const std::vector<int> which = independent_classes(region, arg, rows, U);
  const int64_t          C     = *std::max_element(which.begin(), which.end()) + 1;
  std::vector<double>    ones(static_cast<size_t>(C * U));
  for (int64_t u = 0; u < U; ++u) ones[static_cast<size_t>(which[static_cast<size_t>(u)] * U + u)] = 1;
  return {rows, Tensor(from_doubles({DType::F64, {C, U}}, ones))};
}

// [C, *result] for every result, undefined where it does not depend on the input. `slots` selects the slots of a
// position to push.
Tensors push_positions(const Region& region, const Tensors& constants, const Tensors& args, size_t arg,
                       const Tensor& slots, const Pushes& pushes, const Shape& positions) {
  Dual<Tensors> point{joined(constants, args), {slots}};
  const Traced  one        = trace(types_of(joined(point)), [&](const Tensors& flat) {
    const auto in = split(flat, point);
    Tensors    tangents(in.values.size());
    tangents[constants.size() + arg] = in.tangents[0];
    return instantiated(jvp(region.program, in.values, tangents).tangents,
                                region.program.types_of(region.program.results));
  });
  point.tangents[0]        = pushes.on(args[arg].type(), positions) * slots;
  const Tensors    inputs  = joined(one.constants, joined(point));
  const Mask       batched = joined(Mask(inputs.size() - 1, false), Mask{true});
  const VmapResult r       = vmap(one.program, inputs, batched, pushes.ones.shape()[0]);
  Tensors          out;
  for (size_t k = 0; k < r.out.size(); ++k) out.push_back(r.batched[k] ? r.out[k] : Tensor());
  return out;
}

// Σ over input positions q of  J[p,q] [p = q], for regions that mix positions: `from` lies on the argument, `to` on the
// results.
Tensors push_diagonal(const Region& region, const Tensors& constants, const Tensors& args, size_t arg,
                      const Tensor& slots, const Shape& from, const Shape& to) {
  if (const auto meetings = find_meetings(region.program, arg, from, to))
    return diagonal_through(*meetings, joined(constants, args), constants.size() + arg, slots, from, to);
  const Pushes pushes = together(region.program, arg, from, to);
  Tensors      out    = push_positions(region, constants, args, arg, slots, pushes, from);
  for (Tensor& t : out)
    if (t.defined()) {
      const Type like{t.dtype(), Shape(t.shape().begin() + 1, t.shape().end())};
      t = sum(t * pushes.on(like, to), Ints{0});
    }
  return out;
}

// One substep of a transition, or all of it if no scan is descended.
Tensor blocks_at(const HiddenGroup& g, const Tensors& old, const Tensors& constants) {
  const Types types = types_of(old);
  Tensors     columns;
  bool        live = false;
  for (size_t m = 0; m < g.members.size(); ++m) {
    const HiddenVar& h = g.hidden[m];
    for (int slot = 0; slot < h.num_state; ++slot) {
      Tensors tangents(g.members.size());
      tangents[m]    = slot_ones(h, slot, old[0].dtype());
      Tensors pushed = g.diagonal ? push(g.transition, constants, old, tangents)
                                  : push_diagonal(g.transition, constants, old, m, tangents[m], g.varshape, g.varshape);
      live |= any_defined(pushed);
      columns.push_back(g.concat_hidden(instantiated(pushed, types)));
    }
  }
  return live ? stack(columns, -1) : Tensor();
}

Tensor tail_at(const HiddenGroup& g, const Connection& c, const Tensor& y, const Values& values) {
  const Tensor  ones(y.type(), 1);
  const Tensors constants = gather(values, c.tail.constants);
  Tensors       pushed    = c.position_preserving ? push(c.tail, constants, {y}, {ones})
                                                  : push_diagonal(c.tail, constants, {y}, 0, ones, y.shape(), *c.y_layout);
  if (!any_defined(pushed)) return {};
  return g.concat_hidden(instantiated(pushed, c.tail.program.types_of(c.tail.program.results)));
}

// Values of the body of a descended scan, substep by substep.
struct Substeps {
  Substeps(const ScanDescent& d, const Values& values) : d(d), values(values) {
    for (size_t v = 0; v < d.outer.size(); ++v)
      if (d.stacked[v]) rows.push_back(values[d.outer[v]]);
  }
  Values at(const Tensors& row) const {
    Values out(d.outer.size());
    size_t next = 0;
    for (size_t v = 0; v < d.outer.size(); ++v)
      if (d.outer[v] >= 0) out[v] = d.stacked[v] ? row[next++] : values[d.outer[v]];
    return out;
  }

  const ScanDescent& d;
  const Values&      values;
  Tensors            rows;
};

// D = D_L … D_1, and per substep what follows it: P_s = D_L … D_{s+1}.
struct Folded {
  Tensor D, P;
};
Folded fold_transition(const HiddenGroup& g, const Values& values) {
  const Substeps substeps(*g.descent, values);
  bool           live = false;
  const ScanBody body = [&](const Tensors& P, const Tensors& row) -> ScanResult {
    const Values now = substeps.at(row);
    const Tensor D   = blocks_at(g, gather(now, g.substep_entries), gather(now, g.transition.constants));
    live |= D.defined();
    // Σ_c P[a,c] D[c,b]
    const Tensor PD = D.defined() ? sum(expand_dims(P[0], -1) * expand_dims(D, -3), Ints{-2}) : Tensor(P[0].type(), 0);
    return {{PD}, {P[0]}};
  };
  Shape shape = g.varshape;
  shape.insert(shape.end(), 2, g.num_state);
  const Tensor     I = broadcast_to(eye(g.num_state, values[g.hidden[0].in].dtype()), shape);
  const ScanResult r = scan(body, {I}, substeps.rows, {.length = g.descent->length, .reverse = true});
  return {live ? r.carry[0] : Tensor(), r.ys[0]};
}

}  // namespace

Tensor transition_blocks(const HiddenGroup& g, const Values& values) {
  return g.descent ? fold_transition(g, values).D
                   : blocks_at(g, gather(values, g.entries()), gather(values, g.transition.constants));
}

bool forgets(const HiddenGroup& g) {
  const Program& p = g.transition.program;
  return !any_true(result_dependence(p, joined(Mask(p.constants.size(), false), Mask(p.args.size(), true))));
}

Tensor tail_blocks(const HiddenGroup& g, const HiddenParamOpRelation& r, const Connection& c, const Values& values) {
  if (!r.descent) return tail_at(g, c, values[r.y], values);
  const Substeps             substeps(*r.descent, values);
  const SubstepRows<Tensors> rows{{fold_transition(g, values).P}, substeps.rows};
  bool                       live = false;
  const ScanBody             body = [&](const Tensors&, const Tensors& row) -> ScanResult {
    const auto   in  = split(row, rows);
    const Values now = substeps.at(in.values);
    const Tensor P = in.factor[0], D_f = tail_at(g, c, now[r.substep_y], now);
    live |= D_f.defined();
    // Σ_b P[a,b] D_f[b]
    return {{}, {sum(D_f.defined() ? P * expand_dims(D_f, -2) : Tensor(P.type(), 0), Ints{-1})}};
  };
  const Tensors D_f = scan(body, {}, joined(rows)).ys;
  return live ? D_f[0] : Tensor();
}

namespace {

void check_transition_values(const HiddenGroup& g, const Tensors& hidden_vals, const Tensors& const_vals) {
  require(hidden_vals.size() == g.hidden.size() && const_vals.size() == g.transition.constants.size(),
          "hidden group {}: {} members and {} constants given, its transition takes {} and {}.", g.index,
          hidden_vals.size(), const_vals.size(), g.hidden.size(), g.transition.constants.size());
}

}  // namespace

Tensor HiddenGroup::diagonal_jacobian(const Tensors& hidden_vals, const Tensors& const_vals) const {
  check_transition_values(*this, hidden_vals, const_vals);
  const Tensor D = blocks_at(*this, hidden_vals, const_vals);
  if (D.defined()) return D;
  Shape shape = varshape;
  shape.insert(shape.end(), 2, num_state);
  return Tensor(Type{hidden_vals[0].dtype(), shape}, 0);
}

Tensor HiddenGroup::full_jacobian(const Tensors& hidden_vals, const Tensors& const_vals) const {
  check_transition_values(*this, hidden_vals, const_vals);
  const int64_t P = size_of(varshape);
  Tensors       columns;  // [P', P, S] for every state that is pushed
  for (size_t m = 0; m < hidden.size(); ++m)
    for (int slot = 0; slot < hidden[m].num_state; ++slot) {
      const Tensor ones = slot_ones(hidden[m], slot, hidden_vals[m].dtype());
      Tensors      rows = push_positions(transition, const_vals, hidden_vals, m, ones, one_by_one(varshape), varshape);
      for (size_t k = 0; k < rows.size(); ++k) {
        const Shape shape{P, P, hidden[k].num_state};
        rows[k] = rows[k].defined() ? reshape(rows[k], shape) : Tensor(Type{hidden_vals[k].dtype(), shape}, 0);
      }
      columns.push_back(concat(rows, -1));
    }
  Shape shape = varshape;
  shape.push_back(num_state);
  shape.insert(shape.end(), varshape.begin(), varshape.end());
  shape.push_back(num_state);
  return reshape(transpose(stack(columns, -1), {1, 2, 0, 3}), shape);  // [P',P,S,S'] → [P,S,P',S']
}

}  // namespace braintrace
