// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/frame.h"

#include "braintrace/base/pack.h"
#include "braintrace/ops/copy.h"

namespace braintrace {

namespace {

thread_local StateFrame* current_frame = nullptr;

// Makes `frame` current for a scope.
struct Within {
  explicit Within(StateFrame* frame) : previous(current_frame) { current_frame = frame; }
  ~Within() { current_frame = previous; }
  StateFrame* previous;
};

}  // namespace

StateFrame::StateFrame(std::shared_ptr<Builder> trace, StateSet lanes, TraceFor purpose)
    : trace_(std::move(trace)), lanes_(std::move(lanes)), purpose_(purpose), outer_(current_frame) {
  current_frame = this;
}
StateFrame::~StateFrame() { current_frame = outer_; }

StateFrame* StateFrame::current() { return current_frame; }

bool StateFrame::hides_batch_of(const State& state) {
  for (const StateFrame* f = current_frame; f; f = f->outer_)
    if (f->lanes_.contains(state.cell().get())) return true;
  return false;
}

Tensor StateFrame::read_by_learner(const StateLeaf& leaf) {
  for (const Touched& t : touched_)
    if (t.is_read_by_learner && t.where == leaf) return t.input;
  const Tensor input = trace_->argument(outer_type(leaf.state, leaf.leaf));
  touched_.push_back({leaf, input, input});
  touched_.back().is_read_by_learner = true;
  return input;
}

StateFrame::Touched* StateFrame::find(const State& state, const std::string& leaf) {
  const auto it = index_.find({state.cell().get(), leaf});
  return it == index_.end() ? nullptr : &touched_[it->second];
}

Type StateFrame::type_of(const State& state, const std::string& leaf) {
  if (const Touched* t = find(state, leaf)) return t->value.type();
  if (is_home_of(state)) return state.stored(leaf).type();
  return outer_type(state, leaf);
}

Type StateFrame::outer_type(const State& state, const std::string& leaf) const {
  Type type;
  {
    Within outside(outer_);
    type = state.type(leaf);
  }
  if (lanes_.contains(state.cell().get())) {
    require(type.rank() > 0, ErrorKind::State,
            "vmap: {} is batched but holds {}, which has no leading axis.\n  Initialize it with a batch size.",
            state.place(), to_string(type));
    type.shape.erase(type.shape.begin());
  }
  return type;
}

StateFrame::Touched& StateFrame::touch(const StateLeaf& leaf) {
  if (Touched* t = find(leaf.state, leaf.leaf)) return *t;
  const Tensor input                           = trace_->argument(outer_type(leaf.state, leaf.leaf));
  index_[{leaf.state.cell().get(), leaf.leaf}] = touched_.size();
  touched_.push_back({leaf, input, input});
  taken_.insert(input.trace_var());
  return touched_.back();
}

Tensor StateFrame::read(const State& state, const std::string& leaf) {
  if (!find(state, leaf) && is_home_of(state)) return state.stored(leaf);
  return touch({state, leaf}).value;
}

void StateFrame::write(const State& state, const std::string& leaf, const Tensor& value) {
  require(!value.is_traced() || value.trace()->serial() <= trace_->serial(), ErrorKind::State,
          "{}: it is written inside a function that must not write states.\n"
          "  Return the value, or use for_loop, scan, cond and while_loop, which carry written states.",
          state.place());
  if (is_home_of(state)) {
    state.cell()->leaves[leaf] = value;
    return;
  }
  Touched* t = find(state, leaf);
  if (!t) {
    index_[{state.cell().get(), leaf}] = touched_.size();
    touched_.push_back({{state, leaf}, {}, {}, true});
    t = &touched_.back();
  }
  t->value           = own(value);
  t->written         = true;
  t->left_by_learner = false;
}

// Readers of one state must be distinguishable from readers of another: a value that another state already holds is
// copied.
Tensor StateFrame::own(const Tensor& value) {
  if (!value.is_traced() || !is_float(value.dtype())) return value;
  StateFrame* frame = this;
  while (frame && frame->trace_ != value.trace()) frame = frame->outer_;
  if (!frame) return value;
  const Tensor mine = frame->taken_.contains(value.trace_var()) ? copy(value) : value;
  frame->taken_.insert(mine.trace_var());
  return mine;
}

void StateFrame::add_names(const State& state, std::set<std::string>& names) const {
  for (auto it = index_.lower_bound({state.cell().get(), ""}); it != index_.end(); ++it) {
    if (it->first.first != state.cell().get()) break;
    names.insert(it->first.second);
  }
}

StatefulProgram trace_function(const Types& args, const Function& f, const TraceOptions& options) {
  auto       builder = Builder::open();
  TraceGuard guard(builder);
  Tensors    inputs;
  for (const Type& t : args) inputs.push_back(builder->argument(t));
  StatefulProgram out;
  out.num_args = args.size();
  Tensors results;
  {
    StateFrame frame(builder, options.lanes, options.purpose);
    for (const StateLeaf& leaf : options.keep) frame.read(leaf.state, leaf.leaf);
    results         = f(inputs);
    out.num_results = results.size();
    for (const StateFrame::Touched& t : frame.touched()) {
      if (t.input.defined()) {
        out.reads.push_back(t.where);
        out.is_read_by_learners.push_back(t.is_read_by_learner);
      }
      if (!t.written) continue;
      require(t.left_by_learner || !depends_on_states(t.value, t.of_learner),
              "{}: a loop changes it after a learner's step, and the learner uses it in the next iteration.\n  Its "
              "traces do not follow the change. Put the change into the model.",
              t.where.place());
      out.writes.push_back(t.where);
      out.is_left_by_learner.push_back(t.left_by_learner);
      results.push_back(t.value);
    }
    out.entry_credits = frame.entry_credits();
  }
  Traced traced = builder->finish(results);
  out.program   = std::move(traced.program);
  out.constants = std::move(traced.constants);
  return out;
}

Tensors StatefulProgram::inputs(const Tensors& args) const {
  Tensors in = args;
  for (size_t i = 0; i < reads.size(); ++i) in.push_back(read_value(i));
  return in;
}

Tensor StatefulProgram::read_value(size_t index) const {
  const StateLeaf& leaf = reads[index];
  if (index < is_read_by_learners.size() && is_read_by_learners[index])
    if (const StateOrigin o = origin_of(leaf); o.from == StateOrigin::From::BeforeDerivative) return o.value;
  return leaf.value();
}

Tensors StatefulProgram::store(const Tensors& outputs) const {
  for (size_t i = 0; i < writes.size(); ++i) writes[i].state.check_storable(outputs[num_results + i]);
  for (size_t i = 0; i < writes.size(); ++i) {
    writes[i].set(outputs[num_results + i]);
    if (i < is_left_by_learner.size() && is_left_by_learner[i]) mark_left_by_learner(writes[i]);
  }
  return {outputs.begin(), outputs.begin() + static_cast<int64_t>(num_results)};
}

StatefulInputs<Types> StatefulProgram::input_types() const {
  return split(program.types_of(program.args), StatefulInputs<size_t>{num_args, reads.size()});
}

Types StatefulProgram::result_types() const {
  Types types = program.types_of(program.results);
  types.resize(num_results);
  return types;
}

Type StatefulProgram::read_type(size_t index) const { return program.type(program.args[num_args + index]); }
Type StatefulProgram::write_type(size_t index) const { return program.type(program.results[num_results + index]); }

}  // namespace braintrace
