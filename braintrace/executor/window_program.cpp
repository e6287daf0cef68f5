// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/window_program.h"

#include <algorithm>

#include "braintrace/base/pack.h"
#include "braintrace/control/scan.h"
#include "braintrace/executor/check_finite.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/transforms/simplify.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

// The backward pass of a step maps cotangents of its results, and the adjoint, to cotangents of its inputs and the
// adjoint of the previous step.
template <class List>
struct Back {
  List ct, adjoint;
};

// The forward loop over the steps: carry, inputs and outputs of each iteration.
template <class List>
struct Carry {
  List states, memory;  // states that the step reads and writes; no memory if traces are gathered
};
template <class List>
struct Given {
  List args, aux, number;  // number: index of the step, if values are checked
};
template <class List>
struct Left {
  List out, states, factors, residuals;  // states: only written, not read; factors: of the traces
};
// The backward loop: the adjoint, cotangents of the states written by this step and of those read by the next.
// Cotangents of states that no step writes are summed.
template <class List>
struct CarryBack {
  List adjoint, written, read;
};
template <class List>
struct GivenBack {
  List out, residuals;
};

Tensors arguments(Builder& builder, const Types& types) {
  Tensors out;
  for (const Type& t : types) out.push_back(builder.argument(t));
  return out;
}
template <template <class> class P>
P<Tensors> arguments(Builder& builder, const P<Types>& types) {
  return split(arguments(builder, joined(types)), types);
}
Tensors zeros(const Types& types) { return instantiated(Tensors(types.size()), types); }

// Which tensors are values of this trace; the others come from outside.
Mask made_in(const std::shared_ptr<Builder>& trace, const Tensors& tensors) {
  Mask out;
  for (const Tensor& t : tensors) out.push_back(t.defined() && innermost_trace({t}) == trace);
  return out;
}

class WindowBuilder {
 public:
  WindowBuilder(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options)
      : graph_(graph), info_(graph.module_info), rule_(rule), options_(options), slots_(rule.memory(graph)) {
    const StatefulProgram& step = info_.step;
    in_                         = step.input_types();
    out_                        = split(step.program.types_of(step.program.results), step.result_sizes());
    for (const StateLeaf& leaf : step.writes) {
      const auto at = std::find(step.reads.begin(), step.reads.end(), leaf);
      read_of_write_.push_back(at == step.reads.end() ? -1 : static_cast<int>(at - step.reads.begin()));
      is_carried_.push_back(at != step.reads.end());
      is_only_written_.push_back(at == step.reads.end());
    }
    if (options.method == VjpMethod::SingleStep) adjoint_types_ = rule.adjoint(graph);
    if (const auto recursion = rule.recursion(); recursion && options.length && !options.check_finite)
      if (Traces traces(graph, *recursion); traces.gathers()) gathered_.emplace(std::move(traces));
  }

  WindowProgram build() {
    forward_ = Builder::open();
    start_   = arguments(
          *forward_, WindowInputs<Types>{joined(StatefulInputs<Types>{timed(in_.args), in_.reads}), types_of(slots_),
                                         timed(options_.aux), options_.check_finite ? Types{{DType::I64, {}}} : Types()});
    step_ = split(start_.step, in_);
    drop(start_.memory);
    Outcome run = options_.length ? run_window() : run_step();
    drop(run.memory);

    Traced forward_run = forward_->finish(joined(WindowResults<Tensors>{run.results, run.memory, run.back.constants}));
    WindowProgram out;
    out.num_residuals     = run.back.constants.size();
    out.forward           = simplify(expand_composites(forward_run.program));
    out.forward_constants = std::move(forward_run.constants);
    out.backward          = simplify(expand_composites(constants_as_args(run.back.program)));
    return out;
  }

 private:
  // The backward program is traced inside the forward one, so the forward values it uses become its constants: the
  // residuals.
  struct Outcome {
    Tensors results, memory;
    Traced  back;
  };
  // The backward pass of one step of a window, and the residuals it needs.
  struct WayBack {
    Traced  step;      // Back → Back
    Mask    differs;   // which constants differ from step to step; the others are the same for the whole window
    Tensors per_step;  // the former, stacked over time
    Mask    live;      // components of the adjoint that can be non-zero
    Types   adjoints;  // their types
  };

  Types timed(Types types) const {
    if (options_.length)
      for (Type& t : types) t = stacked(std::move(t), *options_.length);
    return types;
  }
  // In a fresh window, only slots that last enter and leave the memory.
  void drop(Tensors& memory) const {
    for (size_t i = 0; options_.fresh && i < slots_.size(); ++i)
      if (!slots_[i].lasts) memory[i] = Tensor(slots_[i].type, 0);
  }

  // The states that the step reads and writes, in the order of its writes; and the inverse: all states it reads, with
  // new values for those.
  Tensors carried(const Tensors& states) const {
    Tensors out;
    for (int r : read_of_write_)
      if (r >= 0) out.push_back(states[r]);
    return out;
  }
  Tensors with_carried(Tensors states, const Tensors& now) const {
    size_t next = 0;
    for (int r : read_of_write_)
      if (r >= 0) states[r] = now[next++];
    return states;
  }

  // Call and step number for error messages; undefined if values are not checked.
  Tensor when(const Tensor& t) const { return start_.call.empty() ? Tensor() : stack({start_.call[0], t}, 0); }
  // Advances the memory by one step and checks it.
  Tensors advance(Step& step, const Tensors& memory, const Tensors& aux, const Tensor& when) const {
    Tensors after = rule_.advance(step, memory, aux);
    for (size_t i = 0; when.defined() && i < after.size(); ++i) {
      const int         r  = slots_[i].relation;
      const std::string of = r < 0 ? std::string() : " of " + graph_.hidden_param_op_relations[r].weight_path.str();
      after[i]             = checked_finite(after[i], when, "the " + slots_[i].kind + of);
    }
    return after;
  }

  // Cotangents of the inputs of one step, and the adjoint for the previous step.
  Retreat retreat(Step& step, const StepBack& at) const {
    if (options_.method == VjpMethod::SingleStep) return rule_.retreat(step, at);
    return {step.pull(at.ct).inputs, {}};
  }

  // Adds the contribution of the memory; `inputs` are the cotangents of the first step's inputs.
  void enter(Step& first, const Tensors& adjoint, Tensors& inputs) const {
    if (options_.fresh) return;
    Tensors    leaf_gradients(info_.weights.size());
    const auto credit = [&](const HiddenVar& h) {
      const Tensor& ct = inputs[input_index(info_, h.in)];
      return ct.defined() ? ct : Tensor(info_.program().type(h.in), 0);
    };
    if (options_.method == VjpMethod::SingleStep)
      rule_.enter(first, start_.memory, adjoint, leaf_gradients);
    else
      rule_.recall(first, start_.memory, per_group(graph_, credit), leaf_gradients);
    first.add_to_inputs(leaf_gradients, inputs);
  }

  Outcome run_step() const {
    const Tensor  now = when(Tensor(Type{DType::I32, {}}, 0));
    Step          step(graph_, start_.step, now);
    const Tensors after    = advance(step, start_.memory, start_.aux, now);
    auto          backward = Builder::open();
    const Tensors ct       = arguments(*backward, joined(out_));
    Retreat       back     = retreat(step, {start_.memory, after, start_.aux, ct, Tensors(adjoint_types_.size())});
    enter(step, back.adjoint, back.inputs);
    return {step.results(), after, backward->finish(instantiated(back.inputs, joined(in_)))};
  }

  // Which components of the adjoint are ever non-zero: a fixed point that starts with none after the window.
  Mask live_adjoint() const {
    for (Mask live(adjoint_types_.size());;) {
      auto          scratch = Builder::open();
      const Tensors inputs = arguments(*scratch, joined(in_)), memory = arguments(*scratch, types_of(slots_));
      const Tensors aux = arguments(*scratch, options_.aux), ct = arguments(*scratch, joined(out_));
      const Tensors adjoint = spread(arguments(*scratch, chosen(adjoint_types_, live)), live);
      Step          step(graph_, inputs);
      Mask          next = defined_mask(retreat(step, {memory, memory, aux, ct, adjoint}).adjoint);
      for (size_t i = 0; i < live.size(); ++i) next[i] = next[i] || live[i];
      if (next == live) return live;
      live = next;
    }
  }

  // The forward scan over the steps, which also traces the backward pass of a step.
  Outcome run_window() const {
    const Carry<Tensors> start{carried(step_.reads), gathered_ ? Tensors() : start_.memory};
    const Given<Tensors> given{step_.args, start_.aux,
                               options_.check_finite ? Tensors{arange(*options_.length)} : Tensors()};
    Left<size_t>         left;
    Tensors              factors;  // factors of the traces, as values of the body
    Mask                 varies;   // those that differ from step to step
    WayBack              way;
    way.live        = live_adjoint();
    way.adjoints    = chosen(adjoint_types_, way.live);
    const auto body = [&](const Tensors& carry, const Tensors& row) -> ScanResult {
      const auto           here = innermost_trace(joined(carry, row));
      const Carry<Tensors> now  = split(carry, start);
      const Given<Tensors> x    = split(row, given);
      const Tensor         at   = x.number.empty() ? Tensor() : when(x.number[0]);
      Step                 step(graph_, joined(x.args, with_carried(step_.reads, now.states)), at);
      const Tensors        after = gathered_ ? Tensors() : advance(step, now.memory, x.aux, at);
      if (gathered_ && !options_.fresh) factors = gathered_->factors(step);
      way.step    = step_back(step, now.memory, after, x.aux, way);
      varies      = made_in(here, factors);
      way.differs = made_in(here, way.step.constants);

      const StatefulResults<Tensors> results = split(step.results(), out_);
      const Left<Tensors> mine{results.results, chosen(results.writes, is_only_written_), chosen(factors, varies),
                               chosen(way.step.constants, way.differs)};
      left = section_sizes(mine);
      return {joined(Carry<Tensors>{chosen(results.writes, is_carried_), after}), joined(mine)};
    };
    const ScanResult     run = scan(body, joined(start), joined(given), {.length = *options_.length});
    const Carry<Tensors> end = split(run.carry, start);
    const Left<Tensors>  all = split(run.ys, left);

    Outcome out{joined(all.out, written(end.states, all.states)), end.memory, {}};
    if (gathered_) out.memory = start_.memory;
    if (gathered_ && !options_.fresh)
      out.memory = gathered_->gathered(start_.memory, over_window(factors, varies, all.factors));
    way.per_step = all.residuals;
    out.back     = window_back(way);
    return out;
  }

  // The states a window writes: the carried ones, and the last row of the others.
  Tensors written(const Tensors& carried, const Tensors& rows) const {
    Tensors out  = spread(carried, is_carried_);
    size_t  next = 0;
    for (Tensor& t : out)
      if (!t.defined()) t = row(rows[next++], *options_.length - 1);
    return out;
  }

  // Factors with a time axis: stacked by the loop, or broadcast if constant. Broadcasts are values of the forward
  // trace, so that nothing of this size is allocated before the program runs.
  Tensors over_window(const Tensors& factors, const Mask& varies, const Tensors& stacked) const {
    Tensors out = spread(stacked, varies);
    for (size_t i = 0; i < out.size(); ++i) {
      const Tensor& t = factors[i];
      if (varies[i] || !t.defined()) continue;
      out[i] = repeated(t.is_traced() ? t : Tensor(forward_, forward_->use(t), t.type()), *options_.length);
    }
    return out;
  }

  // The backward pass of a step, traced inside its forward pass.
  Traced step_back(Step& step, const Tensors& before, const Tensors& after, const Tensors& aux,
                   const WayBack& way) const {
    auto                backward = Builder::open();
    const Back<Tensors> in       = arguments(*backward, Back<Types>{joined(out_), way.adjoints});
    const Retreat       r        = retreat(step, {before, after, aux, in.ct, spread(in.adjoint, way.live)});
    Traced              out      = backward->finish(joined(
                          Back<Tensors>{instantiated(r.inputs, joined(in_)), instantiated(chosen(r.adjoint, way.live), way.adjoints)}));
    out.program                  = simplify(expand_composites(out.program));
    return out;
  }

  // The reversed scan over the steps, then the contribution of the memory before the window.
  Traced window_back(const WayBack& way) const {
    auto                           backward = Builder::open();
    const StatefulResults<Tensors> ct = arguments(*backward, StatefulResults<Types>{timed(out_.results), out_.writes});
    const CarryBack<Tensors>       start{zeros(way.adjoints), ct.writes, zeros(in_.reads)};
    const GivenBack<Tensors>       given{ct.results, way.per_step};
    const auto                     body = [&](const Tensors& carry, const Tensors& row) -> ScanResult {
      const CarryBack<Tensors> now       = split(carry, start);
      const GivenBack<Tensors> x         = split(row, given);
      Tensors                  constants = spread(x.residuals, way.differs);
      for (size_t i = 0; i < constants.size(); ++i)
        if (!way.differs[i]) constants[i] = way.step.constants[i];
      const Tensors found =
          replay(way.step.program, constants, joined(Back<Tensors>{joined(x.out, now.written), now.adjoint}));
      const auto back = split(found, Back<size_t>{in_.args.size() + in_.reads.size(), now.adjoint.size()});
      const auto mine = split(back.ct, in_);
      return {joined(CarryBack<Tensors>{back.adjoint, to_step_before(mine.reads), with_sums(mine.reads, now.read)}),
              mine.args};
    };
    const ScanResult run = scan(body, joined(start), joined(given), {.length = *options_.length, .reverse = true});
    const CarryBack<Tensors> end    = split(run.carry, start);
    Tensors                  inputs = joined(run.ys, end.read);

    // The first step reads the memory. Dead-code elimination removes what is not needed of it.
    Tensors first_args;
    for (const Tensor& a : step_.args) first_args.push_back(row(a, 0));
    Step first(graph_, joined(first_args, step_.reads));
    enter(first, spread(end.adjoint, way.live), inputs);
    return backward->finish(inputs);
  }
  // Cotangents of the states a step reads, as cotangents of the states the previous step wrote; zero if credit
  // propagates only along traces.
  Tensors to_step_before(const Tensors& read) const {
    Tensors out = zeros(out_.writes);
    for (size_t w = 0; w < out.size() && options_.method == VjpMethod::MultiStep; ++w)
      if (read_of_write_[w] >= 0) out[w] = read[read_of_write_[w]];
    return out;
  }
  // Only the first step reads the initial value of a carried state; every step reads the other states.
  Tensors with_sums(const Tensors& read, const Tensors& later) const {
    Mask is_written(read.size());
    for (int r : read_of_write_)
      if (r >= 0) is_written[r] = true;
    Tensors out;
    for (size_t r = 0; r < read.size(); ++r) out.push_back(is_written[r] ? read[r] : later[r] + read[r]);
    return out;
  }

  const ETraceGraph&       graph_;
  const ModuleInfo&        info_;
  const LearningRule&      rule_;
  const WindowOptions&     options_;
  const MemorySlots        slots_;
  StatefulInputs<Types>    in_;
  StatefulResults<Types>   out_;
  std::vector<int>         read_of_write_;  // of each state the step writes: its index among those it reads, or -1
  Mask                     is_carried_, is_only_written_;
  Types                    adjoint_types_;
  std::optional<Traces>    gathered_;  // set if traces are computed at the end of the window
  std::shared_ptr<Builder> forward_;
  WindowInputs<Tensors>    start_;  // inputs of the forward program
  StatefulInputs<Tensors>  step_;   // start_.step, split; in a window, the arguments have a time axis
};

}  // namespace

WindowProgram build_window_program(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options) {
  require(!options.length || *options.length > 0, "learner: a window needs at least one step, got {}.",
          options.length.value_or(0));
  return WindowBuilder(graph, rule, options).build();
}

}  // namespace braintrace
