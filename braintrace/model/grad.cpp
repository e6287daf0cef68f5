// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/grad.h"

#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::detail {

namespace {

struct PathLeaf {
  Path      path;
  StateLeaf leaf;
};

std::vector<PathLeaf> float_leaves(const char* where, const StateMap& states) {
  std::vector<PathLeaf> out;
  for (const auto& [path, state] : states) {
    require(state.initialized(), "{}: {} has no value yet; call init_all_states(model) first.", where, state.place());
    for (const std::string& name : state.leaf_names()) {
      const Type type = state.leaf(name).type();
      require(is_float(type.dtype), "{}: {} is {}; only floating-point states have gradients.", where, state.place(),
              to_string(type));
      out.push_back({path, {state, name}});
    }
  }
  return out;
}

void check_loss(const char* where, const StatefulProgram& p) {
  const Type loss = p.result_types().at(0);
  require(is_float(loss.dtype) && loss.rank() == 0,
          "{}: the function must return a floating-point scalar, got {}.\n"
          "  Reduce it with sum() or mean(), or use jacrev for the derivative of a tensor.",
          where, to_string(loss));
}

void check_wrt(const char* where, const Tensors& args, const Mask& wrt) {
  bool any_wanted = false, any_float = false;
  Type last;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!wrt[i]) continue;
    any_wanted = true;
    any_float  = any_float || is_float(args[i].dtype());
    last       = args[i].type();
  }
  require(any_float || !any_wanted, "{}: the argument is {}; only floating-point tensors have gradients.", where,
          to_string(last));
}

}  // namespace

GradOutcome differentiate(const char* where, const Function& f, const Tensors& args, const Mask& wrt,
                          const StateMap& states) {
  check_arguments(where, args);
  check_wrt(where, args, wrt);
  const std::vector<PathLeaf> wanted = float_leaves(where, states);
  TraceOptions                options{.purpose = TraceFor::Derivative};
  for (const PathLeaf& w : wanted) options.keep.push_back(w.leaf);
  const StatefulProgram p = trace_function(types_of(args), f, options);
  check_loss(where, p);

  // Inputs: constants, arguments, kept states (in order, each once), other states.
  Mask active(p.constants.size(), false);
  active.insert(active.end(), wrt.begin(), wrt.end());
  for (size_t i = 0; i < p.reads.size(); ++i) active.push_back(i < wanted.size());
  const Tensors   in = concatenated(p.constants, p.inputs(args));
  const VjpResult r  = vjp(p.program, in, active);

  Tensors ct(r.out.size());
  ct[0]               = Tensor(r.out[0].type(), 1);
  const Tensors found = r.pullback(ct);
  GradOutcome   outcome;
  outcome.grads.resize(args.size());
  size_t next = 0;
  auto   take = [&](const Type& type) {
    const Tensor& g = found[next++];
    return g.defined() ? g : Tensor(type, 0);
  };
  for (size_t i = 0; i < args.size(); ++i)
    if (wrt[i]) outcome.grads[i] = take(args[i].type());
  Gradients::Map by_path;
  for (size_t i = 0; i < wanted.size(); ++i)
    by_path[wanted[i].path][wanted[i].leaf.leaf] = take(p.program.type(p.program.args[args.size() + i]));
  outcome.states = Gradients(std::move(by_path));
  outcome.out    = p.store(r.out);
  return outcome;
}

}  // namespace braintrace::detail
