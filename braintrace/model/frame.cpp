// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/frame.h"

#include <fmt/format.h>

#include "braintrace/ops/copy.h"

namespace braintrace {

namespace {

thread_local StateFrame* current_frame = nullptr;

// Makes `frame` current for a while.
struct Within {
  explicit Within(StateFrame* frame) : previous(current_frame) { current_frame = frame; }
  ~Within() { current_frame = previous; }
  StateFrame* previous;
};

}  // namespace

std::string StateLeaf::place() const {
  return leaf.empty() ? state.place() : fmt::format("{} (leaf '{}')", state.place(), leaf);
}

StateFrame::StateFrame(std::shared_ptr<Builder> trace, StateSet lanes, TraceFor purpose)
    : trace_(std::move(trace)), lanes_(std::move(lanes)), purpose_(purpose), outer_(current_frame) {
  current_frame = this;
}
StateFrame::~StateFrame() { current_frame = outer_; }

StateFrame* StateFrame::current() { return current_frame; }

bool StateFrame::is_carried(const State& state, const std::string& leaf) {
  for (StateFrame* frame = current_frame; frame && frame->purpose_ != TraceFor::Derivative; frame = frame->outer_) {
    if (const Touched* t = frame->find(state, leaf); t && t->written) return false;
    if (frame->is_home_of(state)) return false;
    if (frame->purpose_ == TraceFor::Loop) return true;
  }
  return false;
}

StateFrame::Touched* StateFrame::find(const State& state, const std::string& leaf) {
  const auto it = index_.find({state.cell().get(), leaf});
  return it == index_.end() ? nullptr : &touched_[it->second];
}

Type StateFrame::type_of(const State& state, const std::string& leaf) {
  if (const Touched* t = find(state, leaf)) return t->value.type();
  if (is_home_of(state)) return state.stored(leaf).type();
  Type type;
  {
    Within outside(outer_);
    type = state.type(leaf);
  }
  if (lanes_.contains(state.cell().get())) {
    require(type.rank() > 0,
            "vmap: {} is batched but holds {}, which has no leading axis.\n  Initialise it with a batch size.",
            state.place(), to_string(type));
    type.shape.erase(type.shape.begin());
  }
  return type;
}

Tensor StateFrame::read(const State& state, const std::string& leaf) {
  if (const Touched* t = find(state, leaf)) return t->value;
  if (is_home_of(state)) return state.stored(leaf);
  const Tensor input                 = trace_->argument(type_of(state, leaf));
  index_[{state.cell().get(), leaf}] = touched_.size();
  touched_.push_back({{state, leaf}, input, input, false});
  taken_.insert(input.trace_var());
  return input;
}

void StateFrame::write(const State& state, const std::string& leaf, const Tensor& value) {
  require(!value.is_traced() || value.trace()->serial() <= trace_->serial(),
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
  t->value   = own(value);
  t->written = true;
}

// Who reads the state must be told from who reads another: a value that a state holds already gets a new name.
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
      if (t.input.defined()) out.reads.push_back(t.where);
      if (!t.written) continue;
      out.writes.push_back(t.where);
      results.push_back(t.value);
    }
  }
  Traced traced = builder->finish(results);
  out.program   = std::move(traced.program);
  out.constants = std::move(traced.constants);
  return out;
}

Tensors StatefulProgram::inputs(const Tensors& args) const {
  Tensors in = args;
  for (const StateLeaf& leaf : reads) in.push_back(leaf.value());
  return in;
}

Tensors StatefulProgram::store(const Tensors& outputs) const {
  for (size_t i = 0; i < writes.size(); ++i) writes[i].state.check_storable(outputs[num_results + i]);
  for (size_t i = 0; i < writes.size(); ++i) writes[i].set(outputs[num_results + i]);
  return {outputs.begin(), outputs.begin() + static_cast<int64_t>(num_results)};
}

Types StatefulProgram::result_types() const {
  Types types = program.types_of(program.results);
  types.resize(num_results);
  return types;
}

Type StatefulProgram::write_type(size_t index) const { return program.type(program.results[num_results + index]); }

}  // namespace braintrace
