// SPDX-License-Identifier: Apache-2.0
// What is done to a program between tracing and kernels, as one list of passes with names. Each can be left out, looked
// at before and after, and timed.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braintrace/codegen/target.h"
#include "braintrace/ir/program.h"

namespace braintrace::codegen {

// One run of a pass, as its observer sees it.
struct PassRun {
  std::string_view pass;
  const Program*   before  = nullptr;  // none for a pass that acts on a schedule
  const Program*   after   = nullptr;  // none where the program stays as it is
  double           seconds = 0;        // without those of passes that ran inside it
  int              depth   = 0;        // 0 for a program, 1 for the body of its loops, …
};

struct Options {
  Target                              target  = native_target();
  std::vector<std::string>            without = {};  // passes left out
  std::function<void(const PassRun&)> observe = {};
  int                                 depth   = 0;  // of the program among those that contain it

  bool runs(std::string_view pass) const;
};

double& seconds_inside();  // of passes that ran inside the one at work in this thread

constexpr auto no_program = [](const auto&) -> const Program* { return nullptr; };

// Runs a pass and reports to its observer how long it took and, if it turns a program into another, both programs.
// `after` finds the program in the result; debug builds verify it. A disabled pass that still has to produce a result
// is not reported.
template <class F, class After = decltype(no_program)>
auto observed(std::string_view pass, const Options& o, const F& run, const Program* before = nullptr,
              const After& after = no_program) {
  using Clock = std::chrono::steady_clock;
  if (!o.runs(pass)) return run();
  const auto   begin  = Clock::now();
  const double around = std::exchange(seconds_inside(), 0);
  auto         result = run();
  const double whole  = std::chrono::duration<double>(Clock::now() - begin).count();
  PassRun      seen{pass, before, after(result), whole - seconds_inside(), o.depth};
  seconds_inside() = around + whole;
#ifndef NDEBUG
  if (seen.after) verify(*seen.after);
#endif
  if (o.observe) o.observe(seen);
  return result;
}

struct Pass {
  std::string_view name, doc;
  // Program to program; none for passes that need more than a program, and for decisions made while kernels are made
  // and placed.
  std::function<Program(const Program&, const Options&)> run;
};
const std::vector<Pass>& passes();

// A UserError that lists the passes, where one of the names is none of them.
void check_pass_names(const std::vector<std::string>& names);

// The program after those of the passes that have these names, in the order of the list, and are not left out.
Program with_passes(const std::vector<std::string_view>& names, const Program& program, const Options& options);

// The program after all passes, and so are the programs inside it.
Program lowered(const Program& program, const Options& options = {});

}  // namespace braintrace::codegen
