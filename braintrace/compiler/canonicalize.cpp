// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/canonicalize.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/control/call.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/keys.h"
#include "braintrace/control/remat.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/control/while.h"
#include "braintrace/etp/rules.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/inline.h"

namespace braintrace {

namespace {

bool is_while(const Op& op) { return &op == &while_op; }

struct Canonicalizer {
  const ControlFlowPolicy& policy;
  Diagnostics&             log;
  std::shared_ptr<Builder> builder = Builder::open();
  std::set<Var>            weights = {};  // weights, and values that plain operations compute from them
  std::set<Var>            active  = {};  // values that depend on a weight or a hidden state

  void note(DiagnosticKind kind, DiagnosticLevel level, std::string message, std::string reason) {
    CompilationRecord r{kind, level, std::move(message)};
    r.context["reason"] = std::move(reason);
    log.push_back(std::move(r));
  }

  bool any_in(const std::set<Var>& set, const Tensors& tensors) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
      return t.is_traced() && t.trace() == builder && set.count(t.trace_var());
    });
  }
  // `out` was computed from `in`.
  void mark(const Tensors& out, const Tensors& in, bool trainable = false) {
    if (!any_in(active, in)) return;
    const bool weight = !trainable && any_in(weights, in);
    for (const Tensor& t : out) {
      active.insert(t.trace_var());
      if (weight) weights.insert(t.trace_var());
    }
  }

  // Why a region is relevant to the compiler; empty if it is not.
  std::string relevance(const Tensors& in, const ProgramPtrs& bodies, bool makes_exit) const {
    if (any_in(weights, in)) return "a weight enters it";
    if (any_in(active, in)) return "a value that depends on a weight or a hidden state enters it";
    if (makes_exit) return "it produces a hidden state";
    for (const ProgramPtr& p : bodies)
      if (contains_trainable(*p)) return "it contains a trainable operation";
    return "";
  }

  // Why a scan cannot be unrolled; empty if it can.
  std::string unroll_blocker(const ScanParts& s) const {
    if (policy.scan_unroll_limit <= 0) return "unrolling is switched off";
    if (s.length == 0) return "its length is 0";
    if (s.length > policy.scan_unroll_limit)
      return fmt::format("its length {} exceeds scan_unroll_limit = {}", s.length, policy.scan_unroll_limit);
    if (contains_op(s.body, is_while)) return "its body contains a while loop";
    return "";
  }

  // Why not all branches can be run; empty if they can.
  std::string convert_blocker(const ProgramPtrs& branches) const {
    for (const ProgramPtr& p : branches) {
      if (contains_op(*p, is_while)) return "a branch contains a while loop";
      for (const Eqn& e : p->eqns)
        if (e.op == &scan_op && !unroll_blocker(ScanParts(e.attrs)).empty())
          return "a branch contains a scan that cannot be unrolled";
    }
    return "";
  }

  Tensors convert_cond(const Tensors& in, const ProgramPtrs& branches, const std::string& reason, int depth) {
    const Tensors        operands(in.begin() + 1, in.end());
    std::vector<Tensors> results;
    for (const ProgramPtr& p : branches) results.push_back(run(*p, operands, {}, depth + 1));
    const Tensor index = clamp(in[0], 0, static_cast<double>(branches.size() - 1));
    Tensors      out   = results.back();
    for (size_t b = branches.size() - 1; b-- > 0;)
      for (size_t k = 0; k < out.size(); ++k) {
        const Tensor chosen = select(equal(index, static_cast<double>(b)), results[b][k], out[k]);
        mark({chosen}, {results[b][k], out[k], in[0]});
        out[k] = chosen;
      }
    note(DiagnosticKind::CondIfConverted, DiagnosticLevel::Info,
         fmt::format("a conditional of {} branches runs all of them and selects: {}", branches.size(), reason), reason);
    return out;
  }

  Tensors unroll(const Tensors& in, const ScanParts& s, const std::string& reason, int depth) {
    const auto           roles = s.split(in);
    Tensors              carry = roles.carry;
    std::vector<Tensors> ys(static_cast<size_t>(s.length));
    for (int64_t i = 0; i < s.length; ++i) {
      const int64_t t = s.reverse ? s.length - 1 - i : i;
      Tensors       x;
      for (const Tensor& xs : roles.xs) {
        x.push_back(squeeze(slice_axis(xs, 0, t, t + 1), {0}));
        mark({x.back()}, {xs});
      }
      const auto out = s.split_results(run(s.body, joined(roles.consts, carry, x), {}, depth + 1));
      carry          = out.carry;
      ys[t]          = out.ys;
    }
    for (size_t k = 0; k < s.ys(); ++k) {
      Tensors column;
      for (const Tensors& row : ys) column.push_back(row[k]);
      carry.push_back(stack(column, 0));
      mark({carry.back()}, column);
    }
    note(DiagnosticKind::ScanUnrolled, DiagnosticLevel::Info,
         fmt::format("a scan of {} steps is unrolled: {}", s.length, reason), reason);
    return carry;
  }

  // The equation in canonical form, or empty to keep it unchanged.
  Tensors rewritten(const Eqn& e, const Tensors& in, bool makes_exit, int depth) {
    if (e.op == &call_op || e.op == &remat_op) return run(*e.attrs[keys::body], in, {}, depth + 1);
    if (e.op->expand && !e.op->etp) {
      const Traced body = expansion(*e.op, types_of(in), e.attrs);
      return run(body.program, joined(body.constants, in), {}, depth + 1);
    }
    if (e.op == &cond_op && policy.cond == ControlFlowPolicy::Cond::Convert) {
      const ProgramPtrs& branches = e.attrs[keys::branches];
      const std::string  reason   = relevance(in, branches, makes_exit);
      if (reason.empty()) return {};
      const std::string blocker = convert_blocker(branches);
      if (blocker.empty()) return convert_cond(in, branches, reason, depth);
      note(DiagnosticKind::CondConversionSkipped, DiagnosticLevel::Warning,
           fmt::format("a conditional is NOT if-converted: {}", blocker), blocker);
    }
    if (e.op == &scan_op) {
      const ScanParts   s(e.attrs);
      const std::string reason = relevance(in, {e.attrs[keys::body]}, makes_exit);
      if (reason.empty()) return {};
      std::string blocker = unroll_blocker(s);
      if (blocker.empty() && any_in(weights, s.split(in).xs)) {
        note(DiagnosticKind::RelationExcludedSlicedWeight, DiagnosticLevel::Warning,
             "a scan scans over a trainable weight and is kept", "sliced weight");
        return {};
      }
      if (blocker.empty()) return unroll(in, s, reason, depth);
      if (policy.scan_unroll_limit > 0)
        note(DiagnosticKind::ScanUnrollSkipped,
             s.length > policy.scan_unroll_limit && policy.scan_descent == ControlFlowPolicy::ScanDescent::Auto
                 ? DiagnosticLevel::Info
                 : DiagnosticLevel::Warning,
             fmt::format("a scan is NOT unrolled: {}", blocker), blocker);
    }
    return {};
  }

  // Re-emits a program on tensors. `exit` marks values that end the step as hidden states (outermost program only).
  Tensors run(const Program& p, const Tensors& inputs, const Mask& exit, int depth) {
    if (depth > policy.fixpoint_iteration_limit)
      throw CompileError(fmt::format("control flow is nested deeper than fixpoint_iteration_limit = {}.\n"
                                     "  Raise ControlFlowPolicy::fixpoint_iteration_limit, or flatten the step.",
                                     policy.fixpoint_iteration_limit),
                         log);
    Tensors values(p.types.size());
    bind_inputs(p, inputs, values);
    for (const Eqn& e : p.eqns) {
      EqnNote       scope(p, e);
      const Tensors in      = gather(values, e.in);
      const bool makes_exit = !exit.empty() && std::any_of(e.out.begin(), e.out.end(), [&](Var v) { return exit[v]; });
      Tensors    out        = rewritten(e, in, makes_exit, depth);
      if (out.empty()) {
        out = apply(*e.op, in, e.attrs);
        mark(out, in, e.op->etp != nullptr);
      }
      scatter(values, e.out, out);
    }
    return gather(values, p.results);
  }
};

}  // namespace

ProgramPtrs nested_programs(const Attrs& attrs) {
  ProgramPtrs out;
  for (const Attr& a : attrs) {
    if (const auto* one = std::get_if<ProgramPtr>(&a.value)) out.push_back(*one);
    if (const auto* many = std::get_if<ProgramPtrs>(&a.value)) out.insert(out.end(), many->begin(), many->end());
  }
  return out;
}

bool contains_op(const Program& program, bool (*test)(const Op&)) {
  return std::any_of(program.eqns.begin(), program.eqns.end(), [&](const Eqn& e) {
    if (test(*e.op)) return true;
    const ProgramPtrs nested = nested_programs(e.attrs);
    return std::any_of(nested.begin(), nested.end(), [&](const ProgramPtr& p) { return contains_op(*p, test); });
  });
}

bool contains_trainable(const Program& program) {
  return contains_op(program, [](const Op& op) { return op.etp != nullptr; });
}

Traced canonicalize(const Traced& step, const StepRoles& roles, const ControlFlowPolicy& policy, Diagnostics& log) {
  Canonicalizer  c{policy, log};
  const Program& program = step.program;
  const Vars     inputs  = program_inputs(program);
  Tensors        args;
  for (size_t i = 0; i < inputs.size(); ++i) {
    args.push_back(c.builder->argument(program.type(inputs[i])));
    if (roles.weight[i]) c.weights.insert(args.back().trace_var());
    if (roles.weight[i] || roles.hidden[i]) c.active.insert(args.back().trace_var());
  }
  Mask exit(program.types.size());
  for (size_t i = 0; i < program.results.size(); ++i)
    if (roles.exit[i]) exit[program.results[i]] = true;
  Traced out = c.builder->finish(c.run(program, args, exit, 0));
  // The old constants were arguments during the pass: make them leading constants again.
  args_as_constants(out.program, program.constants.size());
  out.constants = joined(step.constants, out.constants);
  return out;
}

}  // namespace braintrace
