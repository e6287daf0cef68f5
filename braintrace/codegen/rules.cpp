// SPDX-License-Identifier: Apache-2.0
// Rules of ops that are no loops over elements, and the way out: an op without a rule is evaluated by the host.
#include <unordered_map>

#include <fmt/format.h>

#include "braintrace/codegen/kernel.h"

namespace braintrace::codegen {

namespace {

const std::unordered_map<std::string_view, Rule>& table() {
  static const std::unordered_map<std::string_view, Rule> all = [] {
    std::unordered_map<std::string_view, Rule> t;
    for (const Rules* family :
         {&control_rules(), &index_rules(), &movement_rules(), &product_rules(), &random_rules(), &window_rules()})
      for (const auto& [name, rule] : *family) t.emplace(name, rule);
    return t;
  }();
  return all;
}

Kernel by_host(Site& s) {
  if (s.unit.dialect() == Dialect::Portable) {
    const std::string& where = s.p.notes[static_cast<size_t>(s.e.note)];
    std::string        types;
    for (size_t i = 0; i < s.e.in.size(); ++i) types += (i ? ", " : "") + to_string(s.in_type(i));
    fail("operation '{}' of {} ({}) has no form in portable C; only this library can compute it.", s.e.op->name,
         where.empty() ? "the program" : "'" + where + "'", types);
  }
  Kernel k;
  k.body = fmt::format("const void* in[{}];\nvoid* out[{}];\n", std::max<size_t>(s.e.in.size(), 1), s.e.out.size());
  for (size_t i = 0; i < s.e.in.size(); ++i) k.body += fmt::format("in[{}] = {};\n", i, s.in(i));
  for (size_t i = 0; i < s.e.out.size(); ++i) k.body += fmt::format("out[{}] = {};\n", i, s.out(i));
  k.body += fmt::format("const int32_t rc = f->host->call(f->host->self, {}, in, out);\nif (rc) return rc;\n",
                        s.unit.host_call(s.p, s.e));
  return k;
}

}  // namespace

Kernel rule_kernel(Site site) {
  const auto it = table().find(site.e.op->name);
  if (it == table().end()) return by_host(site);
  Kernel k = it->second(site);
  return k.body.empty() ? by_host(site) : k;
}

}  // namespace braintrace::codegen
