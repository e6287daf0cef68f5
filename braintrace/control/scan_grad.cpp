// SPDX-License-Identifier: Apache-2.0
// Derivatives of scan.
//
//   push       the body with tangents; a fixpoint finds the carries with a tangent: their initial value has one, or the
//              body computes one
//   linearize  a forward scan that also returns what the linear steps need (residuals, stacked over t), then a linear
//              scan over them. Values that depend only on consts are computed once, outside.
//   transpose  the reversed scan: cotangents of the carry propagate backward, those of consts accumulate in the carry
//
// Letters: w consts, h carry, x a row of xs, y a row of ys.
#include <algorithm>

#include "braintrace/control/nested.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {

namespace {

// The float carries among `live` results.
Mask float_carries(const ScanParts& s, const Mask& live) {
  return floats_among(s.split_results(live).carry, s.result_types().carry);
}

// A scan that carries tangents along: each role is followed by the tangents that it has.
template <class List>
struct PushedOperands {
  List w, dw, h, dh, x, dx;
};
template <class List>
struct PushedResults {
  List h, dh, y, dy;
};

}  // namespace

Pushed scan_push(const JvpArgs& a) {
  const ScanParts   s(a.attrs);
  const auto        types  = s.arg_types();
  ScanRoles<Mask>   moving = s.split(defined_mask(a.tangents));
  ScanResults<Mask> moved;
  Mask              live;
  Traced            body;
  do {
    const auto                  d = chosen(types, moving);
    const PushedOperands<Types> operands{types.consts, d.consts, types.carry, d.carry, types.xs, d.xs};
    body = trace(joined(operands), [&](const Tensors& args) {
      const auto         in = split(args, operands);
      const ScanOperands x{in.w, in.h, in.x}, dx = spread(ScanOperands{in.dw, in.dh, in.dx}, moving);
      const Pushed       r = jvp(s.body, joined(x), joined(dx));
      live                 = defined_mask(r.tangents);
      moved                = {moving.carry, s.split_results(live).ys};
      const auto y         = s.split_results(r.out);
      const auto dy        = chosen(s.split_results(instantiated(r.tangents, types_of(r.out))), moved);
      return joined(PushedResults<Tensors>{y.carry, dy.carry, y.ys, dy.ys});
    });
  } while (grow(moving.carry, float_carries(s, live)));

  const auto    x = s.split(a.in), dx = chosen(s.split(instantiated(a.tangents, types_of(a.in))), moving);
  const Tensors out =
      apply_scan(std::move(body), {joined(x.consts, dx.consts), joined(x.carry, dx.carry), joined(x.xs, dx.xs)},
                 s.length, s.reverse);
  const auto n = counts(moved);
  const auto y = split(out, PushedResults<size_t>{s.carry, n.carry, s.ys(), n.ys});
  return {joined(y.h, y.y), joined(spread(ScanResult{y.dh, y.dy}, moved))};
}

namespace {

// The forward scan of linearize.
template <class List>
struct ForwardInputs {
  List fixed, h, x;  // fixed: constants and w
};
template <class List>
struct ForwardResults {
  List h, y, residuals;
};

// A value of the forward pass that the linear steps need. It is loop-invariant and computed once, or it is a row of xs
// or of a stacked result of the forward scan.
struct Residuals {
  enum class From { Once, Xs, Stacked };
  struct Source {
    From   from;
    size_t index;
  };
  std::vector<Source> sources;
  Program             once;

  // `body` returns its results and all residuals; afterwards only those residuals that must be stacked.
  Residuals(const ScanParts& s, Program& body) : once(body) {
    const auto in =
        split(program_inputs(body), ForwardInputs<size_t>{body.constants.size() + s.consts, s.carry, s.xs()});
    const auto out =
        split(body.results, ForwardResults<size_t>{s.carry, s.ys(), body.results.size() - s.carry - s.ys()});
    const Mask varies =
        forward_dependence(body, joined(Mask(in.fixed.size(), false), Mask(in.h.size() + in.x.size(), true)));
    Vars stacked = out.y;
    once.results.clear();
    for (Var v : out.residuals) {
      const auto place = [v](const Vars& vars) {
        return static_cast<size_t>(std::find(vars.begin(), vars.end(), v) - vars.begin());
      };
      if (!varies[v]) {
        sources.push_back({From::Once, once.results.size()});
        once.results.push_back(v);
      } else if (const size_t x = place(in.x); x < in.x.size()) {
        sources.push_back({From::Xs, x});
      } else {
        sources.push_back({From::Stacked, place(stacked)});
        if (sources.back().index == stacked.size()) stacked.push_back(v);
      }
    }
    body.results = joined(out.h, stacked);
  }
  // Those that differ from step to step, one row per step.
  Tensors rows(const Tensors& xs, const Tensors& stacked) const {
    Tensors out;
    for (const Source& s : sources)
      if (s.from != From::Once) out.push_back(s.from == From::Xs ? xs[s.index] : stacked[s.index]);
    return out;
  }
  // All of them in one step.
  Tensors at_step(const Tensors& computed_once, const Tensors& row) const {
    Tensors out;
    size_t  next = 0;
    for (const Source& s : sources) out.push_back(s.from == From::Once ? computed_once[s.index] : row[next++]);
    return out;
  }
};

// The linear scan: consts (once, dw), carry dh, xs (row, dx).
template <class List>
struct LinearOperands {
  List once, dw, dh, row, dx;
};

Types without_leading_axis(Types types) {
  for (Type& t : types) t.shape.erase(t.shape.begin());
  return types;
}

}  // namespace

Linearized scan_linearize(const LinearizeArgs& a) {
  const ScanParts          s(a.attrs);
  const auto               types  = s.arg_types();
  ScanRoles<Mask>          moving = s.split(floats_among(a.active, joined(types)));
  std::shared_ptr<Builder> builder;
  LinearMap                linear;
  do
    builder = open_body(joined(types), [&](const Tensors& args) {
                linear = linearize(s.body, args, joined(moving));
                return Tensors{};
              }).builder;
  while (grow(moving.carry, float_carries(s, linear.live)));
  const Traced map = pruned(std::move(linear.map));

  Traced          forward = builder->finish(joined(linear.out, map.constants));
  const Residuals residuals(s, forward.program);
  const auto      in = s.split(a.in);
  // Loop-invariant values do not depend on the carry and xs, so zeros can replace them.
  const Tensors once  = replay(dce(residuals.once), forward.constants,
                               joined(ScanOperands{in.consts, zeros_of(types.carry), zeros_of(types.xs)}));
  const Tensors y     = apply_scan(std::move(forward), in, s.length, s.reverse);
  const auto    out   = split(y, ForwardResults<size_t>{s.carry, s.ys(), y.size() - s.carry - s.ys()});
  const Tensors rows  = residuals.rows(in.xs, joined(out.y, out.residuals));
  const Mask    moved = joined(moving.carry, s.split_results(linear.live).ys);  // results with a tangent

  const auto                  d = chosen(types, moving);
  const LinearOperands<Types> operands{types_of(once), d.consts, d.carry, without_leading_axis(types_of(rows)), d.xs};
  const Traced                step    = trace(joined(operands), [&](const Tensors& args) {
    const auto    at = split(args, operands);
    const Tensors dy = replay(map.program, residuals.at_step(at.once, at.row), joined(at.dw, at.dh, at.dx));
    return chosen(instantiated(spread(dy, linear.live), joined(s.result_types())), moved);
  });
  auto                        tangent = [=, attrs = a.attrs](const Tensors& tangents) {
    if (!any_true(moved)) return Tensors(moved.size());
    const ScanParts scan(attrs);
    ScanOperands    dx = scan.split(tangents);
    dx.carry           = instantiated(dx.carry, types.carry);
    dx                 = chosen(dx, moving);
    return spread(apply_scan(step, {joined(once, dx.consts), dx.carry, joined(rows, dx.xs)}, scan.length, scan.reverse),
                                         moved);
  };
  return {joined(out.h, out.y), tangent};
}

namespace {

// The carries that do not depend on the linear operands, before each step.
Tensors fixed_carry_rows(const ScanParts& s, const ScanOperands& in, const ScanRoles<Mask>& fixed) {
  if (!any_true(fixed.carry)) return {};
  const auto    types = s.arg_types(), given = chosen(types, fixed);
  Traced        body = pruned(trace(joined(given), [&](const Tensors& args) {
    const auto at = spread(split(args, given), fixed);
    const auto y  = s.split_results(replay(s.body, {}, instantiated(joined(at), joined(types))));
    return joined(chosen(y.carry, fixed.carry), chosen(at.carry, fixed.carry));
  }));
  const Tensors y    = apply_scan(std::move(body), chosen(in, fixed), s.length, s.reverse);
  return split(y, ScanResults<size_t>{given.carry.size(), given.carry.size()}).ys;
}

Mask nonzero(const Tensors& ct) {
  Mask m;
  for (const Tensor& t : ct) m.push_back(t.defined() && !t.is_literal(0));
  return m;
}

// The backward step while it is traced: the carry that accumulates ct_w is determined last. As a body it has consts w,
// the carry (ct_w, ct_h) and xs (h, x, ct_y), and returns ct_w, ct_h and ct_x.
template <class List>
struct BackStepOperands {
  List w, ct_h, h, x, ct_y, ct_w;
};
struct BackwardStep {
  ScanResults<Mask> hot;  // results whose cotangent may differ from zero
  Traced            step;
  ScanRoles<Mask>   returned;  // the operands whose cotangents it returns
};

BackwardStep backward_step(const ScanParts& s, const ScanRoles<Mask>& linear, ScanResults<Mask> hot) {
  const auto              types = s.arg_types();
  const auto              fixed = inverted(linear);
  const auto              given = chosen(types, fixed);
  BackStepOperands<Types> operands;
  OpenBody                open;
  ScanOperands            found;
  do {
    const auto ct = chosen(s.result_types(), hot);
    operands      = {given.consts, ct.carry, given.carry, given.xs, ct.ys, {}};
    open          = open_body(joined(operands), [&](const Tensors& args) {
      const auto in   = split(args, operands);
      const auto at   = spread(ScanOperands{in.w, in.h, in.x}, fixed);
      const auto back = spread(ScanResult{in.ct_h, in.ct_y}, hot);
      found           = s.split(transpose(s.body, {}, joined(at), joined(linear), joined(back)));
      return Tensors{};
    });
  } while (grow(hot.carry, defined_mask(found.carry)));

  const ScanRoles<Mask> returned{defined_mask(found.consts), hot.carry, defined_mask(found.xs)};
  found.carry     = instantiated(found.carry, types.carry);
  ScanOperands ct = chosen(found, returned);
  operands.ct_w   = chosen(types.consts, returned.consts);
  Tensors sums;
  for (const Type& t : operands.ct_w) sums.push_back(open.builder->argument(t));
  for (size_t i = 0; i < sums.size(); ++i) ct.consts[i] = add_defined(sums[i], ct.consts[i]);
  Traced     step   = open.builder->finish(joined(ct));
  const auto v      = split(step.program.args, operands);
  step.program.args = joined(v.w, v.ct_w, v.ct_h, v.h, v.x, v.ct_y);
  return {hot, std::move(step), returned};
}

}  // namespace

Tensors scan_transpose(const TransposeArgs& a) {
  const ScanParts s(a.attrs);
  const auto      in     = s.split(a.in);
  const auto      linear = s.spread_to_carry(a.linear), given = s.split(a.linear);
  for (size_t k = 0; k < s.carry; ++k)
    require(given.carry[k] || !linear.carry[k] || in.carry[k].is_literal(0),
            "transpose: carry {} of scan starts at a fixed value but then depends on the linear operands, which is "
            "affine, not linear.\n  Only linear functions can be transposed.",
            k);
  const auto    fixed  = inverted(linear);
  const Tensors before = fixed_carry_rows(s, in, fixed);

  const auto        ct = s.split_results(a.ct);
  ScanResults<Mask> hot{nonzero(ct.carry), nonzero(ct.ys)};
  for (size_t k = 0; k < s.carry; ++k) hot.carry[k] = hot.carry[k] && linear.carry[k];
  BackwardStep  back  = backward_step(s, linear, hot);
  const auto    known = chosen(in, fixed);
  const auto    from  = chosen(ct, back.hot);
  const Tensors sums  = zeros_of(chosen(s.arg_types().consts, back.returned.consts));
  const Tensors y =
      apply_scan(std::move(back.step), {known.consts, joined(sums, from.carry), joined(before, known.xs, from.ys)},
                 s.length, !s.reverse);
  return joined(spread(split(y, counts(back.returned)), back.returned));
}

}  // namespace braintrace
