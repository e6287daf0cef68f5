// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/window_program.h"

#include <algorithm>

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

// How the states of a step travel through a window: those it writes are carried, the others are the same in every step.
struct StateWays {
  std::vector<int> read_of_write;  // index among the reads, or -1
  std::vector<int> write_of_read;  // index among the writes, or -1

  explicit StateWays(const StatefulProgram& step) : write_of_read(step.reads.size(), -1) {
    for (size_t w = 0; w < step.writes.size(); ++w) {
      const auto at = std::find(step.reads.begin(), step.reads.end(), step.writes[w]);
      read_of_write.push_back(at == step.reads.end() ? -1 : static_cast<int>(at - step.reads.begin()));
      if (read_of_write[w] >= 0) write_of_read[read_of_write[w]] = static_cast<int>(w);
    }
  }
};

class WindowBuilder {
 public:
  WindowBuilder(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options)
      : graph_(graph),
        info_(graph.module_info),
        step_(info_.step),
        rule_(rule),
        options_(options),
        ways_(step_),
        in_types_(info_.program().types_of(info_.program().args)),
        out_types_(info_.program().types_of(info_.program().results)),
        adjoint_types_(options.method == VjpMethod::SingleStep ? rule.adjoint(graph) : Types()) {}

  WindowProgram build() {
    forward_             = Builder::open();
    const Tensors args   = arguments(*forward_, timed(part(in_types_, 0, step_.num_args)));
    const Tensors states = arguments(*forward_, part(in_types_, step_.num_args, step_.reads.size()));
    const Tensors given  = arguments(*forward_, types_of(rule_.memory(graph_)));
    const Tensors aux    = arguments(*forward_, timed(options_.aux));
    const Tensors memory = options_.fresh ? zeros(types_of(given)) : given;
    if (options_.check_finite) call_ = forward_->argument(Type{DType::I64, {}});
    Outcome run = options_.length ? run_window(args, states, memory, aux) : run_step(args, states, memory, aux);
    if (options_.fresh) run.memory = zeros(types_of(given));

    Traced forward_run = forward_->finish(concatenated(concatenated(run.results, run.memory), run.back.constants));
    WindowProgram out;
    out.num_residuals     = run.back.constants.size();
    out.forward           = simplify(expand_composites(forward_run.program));
    out.forward_constants = std::move(forward_run.constants);
    out.backward          = simplify(expand_composites(constants_as_args(run.back.program)));
    return out;
  }

 private:
  // The backward program is traced inside the forward one: what it needs of it are its constants, the residuals.
  struct Outcome {
    Tensors results, memory;
    Traced  back;
  };

  Types timed(Types types) const {
    if (options_.length)
      for (Type& t : types) t.shape.insert(t.shape.begin(), *options_.length);
    return types;
  }
  static Tensors arguments(Builder& builder, const Types& types) {
    Tensors out;
    for (const Type& t : types) out.push_back(builder.argument(t));
    return out;
  }
  static Tensors zeros(const Types& types) { return instantiated(Tensors(types.size()), types); }

  // When a step runs, for messages about its values; undefined when nothing is checked.
  Tensor when(const Tensor& t) const { return call_.defined() ? stack({call_, t}, 0) : Tensor(); }
  // The memory after a step.
  Tensors advance(Step& step, const Tensors& memory, const Tensors& aux, const Tensor& when) const {
    Tensors after = rule_.advance(step, memory, aux);
    if (!when.defined()) return after;
    const MemorySlots slots = rule_.memory(graph_);
    for (size_t i = 0; i < after.size(); ++i) {
      const int         r  = slots[i].relation;
      const std::string of = r < 0 ? std::string() : " of " + graph_.hidden_param_op_relations[r].weight_path.str();
      after[i]             = checked_finite(after[i], when, "the " + slots[i].kind + of);
    }
    return after;
  }

  // ∂/∂inputs of one step, and the adjoint for the step before.
  Retreat retreat(Step& step, const StepBack& at) const {
    if (options_.method == VjpMethod::SingleStep) return rule_.retreat(step, at);
    return {step.pull(at.ct).inputs, {}};
  }

  // Adds what the memory contributes; `inputs` are the cotangents of the first step's inputs.
  void enter(Step& first, const Tensors& memory, const Tensors& adjoint, Tensors& inputs) const {
    if (options_.fresh) return;
    Tensors leaf_gradients(info_.weights.size());
    if (options_.method == VjpMethod::SingleStep)
      rule_.enter(first, memory, adjoint, leaf_gradients);
    else
      rule_.recall(first, memory, entry_credit(inputs), leaf_gradients);
    first.add_to_inputs(leaf_gradients, inputs);
  }
  // Cotangents of the hidden states at the start, per group.
  Tensors entry_credit(const Tensors& inputs) const {
    const Vars& args = info_.program().args;
    Tensors     out;
    for (const HiddenGroup& g : graph_.hidden_groups) {
      Tensors members;
      for (Var v : g.entries()) members.push_back(inputs[std::find(args.begin(), args.end(), v) - args.begin()]);
      out.push_back(g.concat_hidden(instantiated(members, info_.program().types_of(g.entries()))));
    }
    return out;
  }

  Outcome run_step(const Tensors& args, const Tensors& states, const Tensors& memory, const Tensors& aux) const {
    const Tensor  now = when(Tensor(Type{DType::I32, {}}, 0));
    Step          step(graph_, concatenated(args, states), now);
    const Tensors after    = advance(step, memory, aux, now);
    auto          backward = Builder::open();
    const Tensors ct       = arguments(*backward, out_types_);
    Retreat       back     = retreat(step, {memory, after, aux, ct, Tensors(adjoint_types_.size())});
    enter(step, memory, back.adjoint, back.inputs);
    return {step.results(), after, backward->finish(instantiated(back.inputs, in_types_))};
  }

  // Which parts of the adjoint are ever non-zero, starting from none behind the window.
  Mask live_adjoint() const {
    for (Mask live(adjoint_types_.size());;) {
      auto          scratch = Builder::open();
      const Tensors inputs  = arguments(*scratch, in_types_),
                    memory  = arguments(*scratch, types_of(rule_.memory(graph_)));
      const Tensors aux = arguments(*scratch, options_.aux), ct = arguments(*scratch, out_types_);
      const Tensors adjoint = spread(arguments(*scratch, chosen(adjoint_types_, live)), live);
      Step          step(graph_, inputs);
      Mask          next = defined_mask(retreat(step, {memory, memory, aux, ct, adjoint}).adjoint);
      for (size_t i = 0; i < live.size(); ++i) next[i] = next[i] || live[i];
      if (next == live) return live;
      live = next;
    }
  }

  // The way back through one step of a window, (ct results, adjoint) → (ct inputs, adjoint), and what it needs of the
  // forward run.
  struct WayBack {
    Traced  step;
    Mask    differs;   // its constants that differ from step to step; the others belong to the whole window
    Tensors per_step;  // those that differ, stacked
    Mask    live;      // parts of the adjoint that are carried
    Types   adjoints;  // their types
  };

  Outcome run_window(const Tensors& args, const Tensors& states, const Tensors& memory, const Tensors& aux) const {
    const size_t n_out = step_.num_results, n_write = step_.writes.size(), n_args = step_.num_args;
    const bool   gathers = !options_.check_finite && rule_.gathers(graph_), leaves_memory = !options_.fresh;
    WayBack      back;
    back.live     = live_adjoint();
    back.adjoints = chosen(adjoint_types_, back.live);

    // Forward: states that are written are carried, and the memory unless the rule gathers it; each step leaves its
    // outputs, the values of states that are only written, the factors of the memory, and what its way back needs.
    Mask carried(n_write);
    for (size_t w = 0; w < n_write; ++w) carried[w] = ways_.read_of_write[w] >= 0;
    Tensors carry;
    for (size_t w = 0; w < n_write; ++w)
      if (carried[w]) carry.push_back(states[ways_.read_of_write[w]]);
    const size_t n_carried = carry.size();
    if (!gathers) carry = concatenated(carry, memory);

    Tensors factors;  // of the memory, as the body knows them
    Mask    varies;   // those that differ from step to step
    auto    body = [&](const Tensors& now, const Tensors& x) -> ScanResult {
      const auto here   = innermost_trace(concatenated(now, x));
      Tensors    values = states;
      size_t     next   = 0;
      for (size_t w = 0; w < n_write; ++w)
        if (carried[w]) values[ways_.read_of_write[w]] = now[next++];
      const Tensors before = part(now, n_carried, now.size() - n_carried);
      const Tensors extra  = part(x, n_args, aux.size());
      const Tensor  at     = options_.check_finite ? when(x.back()) : Tensor();
      Step          step(graph_, concatenated(part(x, 0, n_args), values), at);
      const Tensors after = gathers ? Tensors() : advance(step, before, extra, at);
      if (gathers && leaves_memory) factors = rule_.factors(step);

      auto          backward = Builder::open();
      const Tensors ct       = arguments(*backward, out_types_);
      const Tensors adjoint  = arguments(*backward, back.adjoints);
      const Retreat r        = retreat(step, {before, after, extra, ct, spread(adjoint, back.live)});
      back.step              = backward->finish(
                          concatenated(instantiated(r.inputs, in_types_), instantiated(chosen(r.adjoint, back.live), back.adjoints)));
      back.step.program = simplify(expand_composites(back.step.program));

      const Tensors results = step.results();
      ScanResult    out;
      for (size_t w = 0; w < n_write; ++w)
        if (carried[w]) out.carry.push_back(results[n_out + w]);
      out.carry = concatenated(out.carry, after);
      out.ys    = part(results, 0, n_out);
      for (size_t w = 0; w < n_write; ++w)
        if (!carried[w]) out.ys.push_back(results[n_out + w]);
      const auto is_mine = [&](const Tensor& t) { return t.defined() && innermost_trace({t}) == here; };
      for (const Tensor& t : factors) varies.push_back(is_mine(t));
      for (const Tensor& t : back.step.constants) back.differs.push_back(is_mine(t));
      out.ys = concatenated(concatenated(out.ys, chosen(factors, varies)), chosen(back.step.constants, back.differs));
      return out;
    };
    Tensors rows = concatenated(args, aux);
    if (options_.check_finite) rows.push_back(arange(*options_.length));
    const ScanResult run = scan(body, carry, rows, {.length = *options_.length});

    Outcome out;
    out.results = part(run.ys, 0, n_out);
    size_t next = 0, left = n_out;
    for (size_t w = 0; w < n_write; ++w)
      out.results.push_back(carried[w] ? run.carry[next++] : row(run.ys[left++], *options_.length - 1));
    for (size_t i = 0; i < factors.size(); ++i)
      if (factors[i].defined()) factors[i] = varies[i] ? run.ys[left++] : repeated(factors[i]);
    if (leaves_memory)
      out.memory = gathers ? rule_.gathered(graph_, memory, factors) : part(run.carry, n_carried, memory.size());

    back.per_step          = part(run.ys, left, run.ys.size() - left);
    auto          backward = Builder::open();
    const Tensors ct =
        arguments(*backward, joined(timed(part(out_types_, 0, n_out)), part(out_types_, n_out, n_write)));
    out.back = backward->finish(run_back(back, ct, {args, states, memory}));
    return out;
  }

  // The same in every step of the window. A value of the forward trace, so that nothing of this size is made before the
  // program runs.
  Tensor repeated(const Tensor& t) const {
    const Tensor once  = t.is_traced() ? t : Tensor(forward_, forward_->use(t), t.type());
    Shape        shape = t.shape();
    shape.insert(shape.begin(), *options_.length);
    return broadcast_to(expand_dims(once, 0), shape);
  }

  struct Entry {
    const Tensors &args, &states, &memory;
  };

  // The steps from the last to the first. Carried: the adjoint, cotangents of the states as written by the step at
  // hand, cotangents of the carried states as it reads them, and sums for the states that are the same in every step.
  Tensors run_back(const WayBack& way, const Tensors& ct, const Entry& entry) const {
    const size_t n_args = step_.num_args, n_out = step_.num_results, n_read = step_.reads.size(),
                 n_write = step_.writes.size(), n_adjoint = way.adjoints.size();
    const Types   read_types = part(in_types_, n_args, n_read);
    const Tensors carry = concatenated(concatenated(zeros(way.adjoints), part(ct, n_out, n_write)), zeros(read_types));
    auto          body  = [&](const Tensors& now, const Tensors& x) -> ScanResult {
      const Tensors adjoint = part(now, 0, n_adjoint), written = part(now, n_adjoint, n_write),
                    sums = part(now, n_adjoint + n_write, n_read);
      Tensors constants  = spread(part(x, n_out, way.per_step.size()), way.differs);
      for (size_t i = 0; i < constants.size(); ++i)
        if (!way.differs[i]) constants[i] = way.step.constants[i];
      const Tensors found =
          replay(way.step.program, constants, concatenated(concatenated(part(x, 0, n_out), written), adjoint));
      const Tensors read = part(found, n_args, n_read);
      Tensors       next_written, next_sums;
      for (size_t w = 0; w < n_write; ++w) {
        const int  r    = ways_.read_of_write[w];
        const bool back = options_.method == VjpMethod::MultiStep && r >= 0;
        next_written.push_back(back ? read[r] : Tensor(out_types_[n_out + w], 0));
      }
      for (size_t r = 0; r < n_read; ++r)
        next_sums.push_back(ways_.write_of_read[r] >= 0 ? read[r] : sums[r] + read[r]);
      return {concatenated(concatenated(part(found, n_args + n_read, n_adjoint), next_written), next_sums),
              part(found, 0, n_args)};
    };
    const ScanResult run    = scan(body, carry, concatenated(part(ct, 0, n_out), way.per_step),
                                   {.length = *options_.length, .reverse = true});
    Tensors          inputs = concatenated(run.ys, part(run.carry, n_adjoint + n_write, n_read));

    // The step that reads the memory is the first one; what is not needed of it is dropped later.
    Tensors first_inputs;
    for (const Tensor& a : entry.args) first_inputs.push_back(row(a, 0));
    Step first(graph_, concatenated(first_inputs, entry.states));
    enter(first, entry.memory, spread(part(run.carry, 0, n_adjoint), way.live), inputs);
    return inputs;
  }

  const ETraceGraph&       graph_;
  const ModuleInfo&        info_;
  const StatefulProgram&   step_;
  const LearningRule&      rule_;
  const WindowOptions&     options_;
  StateWays                ways_;
  Types                    in_types_, out_types_, adjoint_types_;
  Tensor                   call_;  // its number, when values are checked
  std::shared_ptr<Builder> forward_;
};

}  // namespace

WindowProgram build_window_program(const ETraceGraph& graph, const LearningRule& rule, const WindowOptions& options) {
  require(!options.length || *options.length > 0, "learner: a window needs at least one step, got {}.",
          options.length.value_or(0));
  return WindowBuilder(graph, rule, options).build();
}

}  // namespace braintrace
