// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/kernels.h"

#include <algorithm>
#include <unordered_map>

#include "braintrace/base/lists.h"

namespace braintrace::codegen {

namespace {

const std::unordered_map<const Op*, Rule>& table() {
  static const std::unordered_map<const Op*, Rule> all = [] {
    std::unordered_map<const Op*, Rule> t;
    for (const Rules& family : {control_rules(), index_rules(), movement_rules(), product_rules(), random_rules(),
                                sparse_rules(), window_rules()})
      for (const Rule& rule : family) t.emplace(rule.op, rule);
    return t;
  }();
  return all;
}

// Fallback: the host evaluates an equation without a kernel.
Kernel by_host(Site& s) {
  if (!s.target().has_host) {
    const std::string& where = s.p.notes[static_cast<size_t>(s.e.note)];
    std::string        types;
    for (size_t i = 0; i < s.e.in.size(); ++i) types += (i ? ", " : "") + to_string(s.in_type(i));
    fail("operation '{}' of {} ({}) has no form in portable C; only this library can compute it.", s.e.op->name,
         where.empty() ? "the program" : "'" + where + "'", types);
  }
  auto& calls = s.in_schedule.schedule.calls;
  calls.push_back({s.e, s.p.types_of(s.e.in), s.p.types_of(s.e.out)});
  return {.what = HostCall{static_cast<int32_t>(calls.size()) - 1, s.ins(), s.outs()}, .may_stop = true};
}

}  // namespace

Kernel Scheduler::kernel(const Program& p, const Eqn& e, const Fused& fused) {
  Site       site{*this, p, e, fused.memory, fused.producer};
  const auto rule = table().find(e.op);
  if (rule == table().end()) return by_host(site);
  const Vars values = joined(e.in, e.out);
  const bool plain  = std::none_of(values.begin(), values.end(), [&](Var v) {
    return p.type(v).dtype == DType::F16 || p.type(v).dtype == DType::BF16;
  });
  return plain || rule->second.takes_16_bits ? rule->second.kernel(site) : by_host(site);
}

}  // namespace braintrace::codegen
