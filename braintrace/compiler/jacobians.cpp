// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/jacobians.h"

#include <algorithm>

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

Tensors push(const Region& region, const Values& values, const Tensors& args, const Tensors& tangents) {
  const Tensors constants = gather(values, region.constants);
  return jvp(region.program, concatenated(constants, args), concatenated(Tensors(constants.size()), tangents)).tangents;
}

bool any_defined(const Tensors& t) {
  return std::any_of(t.begin(), t.end(), [](const Tensor& x) { return x.defined(); });
}

// Σ over input positions q of  J[p,q] [p = q], by one push per position: for regions that mix positions.
// `seed` spreads a one at position q over the tangent of argument `arg`.
Tensors push_diagonal(const Region& region, const Values& values, const Tensors& args, size_t arg, const Tensor& ones,
                      int64_t positions) {
  const Type   t        = args[arg].type();
  const Tensor identity = convert(equal(iota({positions, positions}, 0), iota({positions, positions}, 1)), t.dtype);
  auto         spread   = [&](const Type& like) {  // [P, *like]: one at position q
    const int64_t rest = like.size() / positions;
    Shape         shape{positions};
    shape.insert(shape.end(), like.shape.begin(), like.shape.end());
    return reshape(broadcast_axes(identity, {positions, positions, rest}, {0, 1}), shape);
  };
  const Tensor  basis     = spread(t) * ones;
  const Tensors constants = gather(values, region.constants);
  const Types   types     = types_of(concatenated(concatenated(constants, args), {ones}));
  const Traced  one       = trace(types, [&](const Tensors& in) {
    const auto n = static_cast<int64_t>(in.size()) - 1;
    Tensors    tangents(static_cast<size_t>(n));
    tangents[constants.size() + arg] = in[n];
    return instantiated(jvp(region.program, Tensors(in.begin(), in.begin() + n), tangents).tangents,
                               region.program.types_of(region.program.results));
  });
  Mask          batched(types.size(), false);
  batched.back()     = true;
  const VmapResult r = vmap(
      one.program, concatenated(one.constants, concatenated(concatenated(constants, args), {basis})),
      [&] {
        Mask m(one.constants.size(), false);
        m.insert(m.end(), batched.begin(), batched.end());
        return m;
      }(),
      positions);
  Tensors out;
  for (size_t k = 0; k < r.out.size(); ++k) {
    if (!r.batched[k]) {
      out.emplace_back();
      continue;
    }
    const Type like{r.out[k].dtype(), Shape(r.out[k].shape().begin() + 1, r.out[k].shape().end())};
    out.push_back(sum(r.out[k] * spread(like), Ints{0}));
  }
  return out;
}

}  // namespace

Tensor transition_blocks(const HiddenGroup& g, const Values& values) {
  Tensors old;
  Types   types;
  for (const HiddenVar& h : g.hidden) {
    old.push_back(values[h.in]);
    types.push_back(old.back().type());
  }
  const DType dtype = old[0].dtype();
  Tensors     columns;
  bool        live = false;
  for (size_t m = 0; m < g.members.size(); ++m) {
    const HiddenVar& h = g.hidden[m];
    for (int slot = 0; slot < h.num_state; ++slot) {
      Tensors tangents(g.members.size());
      tangents[m]    = slot_ones(h, slot, dtype);
      Tensors pushed = g.diagonal ? push(g.transition, values, old, tangents)
                                  : push_diagonal(g.transition, values, old, m, tangents[m], size_of(g.varshape));
      live |= any_defined(pushed);
      columns.push_back(g.concat_hidden(instantiated(pushed, types)));
    }
  }
  return live ? stack(columns, -1) : Tensor();
}

Tensor tail_blocks(const HiddenGroup& g, const HiddenParamOpRelation& r, const Connection& c, const Values& values) {
  const Tensor y = values[r.y];
  const Tensor ones(y.type(), 1);
  Tensors      pushed =
      c.position_preserving ? push(c.tail, values, {y}, {ones}) : push_diagonal(c.tail, values, {y}, 0, ones, y.size());
  if (!any_defined(pushed)) return {};
  Types types;
  for (const HiddenVar& h : g.hidden) types.push_back(values[h.out].type());
  return g.concat_hidden(instantiated(pushed, types));
}

}  // namespace braintrace
