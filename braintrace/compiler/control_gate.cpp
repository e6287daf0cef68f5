// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/control_gate.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/control/while.h"

namespace braintrace {

namespace {

[[noreturn]] void refuse(Diagnostics& log, CompilationRecord record, const std::string& remedy) {
  const std::string what = record.message + ".\n  " + remedy;
  log.push_back(std::move(record));
  throw CompileError(what, log);
}

}  // namespace

void check_control_flow(const ModuleInfo& info, Diagnostics& log) {
  const Program& p = info.program();
  const Flow     flow(p, info.entries());
  std::set<Var>  exits;
  for (const HiddenVar& h : info.hidden) exits.insert(h.out);
  for (size_t i = 0; i < p.eqns.size(); ++i) {
    const Eqn&        e      = p.eqns[i];
    const ProgramPtrs nested = nested_programs(e.attrs);
    const auto&       known  = info.descended_scans;
    if (nested.empty() || std::find(known.begin(), known.end(), static_cast<int>(i)) != known.end()) continue;
    const std::string where = e.note ? fmt::format("{} in {}", e.op->name, p.notes[e.note]) : std::string(e.op->name);

    if (std::any_of(nested.begin(), nested.end(), [](const ProgramPtr& q) { return contains_trainable(*q); })) {
      CompilationRecord r{
          DiagnosticKind::PrimitiveInsideControlFlow, DiagnosticLevel::Error,
          fmt::format("{}: the compiler could not flatten this region, and it contains a trainable operation", where)};
      if (info.control_flow.etp_in_control_flow == ControlFlowPolicy::EtpInside::Error)
        refuse(
            log, std::move(r),
            "Move the trainable operation out of it, use a fixed-length loop, or set etp_in_control_flow to Exclude.");
      r.level = DiagnosticLevel::Warning;
      r.message += "; its weights get the same-step gradient only";
      log.push_back(std::move(r));
    }

    const Vars reached   = reach_forward(flow, e.out);
    const bool to_hidden = std::any_of(reached.begin(), reached.end(), [&](Var v) { return exits.count(v) > 0; });
    for (const WeightVar& w : info.weights) {
      if (!to_hidden || std::find(e.in.begin(), e.in.end(), w.var) == e.in.end()) continue;
      const bool        loop = e.op == &while_op;
      CompilationRecord r{
          loop ? DiagnosticKind::WeightInWhile : DiagnosticKind::WeightInControlFlow, DiagnosticLevel::Error,
          fmt::format("{}: weight {} enters this region and reaches a hidden state through it", where, w.path.str())};
      r.weight_path = w.path;
      refuse(log, std::move(r),
             loop ? "Use a fixed-length loop (scan) in place of while."
                  : "Take the weight out of the region, or raise scan_unroll_limit.");
    }

    for (const HiddenVar& h : info.hidden) {
      if (std::find(e.out.begin(), e.out.end(), h.out) == e.out.end()) continue;
      CompilationRecord r{DiagnosticKind::ControlFlowOpaqueForward, DiagnosticLevel::Info,
                          fmt::format("{}: this region makes the hidden state {} and is differentiated as one piece",
                                      where, h.path.str())};
      r.hidden_paths = {h.path};
      if (info.control_flow.while_hidden == ControlFlowPolicy::WhileHidden::Error) {
        r.level = DiagnosticLevel::Error;
        refuse(log, std::move(r), "Set while_hidden to OpaqueForward, or write the update without control flow.");
      }
      log.push_back(std::move(r));
    }
    if (flow.is_product(e))
      log.push_back(
          {DiagnosticKind::ControlFlowRecurrentMixing, DiagnosticLevel::Warning,
           fmt::format(
               "{}: a product inside mixes positions of a hidden state; the region is held constant in the transition",
               where)});
  }
}

}  // namespace braintrace
