// SPDX-License-Identifier: Apache-2.0
#include "braintrace/functions/grad.h"

#include "braintrace/ops/families.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"

namespace braintrace::flat {

namespace {

struct PathLeaf {
  Path      path;
  StateLeaf leaf;
};

std::vector<PathLeaf> float_leaves(const char* where, const StateMap& states) {
  std::vector<PathLeaf> out;
  for (const auto& [path, state] : states) {
    require(state.initialized(), ErrorKind::State, "{}: {} has no value yet; call init_all_states(model) first.", where,
            state.place());
    for (const std::string& name : state.leaf_names()) {
      const Type type = state.leaf(name).type();
      require(is_float(type.dtype), ErrorKind::DType, "{}: {} is {}; only floating-point states have gradients.", where,
              state.place(), to_string(type));
      out.push_back({path, {state, name}});
    }
  }
  return out;
}

void check_loss(const char* where, const StatefulProgram& p) {
  const Types results = p.result_types();
  require(!results.empty(), "{}: the function returns no tensor; return a floating-point scalar, the loss.", where);
  const Type& loss = results[0];
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
  require(any_float || !any_wanted, ErrorKind::DType,
          "{}: the argument is {}; only floating-point tensors have gradients.", where, to_string(last));
}

template <class List>
struct FollowedReads {
  List kept, others;
};

// The states that a derivative is taken with respect to: first the requested ones, also as learners read them, then
// those that other code reads and to which learners assign credit.
Mask followed_reads(const StatefulProgram& p, const std::vector<StateLeaf>& wanted) {
  Mask out;
  for (size_t i = 0; i < p.reads.size(); ++i) {
    const bool credited = std::any_of(p.entry_credits.begin(), p.entry_credits.end(),
                                      [&](const EntryCredit& c) { return contains(c.states, p.reads[i]); });
    out.push_back(i < wanted.size() || (p.is_read_by_learners[i] ? contains(wanted, p.reads[i]) : credited));
  }
  return out;
}

// Adds the gradients of requested parameters through the initial values of states; `of_reads` are cotangents of the
// reads.
void add_credit(const char* where, const StatefulProgram& p, const EntryCredit& credit, const Tensors& of_reads,
                const std::vector<StateLeaf>& wanted, Tensors& of_wanted) {
  Tensors ct(credit.states.size());
  for (size_t i = 0; i < p.reads.size(); ++i)
    if (const size_t s = index_of(credit.states, p.reads[i]); !p.is_read_by_learners[i] && s < ct.size())
      ct[s] = of_reads[i];
  if (!any_true(defined_mask(ct))) return;
  const Tensors gradients = credit.gradients(ct);
  for (size_t k = 0; k < gradients.size(); ++k) {
    if (!gradients[k].defined()) continue;
    require(!contains(p.writes, credit.params[k]),
            "{}: the function writes {} and reads an old state of its learner; the credit of that state belongs to the "
            "parameter as it was.\n  Set the parameter before, or read the state inside the model.",
            where, credit.params[k].place());
    if (const size_t w = index_of(wanted, credit.params[k]); w < wanted.size())
      of_wanted[w] = add_defined(of_wanted[w], gradients[k]);
  }
}

}  // namespace

GradOutcome differentiate(const char* where, const Function& f, const Tensors& args, const Mask& wrt,
                          const StateMap& states) {
  detail::check_arguments(where, args);
  check_wrt(where, args, wrt);
  const std::vector<PathLeaf> paths = float_leaves(where, states);
  TraceOptions                options{.purpose = TraceFor::Derivative};
  for (const PathLeaf& w : paths)  // a state may have several paths
    if (!contains(options.keep, w.leaf)) options.keep.push_back(w.leaf);
  const std::vector<StateLeaf>& wanted = options.keep;
  const StatefulProgram         p      = trace_function(types_of(args), f, options);
  check_loss(where, p);

  const Mask      follow = joined(wrt, followed_reads(p, wanted));
  const Mask      active = joined(Mask(p.constants.size(), false), follow);
  const VjpResult r      = vjp(p.program, joined(p.constants, p.inputs(args)), active);
  Tensors         ct(r.out.size());
  ct[0]            = Tensor(r.out[0].type(), 1);
  const auto types = p.input_types();
  const auto found = split(spread(r.pullback(ct), follow), types);

  // Kept states come first, in order, each once; others may be the same states as learners read them.
  const FollowedReads<size_t> n{wanted.size(), p.reads.size() - wanted.size()};
  const auto                  leaves    = split(p.reads, n);
  const auto                  of        = split(found.reads, n);
  Tensors                     of_wanted = of.kept;
  for (size_t i = 0; i < leaves.others.size(); ++i)
    if (const size_t w = index_of(wanted, leaves.others[i]); w < wanted.size())
      of_wanted[w] = add_defined(of_wanted[w], of.others[i]);
  for (const EntryCredit& credit : p.entry_credits) add_credit(where, p, credit, found.reads, wanted, of_wanted);

  GradOutcome outcome;
  for (size_t i = 0; i < args.size(); ++i)
    outcome.grads.push_back(wrt[i] && !found.args[i].defined() ? Tensor(args[i].type(), 0) : found.args[i]);
  of_wanted = instantiated(of_wanted, split(types.reads, n).kept);
  Gradients::Map by_path;
  for (const PathLeaf& w : paths) by_path[w.path][w.leaf.leaf] = of_wanted[index_of(wanted, w.leaf)];
  outcome.states = Gradients(std::move(by_path));
  outcome.out    = p.store(r.out);
  return outcome;
}

}  // namespace braintrace::flat
