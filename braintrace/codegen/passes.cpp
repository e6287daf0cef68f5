// SPDX-License-Identifier: Apache-2.0
#include "braintrace/codegen/passes.h"

#include <algorithm>
#include <chrono>

#include "braintrace/base/nearest.h"
#include "braintrace/codegen/events.h"
#include "braintrace/codegen/factor.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/codegen/separate.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::codegen {

namespace {

Program with_lowered_bodies(Program p, Options o) {
  ++o.depth;
  for (Eqn& e : p.eqns) e.attrs = map_nested(e.attrs, [&](const Program& body) { return lowered(body, o); });
  return p;
}

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {"expand", "composite operations become simpler ones, equal equations one",
       [](const Program& p, const Options&) { return simplify(expand_composites(p)); }},
      {"products", "sums of products of repeated operands, and convolutions, become matrix products",
       [](const Program& p, const Options& o) { return as_products(p, o.target); }},
      {"factor", "one linear map of a sum in place of a sum of maps",
       [](const Program& p, const Options&) { return factored(p); }},
      {"hoist", "work leaves loops over time; bodies of custom rules come in place",
       [](const Program& p, const Options& o) { return hoisted(p, o.target); }},
      {"nested", "programs inside equations go through all passes on their own", with_lowered_bodies},
      {"sums", "products that are not matrix products become sums that fuse",
       [](const Program& p, const Options& o) { return as_sums(p, o.target); }},
      {"separate", "factors of sums of outer products are combined as vectors first",
       [](const Program& p, const Options& o) { return separated(p, o.target); }},
      {"events", "sparse products and updates walk the entries of neurons that are not silent",
       [](const Program& p, const Options& o) { return with_events(p, o.target); }},
      {"fuse", "equations over one space share a loop nest", nullptr},
      {"split", "parts of a batch run through a loop over time on their own", nullptr},
      {"reuse", "memory of a value that is no longer needed is reused", nullptr},
  };
  return all;
}

double& seconds_inside() {
  thread_local double seconds = 0;
  return seconds;
}

bool Options::runs(std::string_view pass) const { return !contains(without, pass); }

void check_pass_names(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Pass& p : passes()) known.emplace_back(p.name);
  for (const std::string& name : names) known_index(name, known, "there is no pass", "Passes");
}

Program lowered(const Program& program, const Options& options) {
  Program p = program;
  for (const Pass& pass : passes()) {
    if (!pass.run || !options.runs(pass.name)) continue;
    p = observed(
        pass.name, options, [&] { return pass.run(p, options); }, &p, [](const Program& q) { return &q; });
  }
  return p;
}

}  // namespace braintrace::codegen
