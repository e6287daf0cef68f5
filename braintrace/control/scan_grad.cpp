// SPDX-License-Identifier: Apache-2.0
// Derivatives of scan.
//
//   push       the body with tangents; a carry has one when its start has, or when the body gives it one (fixpoint)
//   linearize  a forward scan that also returns what the linear steps need (residuals, stacked over t), then a linear
//              scan over them. What depends on consts alone is computed once, outside.
//   transpose  the reversed scan: cotangents of the carry run backwards, those of consts add up in the carry
#include <algorithm>

#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/families.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {

namespace {

// Adds to `active` the float carries among `live` results; true when there was a new one.
bool grow(Mask& active, const ScanParts& s, const Mask& live) {
  const Types types   = s.body.types_of(s.body.args);
  bool        changed = false;
  for (size_t k = 0; k < s.carry; ++k)
    if (live[k] && is_float(types[s.consts + k].dtype) && !active[s.consts + k]) changed = active[s.consts + k] = true;
  return changed;
}

size_t count(const Mask& m) { return static_cast<size_t>(std::count(m.begin(), m.end(), true)); }

// Hands out consecutive parts of a list.
struct Reader {
  const Tensors& from;
  size_t         at = 0;
  Tensors        take(size_t n) {
           at += n;
           return part(from, at - n, n);
  }
  Tensors take(const Mask& m) { return spread(take(count(m)), m); }
};

}  // namespace

Pushed scan_push(const JvpArgs& a) {
  const ScanParts s(a.attrs);
  const auto      types  = s.split(s.body.types_of(s.body.args));
  Mask            active = defined_mask(a.tangents), live;
  Traced          body;
  do {
    // consts, their tangents, carry, its tangents, x, its tangents
    const auto  m     = s.split(active);
    const Types inner = joined(
        joined(joined(types.consts, chosen(types.consts, m.consts)), joined(types.carry, chosen(types.carry, m.carry))),
        joined(types.xs, chosen(types.xs, m.xs)));
    body = trace(inner, [&](const Tensors& args) {
      Reader        r{args};
      const Tensors w = r.take(s.consts), dw = r.take(m.consts), h = r.take(s.carry), dh = r.take(m.carry);
      const Tensors x = r.take(s.xs()), dx = r.take(m.xs);
      const Pushed  y       = jvp(s.body, concatenated(concatenated(w, h), x), concatenated(concatenated(dw, dh), dx));
      live                  = defined_mask(y.tangents);
      const Tensors dy      = instantiated(y.tangents, types_of(y.out));
      const Mask    live_ys = part(live, s.carry, s.ys());
      return concatenated(concatenated(part(y.out, 0, s.carry), chosen(part(dy, 0, s.carry), m.carry)),
                          concatenated(part(y.out, s.carry, s.ys()), chosen(part(dy, s.carry, s.ys()), live_ys)));
    });
  } while (grow(active, s, live));

  const auto    m = s.split(active);
  const auto    x = s.split(a.in), dx = s.split(instantiated(a.tangents, types_of(a.in)));
  const Tensors y =
      apply_scan(std::move(body),
                 {concatenated(x.consts, chosen(dx.consts, m.consts)), concatenated(x.carry, chosen(dx.carry, m.carry)),
                  concatenated(x.xs, chosen(dx.xs, m.xs))},
                 s.length, s.reverse);
  Reader        r{y};
  const Tensors h = r.take(s.carry), dh = r.take(m.carry), ys = r.take(s.ys()),
                dys = r.take(part(live, s.carry, s.ys()));
  return {concatenated(h, ys), concatenated(dh, dys)};
}

Linearized scan_linearize(const LinearizeArgs& a) {
  const ScanParts s(a.attrs);
  const Types     types  = s.body.types_of(s.body.args);
  Mask            active = floats_among(a.active, types);

  std::shared_ptr<Builder> builder;
  LinearMap                linear;
  do
    builder = open_body(types, [&](const Tensors& args) {
                linear = linearize(s.body, args, active);
                return Tensors{};
              }).builder;
  while (grow(active, s, linear.live));
  const Traced map = pruned(std::move(linear.map));

  // A residual is computed once from consts, or it is a row of xs or of a result of the forward scan.
  enum class From { Once, Xs, Result };
  std::vector<std::pair<From, size_t>> sources;
  Traced                               forward = builder->finish(concatenated(linear.out, map.constants));
  Program                              once    = forward.program;
  Vars&                                results = forward.program.results;
  const Vars   residuals(results.begin() + static_cast<int64_t>(s.body.results.size()), results.end());
  const Vars   inputs = program_inputs(forward.program);
  const size_t fixed  = forward.program.constants.size() + s.consts;
  const Mask   varies = forward_dependence(forward.program, joined(Mask(fixed, false), Mask(s.carry + s.xs(), true)));
  once.results.clear();
  results.resize(s.body.results.size());
  for (Var v : residuals) {
    const auto x = std::find(inputs.begin() + static_cast<int64_t>(fixed + s.carry), inputs.end(), v);
    const auto y = std::find(results.begin() + static_cast<int64_t>(s.carry), results.end(), v);
    if (!varies[v]) {
      sources.emplace_back(From::Once, once.results.size());
      once.results.push_back(v);
    } else if (x != inputs.end()) {
      sources.emplace_back(From::Xs, static_cast<size_t>(x - inputs.begin()) - fixed - s.carry);
    } else {
      sources.emplace_back(From::Result, static_cast<size_t>(y - results.begin()));
      if (y == results.end()) results.push_back(v);
    }
  }

  // What is computed once does not see the carry and xs, so zeros do in their place.
  const auto    in    = s.split(a.in);
  const auto    roles = s.split(types);
  const Tensors no_carry(s.carry), no_xs(s.xs());
  const Tensors hoisted =
      replay(dce(once), forward.constants,
             concatenated(in.consts, instantiated(concatenated(no_carry, no_xs), joined(roles.carry, roles.xs))));
  const Tensors y = apply_scan(std::move(forward), {in.consts, in.carry, in.xs}, s.length, s.reverse);
  Tensors       rows;
  for (const auto& [from, i] : sources)
    if (from != From::Once) rows.push_back(from == From::Xs ? in.xs[i] : y[i]);

  // The linear scan.  consts: hoisted, dw   carry: dh   xs: rows, dx
  const auto  m         = s.split(active);
  const Mask  moved     = joined(m.carry, part(linear.live, s.carry, s.ys()));  // results with a tangent
  const Types out_types = s.body.types_of(s.body.results);
  Types       row_types = types_of(rows);
  for (Type& t : row_types) t.shape.erase(t.shape.begin());
  const Types  step_types = joined(joined(types_of(hoisted), chosen(roles.consts, m.consts)),
                                   joined(chosen(roles.carry, m.carry), joined(row_types, chosen(roles.xs, m.xs))));
  const Traced step       = trace(step_types, [&](const Tensors& args) {
    Reader        r{args};
    const Tensors fixed_part = r.take(hoisted.size()), dw = r.take(count(m.consts)), dh = r.take(count(m.carry)),
                  row = r.take(rows.size()), dx = r.take(count(m.xs));
    Tensors coefficients;
    size_t  next = 0;
    for (const auto& [from, i] : sources) coefficients.push_back(from == From::Once ? fixed_part[i] : row[next++]);
    const Tensors dy = replay(map.program, coefficients, concatenated(concatenated(dw, dh), dx));
    return chosen(instantiated(spread(dy, linear.live), out_types), moved);
  });
  auto         tangent    = [=, parts = a.attrs](const Tensors& tangents) {
    if (!any_true(moved)) return Tensors(moved.size());
    const ScanParts scan(parts);
    const auto      dx = scan.split(tangents);
    return spread(
                   apply_scan(step,
                              {concatenated(hoisted, chosen(dx.consts, m.consts)),
                    chosen(instantiated(dx.carry, roles.carry), m.carry), concatenated(rows, chosen(dx.xs, m.xs))},
                              scan.length, scan.reverse),
                   moved);
  };
  return {part(y, 0, s.body.results.size()), tangent};
}

namespace {

// The carries that do not depend on the linear operands, as they are before each step.
Tensors fixed_carry_rows(const ScanParts& s, const ScanParts::Roles<Tensors>& in, const ScanParts::Roles<Mask>& fixed) {
  if (!any_true(fixed.carry)) return {};
  const Types   types = s.body.types_of(s.body.args);
  const auto    roles = s.split(types);
  Traced        body  = pruned(trace(
              joined(joined(chosen(roles.consts, fixed.consts), chosen(roles.carry, fixed.carry)), chosen(roles.xs, fixed.xs)),
              [&](const Tensors& args) {
        Reader        r{args};
        const Tensors w = r.take(fixed.consts), h = r.take(fixed.carry), x = r.take(fixed.xs);
        const Tensors y = replay(s.body, {}, instantiated(concatenated(concatenated(w, h), x), types));
        return concatenated(chosen(part(y, 0, s.carry), fixed.carry), chosen(h, fixed.carry));
      }));
  const Tensors y     = apply_scan(
          std::move(body), {chosen(in.consts, fixed.consts), chosen(in.carry, fixed.carry), chosen(in.xs, fixed.xs)},
          s.length, s.reverse);
  const size_t n = count(fixed.carry);
  return part(y, n, n);
}

Mask nonzero(const Tensors& ct) {
  Mask m;
  for (const Tensor& t : ct) m.push_back(t.defined() && !t.is_literal(0));
  return m;
}

}  // namespace

Tensors scan_transpose(const TransposeArgs& a) {
  const ScanParts s(a.attrs);
  const Types     types      = s.body.types_of(s.body.args);
  const auto      roles      = s.split(types);
  const Mask      linear_all = s.spread_to_carry(a.linear);
  for (size_t k = s.consts; k < s.consts + s.carry; ++k)
    require(a.linear[k] || !linear_all[k] || a.in[k].is_literal(0),
            "transpose: carry {} of scan starts at a fixed value but then depends on the linear operands, which is "
            "affine, not linear.\n  Only linear functions can be transposed.",
            k - s.consts);
  Mask fixed_all = linear_all;
  fixed_all.flip();
  const auto    linear = s.split(linear_all), fixed = s.split(fixed_all);
  const auto    in     = s.split(a.in);
  const Tensors before = fixed_carry_rows(s, in, fixed);

  // The backward step.  consts: w   carry: ct_w (sums), ct_h   xs: h rows, x, ct_y
  const Tensors ct_ys = part(a.ct, s.carry, s.ys());
  const Mask    hot_y = nonzero(ct_ys);
  Mask          hot   = nonzero(part(a.ct, 0, s.carry));  // carries whose cotangent may differ from zero
  for (size_t k = 0; k < s.carry; ++k) hot[k] = hot[k] && linear.carry[k];
  const Types out_types = s.body.types_of(s.body.results);
  const Types ct_types  = part(out_types, s.carry, s.ys());
  OpenBody    open;
  Tensors     found;
  for (bool again = true; again;) {
    const Types step_types =
        joined(joined(chosen(roles.consts, fixed.consts), chosen(roles.carry, hot)),
               joined(joined(chosen(roles.carry, fixed.carry), chosen(roles.xs, fixed.xs)), chosen(ct_types, hot_y)));
    open  = open_body(step_types, [&](const Tensors& args) {
      Reader        r{args};
      const Tensors w = r.take(fixed.consts), ct_h = r.take(hot), h = r.take(fixed.carry), x = r.take(fixed.xs),
                    ct_y = r.take(hot_y);
      found = transpose(s.body, {}, concatenated(concatenated(w, h), x), linear_all, concatenated(ct_h, ct_y));
      return Tensors{};
    });
    again = false;
    for (size_t k = 0; k < s.carry; ++k)
      if (found[s.consts + k].defined() && !hot[k]) again = hot[k] = true;
  }
  const auto cts    = s.split(found);
  const Mask summed = defined_mask(cts.consts), rows = defined_mask(cts.xs);
  Tensors    sums;
  for (const Type& t : chosen(roles.consts, summed)) sums.push_back(open.builder->argument(t));
  const Tensors terms = chosen(cts.consts, summed);
  Tensors       step_results, zeros;
  for (size_t i = 0; i < sums.size(); ++i) {
    step_results.push_back(add_defined(sums[i], terms[i]));
    zeros.emplace_back(sums[i].type(), 0);
  }
  step_results = concatenated(step_results, chosen(instantiated(cts.carry, roles.carry), hot));
  Traced step  = open.builder->finish(concatenated(step_results, chosen(cts.xs, rows)));
  // The sums were made last but stand first in the carry.
  Vars& args = step.program.args;
  std::rotate(args.begin() + static_cast<int64_t>(count(fixed.consts)), args.end() - static_cast<int64_t>(sums.size()),
              args.end());

  const Tensors y =
      apply_scan(std::move(step),
                 {chosen(in.consts, fixed.consts), concatenated(zeros, chosen(part(a.ct, 0, s.carry), hot)),
                  concatenated(concatenated(before, chosen(in.xs, fixed.xs)), chosen(ct_ys, hot_y))},
                 s.length, !s.reverse);
  Reader        r{y};
  const Tensors ct_w = r.take(summed), ct_h = r.take(hot), ct_x = r.take(rows);
  Tensors       out = concatenated(concatenated(ct_w, ct_h), ct_x);
  for (size_t i = 0; i < out.size(); ++i)
    if (!a.linear[i]) out[i] = Tensor();
  return out;
}

}  // namespace braintrace
