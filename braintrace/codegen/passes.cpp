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

const Program* itself(const Program& p) { return &p; }

Program with_lowered_bodies(Program p, Options o) {
  ++o.depth;
  for (Eqn& e : p.eqns) e.attrs = map_nested(e.attrs, [&](const Program& body) { return lowered(body, o); });
  return p;
}

}  // namespace

// docs/performance.md has the same sentences.
const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {"rotate",
       "in a program that runs on its own results, delays updates of large arrays to the next step, where update and "
       "product read the array in one pass",
       nullptr},
      {"indices",
       "writes index arrays that are known when the program is compiled, such as the pattern of a sparse matrix, into "
       "the program, so indices are checked and sorted once",
       nullptr},
      {"expand", "replaces composite operations by simpler ones; computes equal equations once",
       [](const Program& p, const Options&) { return simplify(expand_composites(p)); }},
      {"products", "turns sums of products and convolutions into matrix products",
       [](const Program& p, const Options& o) { return as_products(p, o.target); }},
      {"factor",
       "turns A b + A c into A (b + c), so products of one weight with the present and the future credit become one",
       [](const Program& p, const Options&) { return factored(p); }},
      {"hoist",
       "moves work out of time loops: invariants and products of inputs before the loop, readouts and sums over steps "
       "after it; removes dead carries",
       hoisted},
      {"nested", "runs all passes on programs inside equations, such as the body of a loop", with_lowered_bodies},
      {"sums",
       "turns products in which one operand has no axis of its own, and large products of few terms, into sums, which "
       "can be fused",
       [](const Program& p, const Options& o) { return as_sums(p, o.target); }},
      {"separate",
       "turns w - η (x aᵀ + x bᵀ) into w - x (η (a + b))ᵀ and removes terms that cancel, so a weight update needs few "
       "operations per element",
       [](const Program& p, const Options& o) { return separated(p, o.target); }},
      {"events",
       "makes products with a sparse matrix, and updates of one, visit only the entries of neurons that are not silent",
       [](const Program& p, const Options& o) { return with_events(p, o.target); }},
      {"fuse",
       "fuses elementwise equations and reductions over the same positions into one loop nest; views are read in place",
       nullptr},
      {"split",
       "runs independent rows of a batch through all steps separately, so threads do not wait for each other in the "
       "loop",
       nullptr},
      {"regions",
       "runs kernels in one parallel region if each part reads only what the same part wrote, so many cores "
       "synchronize "
       "less often",
       nullptr},
      {"reuse",
       "gives every value a place in one arena and reuses places; elementwise results overwrite operands, and values "
       "that a loop stores for every step overwrite inputs row by row",
       nullptr},
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

Program with_passes(const std::vector<std::string_view>& names, const Program& program, const Options& options) {
  Program p = program;
  for (const Pass& pass : passes())
    if (pass.run && contains(names, pass.name) && options.runs(pass.name))
      p = observed(
          pass.name, options, [&] { return pass.run(p, options); }, &p, itself);
  return p;
}

Program lowered(const Program& program, const Options& options) {
  std::vector<std::string_view> all;
  for (const Pass& pass : passes()) all.push_back(pass.name);
  return with_passes(all, program, options);
}

}  // namespace braintrace::codegen
