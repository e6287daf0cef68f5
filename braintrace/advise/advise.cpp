// SPDX-License-Identifier: Apache-2.0
#include "braintrace/advise/advise.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "braintrace/advise/apart.h"
#include "braintrace/advise/workload.h"
#include "braintrace/advise/yardstick.h"
#include "braintrace/algorithms/registry.h"
#include "braintrace/base/machine.h"
#include "braintrace/base/rng.h"
#include "braintrace/functions/functions.h"
#include "braintrace/functions/held_states.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/transforms/simplify.h"

namespace braintrace {

namespace {

constexpr int64_t truncated_steps     = 20;
constexpr int     preparation_seconds = 10, measuring_seconds = 60;
constexpr int64_t loading_bytes = 2100 << 10;  // compiling and loading: much the same for all programs

std::vector<Candidate> candidates(const AdviseOptions& o) {
  std::vector<const Algorithm*> chosen;
  for (const std::string& rule : o.rules) {
    chosen.push_back(&algorithm_named(rule));
    require(chosen.back()->needs() == Need::Nothing,
            "advise: {} needs {}; only rules that learn from a loss alone can be compared.", rule,
            to_string(chosen.back()->needs()));
  }
  if (chosen.empty())
    for (const Algorithm& a : algorithms())
      if (a.needs() == Need::Nothing) chosen.push_back(&a);
  std::vector<Candidate> out;
  for (const Algorithm* a : chosen) {
    const std::string setting = a->usual(1).text;
    if (a->learns_step_by_step())
      out.push_back({a->name, setting, Form::Step, 1});
    else if (truncated_steps < o.length)
      out.push_back({a->name, setting, Form::Truncated, truncated_steps});
    out.push_back({a->name, setting, Form::Window, o.length});
  }
  return out;
}

struct Estimate {
  Memory memory;
  Work   work;
  double steps;
};

// States and data once, new values of what is not written in place, the arena and the constants of the compiled
// program, and what it took to make the program here: `before` was resident without it. Zeros as results, such as
// traces dropped at the end of a window, are made once, and pages of zeros cost nothing: nor does a state that starts
// with zeros and is written with nothing else.
Estimate estimate(Workload& w, Backend& backend, bool on_device, int64_t before) {
  const StatefulProgram traced =
      trace_function(w.args(), [&](const Tensors& in) { return Tensors{w.call(in[0], in[1])}; });
  const ProgramNeeds needs = backend.needs(simplify(traced.program), feeds_of(traced));
  StateSet           live;  // states that are written with more than zeros
  for (size_t k = 0; k < traced.writes.size(); ++k)
    if (!needs.is_zero[traced.num_results + k]) live.insert(traced.writes[k].state.cell().get());
  int64_t constants = needs.constants;
  for (const Tensor& c : traced.constants) constants += c.type().bytes();
  Estimate e{w.resident(live), needs.work, static_cast<double>(w.steps())};
  e.memory.work = needs.working + constants;
  if (on_device) return e;  // whose memory has nothing else in it
  e.memory.program = std::max<int64_t>(resident_bytes() - before - constants, 0) + loading_bytes;
  // While they are traced, some rules briefly need more memory than any later call.
  const int64_t tracing = peak_resident_bytes() - before + e.memory.weights;
  e.memory.program += std::max<int64_t>(tracing - e.memory.total(), 0);
  return e;
}

struct Measured {
  int64_t memory;   // growth of the resident set at its peak
  double  seconds;  // per step
};

Tensor random_data(const Type& type, Rng& rng) {
  if (!is_float(type.dtype)) return Tensor(Array(type));
  Array a({DType::F32, type.shape});
  for (int64_t i = 0; i < a.size(); ++i) a.mutable_data<float>()[i] = static_cast<float>(rng.normal());
  return Tensor(type.dtype == DType::F32 ? a : convert(a, type.dtype));
}

// Seconds per step, after the calls that compile and fill the memory; `free` is what a device has left then.
struct Moment {
  double                 seconds;
  std::optional<int64_t> free;
};
Moment run_for_a_moment(Workload& w) {
  using Clock = std::chrono::steady_clock;
  Rng          rng(1);
  const Tensor x = random_data(w.args()[0], rng), y = random_data(w.args()[1], rng);
  const auto   step = jit([&](Tensor xs, Tensor ys) { return w.call(xs, ys); });
  for (int i = 0; i < 2; ++i) step(x, y);
  double best = 1e30;
  for (int i = 0; i < 3; ++i) {
    const auto start = Clock::now();
    step(x, y);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return {best / static_cast<double>(w.steps()), default_backend().memory()};
}

// A window is preferred to steps: it learns the same from a known sequence, with less work.
void recommend(Advice& a, int64_t free) {
  const int64_t most   = a.options.memory.value_or(free);
  const auto    fits   = [&](const Cost& c) { return c.left_out.empty() && c.memory.total() <= most; };
  const auto    rank   = [&](size_t i) { return algorithm_named(a.costs[i].candidate.rule).rank; };
  const auto    choose = [&](const auto& wanted) -> std::optional<size_t> {
    std::optional<size_t> best;
    for (size_t i = 0; i < a.costs.size(); ++i) {
      if (!fits(a.costs[i]) || !wanted(a.costs[i].candidate)) continue;
      if (!best || rank(i) < rank(*best)) best = i;
    }
    return best;
  };
  const auto whole_sequence = [](RuleForm form) {
    return [form](const Candidate& c) { return c.form == Form::Window && algorithm_named(c.rule).form == form; };
  };
  const std::string limit =
      a.options.memory ? fmt::format(" within {}", bytes_text(static_cast<double>(*a.options.memory))) : "";
  if ((a.recommended = choose(whole_sequence(RuleForm::WindowOnly)))) {
    a.reason          = fmt::format("the whole sequence fits{}, so its gradient can be exact", limit);
    const auto online = choose(whole_sequence(RuleForm::Window));
    if (online && a.costs[*online].seconds_per_step < 0.9 * a.costs[*a.recommended].seconds_per_step)
      a.reason += fmt::format("; {} over the same window is faster, and close where recurrence is nearly diagonal",
                              a.costs[*online].candidate.rule);
    return;
  }
  if ((a.recommended = choose(whole_sequence(RuleForm::Window)))) {
    a.reason = fmt::format("reverse mode over {} steps does not fit{}; this has the same credit inside each group",
                           a.options.length, limit);
    return;
  }
  if ((a.recommended = choose([](const Candidate& c) { return c.form == Form::Step; }))) {
    a.reason = fmt::format(
        "no rule that stores the sequence fits{}; the memory of this rule does not grow with the length", limit);
    return;
  }
  if ((a.recommended = choose([](const Candidate&) { return true; }))) {
    a.reason = fmt::format("nothing else fits{}; credit reaches back {} steps only", limit,
                           a.costs[*a.recommended].candidate.window);
    return;
  }
  const std::string& all = a.costs[0].left_out;
  const bool  same = std::all_of(a.costs.begin(), a.costs.end(), [&](const Cost& c) { return c.left_out == all; });
  std::string why  = all.substr(0, all.find('\n'));
  if (why.ends_with('.')) why.pop_back();
  a.reason = same && !why.empty()
                 ? fmt::format("nothing fits: {}", why)
                 : fmt::format("nothing fits{}; use a smaller batch, a smaller model, or more memory", limit);
}

}  // namespace

std::string_view name_of(Form form) {
  return form == Form::Step ? "step" : form == Form::Window ? "window" : "truncated";
}

Advice advise(Module& model, const std::string& name, const Type& input, const AdviseOptions& options) {
  require(options.batch > 0 && options.length > 0, "advise: batch and length must be positive, got {} and {}.",
          options.batch, options.length);
  // Only other processes open a device: a process forked after opening it could not use it.
  const std::string problem = run_apart([&] { return find_backend(options.backend).problem(); }, {});
  require(problem.empty(), "advise: estimates need compiled programs, but {}{}", problem,
          problem.ends_with('.') ? "" : ".");
  const int64_t      device    = apart([&] { return find_backend(options.backend).memory().value_or(0); }, {});
  const bool         on_device = device > 0;
  const int64_t      free      = on_device ? device : physical_memory();
  const BackendScope compiled(options.backend);
  Type               batched = input;
  batched.shape.insert(batched.shape.begin(), options.batch);
  Advice a{name, batched, options, {}, {}, {}};
  for (Candidate& c : candidates(options)) a.costs.push_back({std::move(c), {}, {}, 0, 0, 0, {}, {}});
  const int64_t most    = std::max(options.memory.value_or(0), physical_memory() / 2);
  const int64_t room    = on_device ? 0 : most;      // a driver takes more address space than there is memory
  const int64_t weights = bytes_of(model.params());  // which are there before a candidate begins
  // No thread may run in this process before it forks the others.
  const Yardstick yardstick = apart([&] { return Yardstick::measured(options.backend); }, {measuring_seconds, 0});
  for (Cost& c : a.costs) {
    // A rule that cannot run in one form cannot run in the others.
    const auto same = std::find_if(a.costs.data(), &c, [&](const Cost& before) {
      return before.candidate.rule == c.candidate.rule && !before.left_out.empty();
    });
    if (same != &c) {
      c.left_out = same->left_out;
      continue;
    }
    const auto workload = [&] { return Workload(model, batched, c.candidate, options, most); };
    try {
      const auto e = apart(
          [&] {
            const int64_t before = resident_bytes();
            Workload      w      = workload();
            return estimate(w, find_backend(options.backend), on_device, before);
          },
          {preparation_seconds, room});
      c.memory           = e.memory;
      c.flops_per_step   = e.work.flops() / e.steps;
      c.bytes_per_step   = e.work.bytes() / e.steps;
      c.seconds_per_step = yardstick.seconds(e.work) / e.steps;
      if (!options.measure) continue;
      const auto m = apart(
          [&] {
            const int64_t before = on_device ? *default_backend().memory() : resident_bytes() - weights;
            Workload      w      = workload();
            const Moment  ran    = run_for_a_moment(w);
            return Measured{ran.free ? before - *ran.free : peak_resident_bytes() - before, ran.seconds};
          },
          {measuring_seconds, room});
      c.measured_memory = m.memory, c.measured_seconds = m.seconds;
    } catch (const UserError& error) {
      c.left_out = error.what();
    }
  }
  recommend(a, free);
  return a;
}

}  // namespace braintrace
