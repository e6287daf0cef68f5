// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/frame.h"

namespace braintrace {

namespace {

thread_local StateFrame* current_frame = nullptr;

}  // namespace

StateFrame::StateFrame(std::shared_ptr<Builder> trace) : trace_(std::move(trace)), outer_(current_frame) {
  current_frame = this;
}
StateFrame::~StateFrame() { current_frame = outer_; }

StateFrame* StateFrame::current() { return current_frame; }

StateFrame::Touched* StateFrame::find(const State& state, const std::string& leaf) {
  const auto it = index_.find({state.cell().get(), leaf});
  return it == index_.end() ? nullptr : &touched_[it->second];
}

Tensor StateFrame::read(const State& state, const std::string& leaf) {
  if (Touched* t = find(state, leaf)) return t->value;
  current_frame = outer_;  // the value outside this frame gives the type
  struct Restore {
    StateFrame* frame;
    ~Restore() { current_frame = frame; }
  };
  Type type;
  {
    Restore restore{this};
    type = state.leaf(leaf).type();
  }
  const Tensor input                 = trace_->argument(type);
  index_[{state.cell().get(), leaf}] = touched_.size();
  touched_.push_back({{state, leaf}, input, input, false});
  return input;
}

void StateFrame::write(const State& state, const std::string& leaf, const Tensor& value) {
  Touched* t = find(state, leaf);
  if (!t) {
    index_[{state.cell().get(), leaf}] = touched_.size();
    touched_.push_back({{state, leaf}, {}, {}, true});
    t = &touched_.back();
  }
  t->value   = value;
  t->written = true;
}

StatefulProgram trace_function(const Types& args, const Function& f, const std::vector<StateLeaf>& keep) {
  auto    builder = Builder::open();
  Tensors inputs;
  for (const Type& t : args) inputs.push_back(builder->argument(t));
  StatefulProgram out;
  out.num_args = args.size();
  Tensors results;
  {
    StateFrame frame(builder);
    for (const StateLeaf& leaf : keep) frame.read(leaf.state, leaf.leaf);
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
  for (size_t i = 0; i < writes.size(); ++i) writes[i].set(outputs[num_results + i]);
  return {outputs.begin(), outputs.begin() + static_cast<int64_t>(num_results)};
}

}  // namespace braintrace
