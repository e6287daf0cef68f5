// SPDX-License-Identifier: Apache-2.0
// lower → fuse → kernels → plan.
#include "braintrace/codegen/schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "braintrace/codegen/kernels.h"
#include "braintrace/codegen/loop_nest.h"
#include "braintrace/codegen/plan.h"
#include "braintrace/codegen/regions.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/keys.h"

namespace braintrace::codegen {

namespace {

// If many cores share products, the results are spread over the cores' caches: less work is worth sharing.
void share(std::vector<Kernel>& kernels, const Options& options) {
  const Target& target = options.target;
  const bool    spread =
      target.cores >= target.columns_from && std::any_of(kernels.begin(), kernels.end(), [&](const Kernel& k) {
        return std::holds_alternative<Product>(k.what) && k.parts > 1 && k.work >= target.shared_elements;
      });
  const int64_t least = spread ? target.shared_elements / 4 : target.shared_elements;
  observed("regions", options, [&] {
    const bool joins = spread && target.threads && options.runs("regions");
    if (joins) join_regions(kernels, least);
    return joins;
  });
  for (size_t i = 0, end = 0; i < kernels.size(); i = end + 1) {
    end          = region_end(kernels, i);
    Kernel& k    = kernels[i];
    int64_t work = 0;
    for (size_t j = i; j <= end; ++j) work += kernels[j].work;
    const bool is_worth = target.threads && k.parts > 1 && work >= least;
    k.grain             = is_worth ? std::max({int64_t{1}, k.grain, k.parts * (least / 2) / work}) : 0;
    for (size_t j = i + 1; j <= end; ++j) kernels[j].joins = is_worth;
  }
}

}  // namespace

bool InPlaceResults::allows(size_t result, size_t arg) const {
  if (result >= results.size() || arg >= args.size()) return false;
  const Result&   r = results[result];
  const Argument& a = args[arg];
  if (r.kernel == none || a.is_result || r.dtype != a.dtype || r.size != a.size) return false;
  if (a.last != r.kernel) return a.last < r.kernel;
  if (r.elementwise && !a.is_scattered) return true;
  return std::binary_search(named.begin(), named.end(), std::pair(result, arg));
}

int64_t Routine::size(std::string_view name) const {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const auto& s) { return s.first == name; });
  ensure(found != sizes.end(), "codegen: routine {} has no size {}", op->name, name);
  return found->second;
}
bool Routine::has(std::string_view buffer) const {
  return std::any_of(buffers.begin(), buffers.end(), [&](const auto& b) { return b.first == buffer; });
}

std::vector<Contained> contained(const Kernel& kernel) {
  if (const auto* k = std::get_if<TimeLoop>(&kernel.what)) return {{"step", k->body}};
  if (const auto* k = std::get_if<WhileLoop>(&kernel.what)) return {{"condition", k->cond}, {"body", k->body}};
  if (const auto* k = std::get_if<Call>(&kernel.what)) return {{"body", k->body}};
  std::vector<Contained> out;
  if (const auto* k = std::get_if<Branch>(&kernel.what))
    for (const FunctionPtr& f : k->branches) out.push_back({fmt::format("branch {}", out.size()), f});
  return out;
}

bool any_kernel(const Function& function, const std::function<bool(const Kernel&)>& is_such) {
  return std::any_of(function.kernels.begin(), function.kernels.end(), [&](const Kernel& k) {
    const auto inner = contained(k);
    return is_such(k) || std::any_of(inner.begin(), inner.end(),
                                     [&](const Contained& c) { return any_kernel(*c.function, is_such); });
  });
}

bool has_loops(const Function& function) {
  return any_kernel(function, [](const Kernel& k) {
    return std::holds_alternative<TimeLoop>(k.what) || std::holds_alternative<WhileLoop>(k.what);
  });
}

int64_t Scheduler::constant(const Array& value) {
  Arrays& all = schedule.constants;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].type() == value.type() && identical(all[i], value)) return static_cast<int64_t>(i);
  all.push_back(value);
  return static_cast<int64_t>(all.size()) - 1;
}

FunctionPtr Scheduler::function(const Program& p) {
  const Target& target = options.target;
  const Fused   f      = observed("fuse", options, [&] { return fused(p, options); });
  auto          out    = std::make_shared<Function>();
  ++options.depth;  // of functions inside this one
  for (const Stage& s : f.stages) {
    Kernel k = s.loop ? loop_kernel(p, s, f, target) : kernel(p, p.eqns[s.eqns[0]], f);
    k.reads  = s.reads;
    k.writes = s.writes;
    for (int32_t i : s.eqns) k.ops.push_back(p.eqns[i].op);
    out->may_stop = out->may_stop || k.may_stop;
    out->kernels.push_back(std::move(k));
  }
  share(out->kernels, options);
  std::vector<std::pair<Var, int64_t>> constants;
  for (const Eqn& e : p.eqns)
    if (e.op == &constant_op) constants.emplace_back(e.out[0], constant(e.attrs[keys::array]));
  --options.depth;
  return observed("reuse", options, [&] {
    place_buffers(*out, p, f, constants, options);
    return out;
  });
}

Schedule scheduled(const std::vector<Program>& programs, const Options& options) {
  Scheduler scheduler(options);
  for (const Program& p : programs) scheduler.schedule.entries.push_back(scheduler.function(lowered(p, options)));
#ifndef NDEBUG
  verify(scheduler.schedule);
#endif
  return std::move(scheduler.schedule);
}

}  // namespace braintrace::codegen
