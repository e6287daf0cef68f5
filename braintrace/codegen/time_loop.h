// SPDX-License-Identifier: Apache-2.0
// A loop over time while it is being made leaner.
#pragma once

#include <algorithm>

#include "braintrace/control/scan_parts.h"

namespace braintrace::codegen {

// A scan in pieces that can be exchanged one by one. Variables are those of the body.
struct Loop {
  Program body;
  Vars    const_args, carry_args, x_args;
  Tensors consts, init, xs;  // their values outside
  Vars    carry_out, ys;     // results of the body
  int64_t length;
  bool    reverse;

  Loop(const ScanParts& s, const Tensors& in) : body(s.body), length(s.length), reverse(s.reverse) {
    const auto first = body.args.begin(), second = first + static_cast<int64_t>(s.consts),
               third = second + static_cast<int64_t>(s.carry);
    const_args.assign(first, second);
    carry_args.assign(second, third);
    x_args.assign(third, body.args.end());
    const auto given = s.split(in);
    consts = given.consts, init = given.carry, xs = given.xs;
    const auto carries = static_cast<int64_t>(s.carry);
    carry_out.assign(body.results.begin(), body.results.begin() + carries);
    ys.assign(body.results.begin() + carries, body.results.end());
  }

  // The body with its present arguments and results.
  Program program() const {
    Program p = body;
    p.args    = const_args;
    p.args.insert(p.args.end(), carry_args.begin(), carry_args.end());
    p.args.insert(p.args.end(), x_args.begin(), x_args.end());
    p.results = carry_out;
    p.results.insert(p.results.end(), ys.begin(), ys.end());
    return p;
  }
  // Forgets equations and inputs that the results do not need.
  void prune() {
    Mask live(body.types.size());
    for (const Vars* vars : {&carry_out, &ys})
      for (Var v : *vars) live[v] = true;
    std::vector<Eqn> kept;
    for (size_t i = body.eqns.size(); i-- > 0;) {
      Eqn& e = body.eqns[i];
      if (std::none_of(e.out.begin(), e.out.end(), [&](Var v) { return live[v]; })) continue;
      for (Var v : e.in) live[v] = true;
      kept.push_back(std::move(e));
    }
    std::reverse(kept.begin(), kept.end());
    body.eqns = std::move(kept);
    auto keep = [&](Vars& vars, Tensors& values) {
      size_t n = 0;
      for (size_t i = 0; i < vars.size(); ++i)
        if (live[vars[i]]) {
          vars[n]     = vars[i];
          values[n++] = values[i];
        }
      vars.resize(n);
      values.resize(n);
    };
    keep(const_args, consts);
    keep(x_args, xs);
  }
  // Values that depend on marked arguments.
  Mask reached(bool from_carry, bool from_xs) const {
    Mask active(const_args.size(), false);
    active.resize(const_args.size() + carry_args.size(), from_carry);
    active.resize(const_args.size() + carry_args.size() + x_args.size(), from_xs);
    return forward_dependence(program(), active);
  }
};

// A carry as each step finds it [T,…], from what each step leaves.
Tensor one_late(const Loop& l, size_t carry, const Tensor& left);

// Runs the loop without the sums over steps, and takes them after it. Results: carries, then ys.
Tensors run_without_sums(const Loop& whole);

}  // namespace braintrace::codegen
