// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/learner.h"

#include <algorithm>

#include <fmt/format.h>

#include "braintrace/algorithms/compiled_learner.h"
#include "braintrace/base/pack.h"
#include "braintrace/control/custom.h"
#include "braintrace/ops/copy.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {

namespace {

std::string program_key(const WindowOptions& o) {
  std::string key = fmt::format("{} {} {}", static_cast<int>(o.method), o.length.value_or(0), o.fresh);
  for (const Type& t : o.aux) key += " " + to_string(t);
  return key;
}

std::string listed(const Types& types) {
  std::vector<std::string> parts;
  for (const Type& t : types) parts.push_back(to_string(t));
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

OnlineLearner::OnlineLearner(Module& model, std::shared_ptr<const LearningRule> rule, LearnerOptions options)
    : model_(&model), rule_(std::move(rule)), options_(std::move(options)) {
  options_.vjp_method = rule_->method(options_.vjp_method);
}
OnlineLearner::~OnlineLearner() = default;

const ETraceGraph& OnlineLearner::graph() const { return compiled().graph; }
const MemorySlots& OnlineLearner::memory_slots() const { return compiled().slots; }

void OnlineLearner::set_modulator(Tensor) {
  fail("{}: it takes no modulator; use a rule whose learning signal is one, such as ThreeFactor.", rule_->name());
}
void OnlineLearner::attach_synthesizer(std::shared_ptr<const SyntheticGradient>) {
  fail("{}: it takes no synthesizer; use a rule that estimates later credit, such as DNI.", rule_->name());
}
std::vector<Shape> OnlineLearner::group_signal_shapes() const {
  std::vector<Shape> out;
  for (const HiddenGroup& g : graph().hidden_groups) out.push_back(g.on_positions({g.num_state}));
  return out;
}

Tensors OnlineLearner::update(const Tensors& x) { return run(x, {.method = options_.vjp_method}); }

const OnlineLearner::Compiled& OnlineLearner::compiled() const {
  require(is_compiled(), "learner: call compile_graph with an example input first.");
  return *compiled_;
}

void OnlineLearner::check_parts() const {
  const StateMap &then = compiled().parts, now = model_->states();
  for (size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
    if (i < std::min(then.size(), now.size()) && then[i].first == now[i].first && then[i].second == now[i].second)
      continue;
    const bool is_gone = i == now.size() || (i < then.size() && then[i].first < now[i].first);
    const bool is_more = i == then.size() || (i < now.size() && now[i].first < then[i].first);
    fail(ErrorKind::State,
         "learner: {} of the model was {} after compile_graph; the learner would not use it.\n  Make a new learner for "
         "the changed model.",
         (is_gone ? then : now)[i].first.str(),
         is_gone   ? "removed"
         : is_more ? "added"
                   : "replaced");
  }
}

void OnlineLearner::compile_graph(const StepInputs& inputs) {
  if (is_compiled()) return;
  compile(inputs.types);
  tell_warnings(graph().diagnostics);
}

void OnlineLearner::compile(const Types& args) {
  Compiled c{compile_etrace_graph(*model_, args, rule_->scope(options_.compile)),
             {},
             {},
             LongTermState(Tensor(Type{DType::I64, {}}, 0)),
             model_->states(),
             {}};
  c.slots                        = rule_->memory(c.graph);
  c.running_index.cell()->places = {{{}, "running_index"}};
  for (const MemorySlot& s : c.slots) {
    StateCell& cell = *c.memory.emplace_back(LongTermState(Tensor(s.type, 0))).cell();
    cell.places     = {{{}, fmt::format("etrace.{}", c.memory.size() - 1)}};
    if (!is_float(s.type.dtype)) continue;  // a counter
    for (const HiddenVar& h : c.graph.module_info.hidden) cell.follows.push_back(h.state.cell());
  }
  compiled_ = std::make_unique<Compiled>(std::move(c));
}

namespace {

// Wraps a step function as a model, so that the compiler sees the computation around the learner's model. The model's
// states keep their names and the order in which the model first uses them.
struct StepModel : Module {
  Function               step;
  std::vector<StateLeaf> touched;

  StepModel(const OnlineLearner& learner, Function f)
      : Module(learner.model()), step(std::move(f)), touched(learner.graph().module_info.step.reads) {}
  Tensors update_all(const Tensors& xs) override {
    const OutsideUpdate outside;
    for (const StateLeaf& leaf : touched) leaf.value();
    return step(xs);
  }
};

struct StepLearner : private StepModel, public OnlineLearner {
  StepLearner(StepModel model, std::shared_ptr<const LearningRule> rule, LearnerOptions options)
      : StepModel(std::move(model)),
        OnlineLearner(static_cast<StepModel&>(*this), std::move(rule), std::move(options)) {}
};

}  // namespace

std::unique_ptr<OnlineLearner> OnlineLearner::around(Function step, const Types& args) {
  check_parts();
  std::unique_ptr<OnlineLearner> outer =
      std::make_unique<StepLearner>(StepModel(*this, std::move(step)), rule_, options_);
  outer->options_.compile.allow_states_outside = true;
  const ShortTermState output(Tensor(graph().module_info.step.result_types().at(0), 0));
  inlined_ = output;
  struct Restore {
    std::optional<ShortTermState>& place;
    ~Restore() { place.reset(); }
  } restore{inlined_};
  outer->compile(args);
  ModuleInfo& info    = outer->compiled_->graph.module_info;
  const Vars  written = split(info.program().results, info.step.result_sizes()).writes;
  for (size_t w = 0; w < written.size(); ++w)
    if (info.step.writes[w].state == output) info.output = written[w];
  require(types_of(memory_slots()) == types_of(outer->memory_slots()),
          "learner: the function around it must call it once, and add no trainable operation that reaches a hidden "
          "state.\n  Put such operations into the model.");
  outer->compiled_->memory        = compiled().memory;
  outer->compiled_->running_index = compiled().running_index;
  outer->aux_of_                  = this;
  return outer;
}

const WindowProgram& OnlineLearner::program(const WindowOptions& options) {
  const auto [it, is_new] = compiled_->programs.try_emplace(program_key(options));
  if (is_new) {
    try {
      it->second = build_window_program(graph(), *rule_, options);
    } catch (...) {
      compiled_->programs.erase(it);
      throw;
    }
  }
  return it->second;
}

Tensors OnlineLearner::update(const MultiStepData& xs, bool drop_traces) {
  require(!xs.data.empty() && xs.data[0].defined() && xs.data[0].rank() > 0,
          "learner: MultiStepData needs tensors with a leading time axis.");
  return run(xs.data, {.method = options_.vjp_method, .length = xs.data[0].shape()[0], .fresh = drop_traces});
}

Tensors OnlineLearner::update(const std::vector<StepData>& inputs) {
  std::optional<int64_t> length;
  for (const StepData& in : inputs)
    if (const auto* steps = std::get_if<MultiStepData>(&in))
      for (const Tensor& t : steps->data) {
        require(t.defined() && t.rank() > 0, "learner: MultiStepData needs tensors with a leading time axis.");
        if (!length) length = t.shape()[0];
        require(t.shape()[0] == *length, "learner: inputs of {} and {} steps; all must be equally long.", *length,
                t.shape()[0]);
      }
  Tensors xs;
  for (const StepData& in : inputs) {
    const auto* same = std::get_if<SingleStepData>(&in);
    for (const Tensor& t : same ? same->data : std::get<MultiStepData>(in).data)
      xs.push_back(same && length ? repeated(t, *length) : t);
  }
  return run(xs, {.method = options_.vjp_method, .length = length});
}

Tensors OnlineLearner::run(const Tensors& xs, const WindowOptions& given) {
  if (inlined_ && !given.length) {
    Tensors out = model_->call(xs);
    if (rule_->facts().reads_output) {
      out.at(0) = copy(out.at(0));  // a copy separates external readers from those inside the model
      inlined_->set(out[0]);
    }
    return out;
  }
  check_parts();
  require(given.length.value_or(1) > 0, "learner: a window needs at least one step; the inputs have none.");
  const Compiled&        c    = compiled();
  const StatefulProgram& step = c.graph.module_info.step;
  Types                  want = step.input_types().args;
  for (Type& t : want)
    if (given.length) t = stacked(std::move(t), *given.length);
  require(types_of(xs) == want, "learner: compiled for inputs {}, got {}.\n  Inputs keep the types of compile_graph.",
          listed(want), listed(types_of(xs)));
  WindowInputs<Tensors> in{inputs_of(xs), memory(), (aux_of_ ? aux_of_ : this)->aux(given.length), {}};
  if (options_.check_finite) in.call = {c.running_index.value()};
  WindowOptions options = given;
  options.aux           = types_of(in.aux);
  options.check_finite  = options_.check_finite;
  if (options.length)
    for (Type& t : options.aux) t.shape.erase(t.shape.begin());

  const Called<Tensors> out = call(program(options), in, options.fresh);
  for (size_t i = 0; i < c.memory.size(); ++i) c.memory[i].set(out.memory[i]);
  c.running_index.set(c.running_index.value() + 1);
  const Tensors results = step.store(out.step);
  if (!c.memory.empty()) {
    for (const StateLeaf& leaf : step.writes) mark_left_by_learner(leaf);
    if (StateFrame::current() && !given.fresh) add_entry_credit(entry_credit());
  }
  return results;
}

OnlineLearner::Called<Tensors> OnlineLearner::call(const WindowProgram& p, const WindowInputs<Tensors>& given,
                                                   bool fresh) const {
  const Called<size_t>        n{graph().module_info.program().results.size(), given.memory.size()};
  const WindowInputs<size_t>  n_in = section_sizes(given);
  const WindowResults<size_t> n_all{n.step, n.memory, p.num_residuals};

  const auto run     = [&](const Tensors& in) { return split(replay(p.forward, p.forward_constants, in), n_all); };
  const auto outcome = [](const WindowResults<Tensors>& r) { return joined(r.step, r.memory); };
  const auto forward = [&](const Tensors& in) { return outcome(run(in)); };
  // A rule with an estimate of the future appends it to the residuals. A window that drops its traces has none.
  const auto fwd_rule = [&](const Tensors& in) -> ForwardPass {
    const WindowResults<Tensors> r = run(in);
    return {outcome(r), joined(r.residuals, fresh ? Tensors{} : exit_cotangents(r.step))};
  };
  // The memory is not differentiated: its cotangents are ignored and left undefined.
  const auto bwd_rule = [&](const Tensors& kept, const Tensors& ct) {
    const auto [residuals, future] = split(kept, Kept<size_t>{p.num_residuals, kept.size() - p.num_residuals});
    WindowInputs<Tensors> out      = map_sections([](size_t k) { return Tensors(k); }, n_in);
    out.step                       = replay(p.backward, {}, joined(residuals, split(ct, n).step));
    if (!future.empty()) add_untraced(replay(p.backward, {}, joined(residuals, future)), out.step);
    ensure(out.step.size() == n_in.step, "learner: {} cotangents for {} inputs", out.step.size(), n_in.step);
    return instantiated(joined(out), types_of(joined(given)));
  };
  return split(custom_vjp(forward, fwd_rule, bwd_rule)(joined(given)), n);
}

Tensors OnlineLearner::inputs_of(const Tensors& xs) const {
  const StatefulProgram& step  = graph().module_info.step;
  Tensors                reads = step.inputs({});
  for (size_t r = 0; r < reads.size(); ++r)
    require(reads[r].type() == step.read_type(r),
            "learner: compiled with {} of {}, which is {} now.\n  Initialize states with the batch size of "
            "compile_graph, or make a new learner.",
            step.reads[r].place(), to_string(step.read_type(r)), to_string(reads[r].type()));
  if (compiled().memory.empty()) return joined(xs, reads);
  StateSet written, own;
  for (const StateLeaf& leaf : step.writes) written.insert(leaf.state.cell().get());
  own = written;
  for (const State& memory : compiled().memory) own.insert(memory.cell().get());
  for (size_t r = 0; r < reads.size(); ++r) {
    const StateLeaf& leaf  = step.reads[r];
    Tensor&          value = reads[r];
    if (!written.contains(leaf.state.cell().get()) || !is_float(value.dtype())) continue;
    const StateOrigin origin = origin_of(leaf, own);
    if (origin.from == StateOrigin::From::BeforeDerivative) value = origin.value;
    if (origin.from == StateOrigin::From::Learner) value = stop_gradient(value);
    if (origin.from == StateOrigin::From::SomebodyElse)
      require(
          !depends_on_states(origin.value, own),
          "learner: {} was changed outside the model since the learner's last step, to a value that depends on it.\n"
          "  Its traces do not follow the change. Put the change into the model, or into the step function of "
          "etrace_grad.",
          leaf.place());
  }
  return joined(xs, reads);
}

Tensors OnlineLearner::exit_cotangents(const Tensors& results) const {
  const ModuleInfo& info     = graph().module_info;
  const auto        after    = split(results, info.step.result_sizes());
  const auto        vars     = split(info.program().results, after);
  const auto        write_of = [&](Var v) {  // search the states only: a model output may be the same value
    const size_t at = index_of(vars.writes, v);
    ensure(at < vars.writes.size(), "learner: a hidden state is not among the results of the step");
    return at;
  };
  const Tensors hidden = per_group(graph(), [&](const HiddenVar& h) { return after.writes[write_of(h.out)]; });
  const Tensors credit = (aux_of_ ? aux_of_ : this)->exit_credit(hidden);
  if (credit.empty()) return {};
  auto out = split(zeros_of(types_of(results)), after);
  for (const HiddenGroup& g : graph().hidden_groups) {
    const Tensors members = g.split_hidden(stop_gradient(credit[g.index]));
    for (size_t m = 0; m < members.size(); ++m) out.writes[write_of(g.exits()[m])] = members[m];
  }
  return joined(out);
}

void OnlineLearner::add_untraced(const Tensors& from_future, Tensors& in_ct) const {
  const Mask traced = traced_inputs(graph());
  for (size_t i = 0; i < in_ct.size(); ++i)
    if (!traced[i]) in_ct[i] = in_ct[i] + from_future[i];
}

void OnlineLearner::set_memory(const Tensors& values) {
  const Types want = types_of(memory());
  require(types_of(values) == want, "learner: the memory is {}, got {}.", listed(want), listed(types_of(values)));
  for (size_t i = 0; i < values.size(); ++i) compiled().memory[i].set(values[i]);
}

}  // namespace braintrace
