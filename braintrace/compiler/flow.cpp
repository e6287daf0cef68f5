// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/flow.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/rules.h"
#include "braintrace/ops/math.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

bool is_product_op(const Op& op) { return is_mixing_etp(op) || is_plain_product(op); }

// Whether control flow applies a product, directly or nested, to a value computed from the marked operands. Every
// carried value of a loop counts as marked once one operand is; programs whose arguments do not correspond to the
// operands count as mixing.
bool nested_mixes(const Eqn& e, const Mask& marked);

bool program_mixes(const Program& p, const Mask& marked) {
  const Mask depends = forward_dependence(p, marked);
  return std::any_of(p.eqns.begin(), p.eqns.end(), [&](const Eqn& e) {
    Mask in;
    for (Var v : e.in) in.push_back(depends[v]);
    if (std::find(in.begin(), in.end(), true) == in.end()) return false;
    return is_product_op(*e.op) || nested_mixes(e, in);
  });
}

bool nested_mixes(const Eqn& e, const Mask& marked) {
  for (const ProgramPtr& p : nested_programs(e.attrs)) {
    Mask args = marked;
    if (e.op == &cond_op) args.erase(args.begin());
    if (args.size() != p->args.size()) {
      if (contains_op(*p, is_product_op)) return true;
      continue;
    }
    if (e.op == &scan_op || e.op == &while_op) {
      const auto first = args.begin() + e.attrs[keys::consts];
      const auto last  = e.op == &while_op ? args.end() : first + e.attrs[keys::carry];
      std::fill(first, last, true);
    }
    if (program_mixes(*p, args)) return true;
  }
  return false;
}

}  // namespace

Flow::Flow(const Program& p, const Vars& hidden)
    : program(p), producer(producers(p)), consumers(p.types.size()), product(p.eqns.size()) {
  Mask derived(p.types.size());
  for (Var v : hidden) derived[v] = true;
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    const Eqn& e = p.eqns[i];
    Mask       in;
    for (Var v : e.in) {
      in.push_back(derived[v]);
      if (consumers[v].empty() || consumers[v].back() != static_cast<int32_t>(i))
        consumers[v].push_back(static_cast<int32_t>(i));
    }
    const bool any = std::find(in.begin(), in.end(), true) != in.end();
    product[i]     = is_product_op(*e.op) || (any && nested_mixes(e, in));
    for (Var v : e.out) derived[v] = any && !product[i];
  }
}

bool is_stop_gradient(const Op& op) { return &op == &stop_gradient_op; }
bool is_mixing_etp(const Op& op) { return op.etp && op.etp->mixes; }
bool is_plain_product(const Op& op) { return !op.etp && op.linearity == Linearity::Each && !op.is_elementwise(); }

Vars reach_forward(const Flow& flow, const Vars& from, const Stops& stops) {
  Vars                    order = from;
  std::unordered_set<Var> seen(from.begin(), from.end());
  for (size_t i = 0; i < order.size(); ++i) {
    const Var v = order[i];
    if (i >= from.size() && stops.value && stops.value(v)) continue;
    for (int32_t e : flow.consumers[v]) {
      const Eqn& eqn = flow.program.eqns[e];
      if (stops.eqn && stops.eqn(eqn)) continue;
      for (Var out : eqn.out)
        if (seen.insert(out).second) order.push_back(out);
    }
  }
  return order;
}

Region cut_region(const Flow& flow, const Vars& from, const Vars& to, const Stops& stops) {
  const Program& p = flow.program;
  // Equations reached from `from`; a stopped value ends the walk but is itself reached.
  std::unordered_set<Var> reached;
  for (Var v : reach_forward(flow, from, stops)) reached.insert(v);
  const std::unordered_set<Var> sources(from.begin(), from.end());

  // Backward from `to` over reached values only.
  std::set<int32_t>       needed;  // equation indices in program order
  std::unordered_set<Var> wanted;
  Vars                    queue;
  auto                    want = [&](Var v) {
    if (reached.count(v) && !sources.count(v) && wanted.insert(v).second) queue.push_back(v);
  };
  for (Var v : to) want(v);
  for (size_t i = 0; i < queue.size(); ++i) {
    const int32_t e = flow.producer[queue[i]];
    needed.insert(e);
    for (Var in : p.eqns[e].in) {
      const bool stopped = stops.value && stops.value(in) && !sources.count(in);
      if (!stopped) want(in);
    }
  }
  return region_of(p, needed, from, to);
}

Region region_of(const Program& p, const std::set<int32_t>& eqns, const Vars& from, const Vars& to) {
  Region                       region;
  std::unordered_map<Var, Var> id;
  auto&                        q = region.program;
  for (Var v : from) q.args.push_back(id[v] = q.add_value(p.type(v)));
  auto use = [&](Var v) {
    const auto [it, is_new] = id.try_emplace(v, -1);
    if (is_new) {
      it->second = q.add_value(p.type(v));
      q.constants.push_back(it->second);
      region.constants.push_back(v);
    }
    return it->second;
  };
  std::unordered_map<int32_t, int32_t> notes{{0, 0}};  // of its equations
  for (int32_t e : eqns) {
    const Eqn& eqn            = p.eqns[e];
    const auto [note, is_new] = notes.try_emplace(eqn.note, static_cast<int32_t>(q.notes.size()));
    if (is_new) q.notes.push_back(p.notes[eqn.note]);
    Eqn copy{eqn.op, {}, {}, eqn.attrs, note->second};
    for (Var v : eqn.in) copy.in.push_back(use(v));
    for (Var v : eqn.out) copy.out.push_back(id[v] = q.add_value(p.type(v)));
    q.eqns.push_back(std::move(copy));
    region.eqns.push_back(e);
  }
  for (Var v : to) q.results.push_back(use(v));
  return region;
}

}  // namespace braintrace
