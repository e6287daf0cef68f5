// SPDX-License-Identifier: Apache-2.0
// Traces one step of a model. Afterwards every hidden state has its own entry value and its own exit value, made by an
// equation: a state that is only read, overwritten, aliased or set to a constant needs no special case later.
#include <algorithm>

#include "braintrace/compiler/graph.h"
#include "braintrace/ops/copy.h"

namespace braintrace {

namespace {

void give_every_hidden_state_its_own_exit() {
  const std::vector<StateFrame::Touched> touched = StateFrame::current()->touched();
  for (const auto& t : touched) {
    if (!t.where.state.is_hidden()) continue;
    const Tensor value = t.where.value();
    t.where.set(copy(value));
  }
}

}  // namespace

ModuleInfo extract_module_info(Module& model, const Types& args) {
  ModuleInfo info;
  info.states            = model.states();
  info.step              = trace_function(args, [&](const Tensors& xs) {
    const Tensors out = model.call(xs);
    give_every_hidden_state_its_own_exit();
    return out;
  });
  const Program& p       = info.step.program;
  auto           path_of = [&](const State& s) {
    for (const auto& [path, state] : info.states)
      if (state == s) return path;
    return Path{"_outside"};
  };
  for (size_t i = 0; i < info.step.reads.size(); ++i) {
    const StateLeaf& leaf = info.step.reads[i];
    const Var        in   = p.args[info.step.num_args + i];
    if (leaf.state.is_param()) {
      const auto names = leaf.state.leaf_names();
      const int  index = static_cast<int>(std::find(names.begin(), names.end(), leaf.leaf) - names.begin());
      info.weights.push_back({path_of(leaf.state), leaf.state, leaf.leaf, index, in});
    }
    if (!leaf.state.is_hidden()) continue;
    const auto written = std::find(info.step.writes.begin(), info.step.writes.end(), leaf);
    const Var  out     = p.results[info.step.num_results + static_cast<size_t>(written - info.step.writes.begin())];
    HiddenVar  h{path_of(leaf.state), leaf.state, in, out, p.type(in).shape, 1};
    require(p.type(in) == p.type(out), "{}: the step changes its type from {} to {}; a hidden state keeps its type.",
            h.path.str(), to_string(p.type(in)), to_string(p.type(out)));
    if (leaf.state.kind() != StateKind::Hidden) {
      h.num_state = static_cast<int>(h.varshape.back());
      h.varshape.pop_back();
    }
    info.hidden.push_back(std::move(h));
  }
  return info;
}

}  // namespace braintrace
