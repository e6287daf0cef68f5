// SPDX-License-Identifier: Apache-2.0
// A scan while the passes of lower_scan.h transform it.
#pragma once

#include <functional>

#include "braintrace/control/scan_parts.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace::codegen {

// A scan decomposed into parts that can be replaced individually. Variables are those of the body.
struct Loop {
  Program           body;
  ScanRoles<Vars>   args;
  ScanOperands      values;  // operands outside the loop; for carries, their initial values
  ScanResults<Vars> results;
  int64_t           length;
  bool              reverse;

  Loop(const ScanParts& s, const Tensors& in)
      : body(s.body),
        args(s.split(body.args)),
        values(s.split(in)),
        results(s.split_results(body.results)),
        length(s.length),
        reverse(s.reverse) {}

  // The body with its current arguments and results.
  Program program() const {
    Program p = body;
    p.args    = joined(args);
    p.results = joined(results);
    return p;
  }
  // Removes equations and inputs that the results do not depend on.
  void prune() {
    const Mask live = backward_dependence(program(), Mask(joined(results).size(), true));
    std::erase_if(body.eqns, [&](const Eqn& e) { return !any_true(gather(live, e.out)); });
    const ScanRoles<Mask> marks{gather(live, args.consts), Mask(args.carry.size(), true), gather(live, args.xs)};
    args   = chosen(args, marks);
    values = chosen(values, marks);
  }
  // Values that depend on carries, on xs, or on both.
  Mask reached(bool from_carry, bool from_xs) const {
    const ScanRoles<Mask> active{Mask(args.consts.size()), Mask(args.carry.size(), from_carry),
                                 Mask(args.xs.size(), from_xs)};
    return forward_dependence(program(), joined(active));
  }

  // Computes loop-invariant values outside the loop.
  Tensors before(const Vars& wanted) const {
    Program p = body;
    p.args    = args.consts;
    p.results = wanted;
    return replay(dce(std::move(p)), {}, values.consts);
  }
  // Computes values that depend only on constants and `rows` for all steps at once [T,…]; `p` is a body.
  Tensors in_all_steps(Program p, const Vars& row_args, const Tensors& rows, const Vars& wanted) const {
    p.args             = joined(args.consts, row_args);
    p.results          = wanted;
    const Mask batched = joined(Mask(args.consts.size(), false), Mask(row_args.size(), true));
    return vmap(dce(std::move(p)), joined(values.consts, rows), batched, length, Mask(wanted.size(), true));
  }
};

// The old values of a carry at every step [T,…], from the new values.
Tensor one_late(const Loop& l, size_t carry, const Tensor& left);

// Runs a loop; returns carries, then ys.
using RunLoop = std::function<Tensors(const Loop&)>;

// Runs the loop without its sums over steps, and computes those after it (lower_sums.cpp).
Tensors run_without_sums(const Loop& whole, const RunLoop& run);

}  // namespace braintrace::codegen
