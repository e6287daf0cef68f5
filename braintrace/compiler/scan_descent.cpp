// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/scan_descent.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "braintrace/compiler/canonicalize.h"
#include "braintrace/compiler/relation_finder.h"
#include "braintrace/control/scan_parts.h"
#include "braintrace/ops/constant.h"
#include "braintrace/ops/copy.h"

namespace braintrace {

namespace {

class ScanFollower {
 public:
  ScanFollower(ModuleInfo& info, int index, const CompileOptions& options, Diagnostics& log)
      : info_(info),
        index_(index),
        eqn_(info.program().eqns[static_cast<size_t>(index)]),
        parts_(eqn_.attrs),
        log_(log),
        options_(options),
        outside_(info, none_, options, log) {
    options_.include_recurrent_mixing = false;
    options_.sparse_n                 = std::nullopt;
  }

  // Nothing if the scan contains no trainable weight, was unrolled, or cannot be followed.
  std::optional<Descended> follow() {
    const bool reads_weight =
        std::any_of(eqn_.in.begin(), eqn_.in.end(), [&](Var v) { return outside_.weight_of[v] >= 0; });
    if (!reads_weight && !contains_trainable(parts_.body)) return std::nullopt;
    if (options_.control_flow.scan_unroll_limit > 0 && parts_.length <= options_.control_flow.scan_unroll_limit)
      return std::nullopt;
    find_states();
    if (slots_.empty()) return std::nullopt;
    const std::string blocker = blocked();
    if (!blocker.empty()) {
      CompilationRecord r{
          DiagnosticKind::ScanDescentSkipped, DiagnosticLevel::Warning,
          fmt::format("a scan of {} steps is not followed substep by substep: {}", parts_.length, blocker)};
      r.context["blocker"] = blocker;
      log_.push_back(std::move(r));
      return std::nullopt;
    }
    return rewrite();
  }

 private:
  struct Slot {
    size_t carry;   // among the carried values
    int    hidden;  // in ModuleInfo::hidden
  };

  void find_states() {
    for (size_t k = 0; k < parts_.carry; ++k)
      for (size_t h = 0; h < info_.hidden.size(); ++h)
        if (info_.hidden[h].out == eqn_.out[k]) slots_.push_back({k, static_cast<int>(h)});
  }

  std::string blocked() {
    if (options_.control_flow.scan_descent == ControlFlowPolicy::ScanDescent::Off) return "scan_descent is off";
    if (parts_.reverse) return "it runs backwards";
    for (Var v : operands().xs)
      if (!leaves_behind(v).empty()) return "it scans over a trainable weight";
    for (const Slot& s : slots_)
      if (eqn_.in[parts_.consts + s.carry] != info_.hidden[s.hidden].in)
        return fmt::format("state {} enters it as a transformed value", info_.hidden[s.hidden].path.str());
    flatten_body();
    for (const Eqn& e : body_.eqns)
      for (const ProgramPtr& p : nested_programs(e.attrs))
        if (contains_trainable(*p))
          return fmt::format("a trainable operation stays inside the {} in its body", e.op->name);
    find_inside();
    for (const HiddenParamOpRelation& r : found_.relations)
      for (const Trainable& t : r.trainables)
        if (!is_constant(t.operand)) return fmt::format("weight {} changes inside it", r.weight_path.str());
    return "";
  }

  ScanRoles<Vars>  operands() const { return parts_.split(eqn_.in); }
  std::vector<int> leaves_behind(Var v) const { return outside_.trainable({"", 0}, 0, v).leaves; }

  bool is_constant(Var v) const {
    const Vars consts = parts_.split(body_.args).consts;
    return std::find(consts.begin(), consts.end(), v) != consts.end();
  }

  // The body as a flat program; every carried state has its own final equation.
  void flatten_body() {
    StepRoles roles{Mask(parts_.body.args.size()), Mask(parts_.body.args.size()), Mask(parts_.body.results.size())};
    for (Var v : operands().consts) leaves_of_const_.push_back(leaves_behind(v));
    for (size_t j = 0; j < parts_.consts; ++j) roles.weight[j] = !leaves_of_const_[j].empty();
    for (const Slot& s : slots_) roles.hidden[parts_.consts + s.carry] = roles.exit[s.carry] = true;
    body_ = with_constants_inside(canonicalize({parts_.body, {}}, roles, options_.control_flow, inside_log_));
    std::set<Var> taken(body_.args.begin(), body_.args.end());
    for (const Slot& s : slots_) {
      Var& exit = body_.results[s.carry];
      if (!taken.insert(exit).second) {
        const Var fresh = body_.add_value(body_.type(exit));
        body_.eqns.push_back({&copy_op, {exit}, {fresh}, {}, 0});
        exit = fresh;
      }
    }
  }

  // Groups and relations of one substep.
  void find_inside() {
    ModuleInfo inside;
    inside.states       = info_.states;
    inside.control_flow = info_.control_flow;
    inside.step.program = body_;
    for (const Slot& s : slots_) {
      HiddenVar h = info_.hidden[s.hidden];
      h.in        = body_.args[parts_.consts + s.carry];
      h.out       = body_.results[s.carry];
      inside.hidden.push_back(h);
    }
    for (size_t j = 0; j < parts_.consts; ++j)
      if (!leaves_of_const_[j].empty()) {
        inside.weights.push_back(info_.weights[leaves_of_const_[j][0]]);
        inside.weights.back().var = body_.args[j];
      }
    found_.groups    = find_hidden_groups_from_minfo(inside, options_, inside_log_);
    found_.relations = find_hidden_param_op_relations_from_minfo(inside, found_.groups, options_, inside_log_);
  }

  Descended rewrite() {
    auto descent    = std::make_shared<ScanDescent>();
    descent->eqn    = index_;
    descent->length = parts_.length;
    give_weights_their_own_operand();
    descent->outer.assign(body_.types.size(), -1);
    descent->stacked.assign(body_.types.size(), false);
    for (size_t j = 0; j < consts_.size(); ++j) descent->outer[body_.args[j]] = consts_[j];
    keep_values(*descent);
    for (HiddenGroup& g : found_.groups) rescope(g, descent);
    for (HiddenParamOpRelation& r : found_.relations) rescope(r, descent);
    info_.descended_scans.push_back(index_);
    log_.insert(log_.end(), inside_log_.begin(), inside_log_.end());
    record_descent();
    return std::move(found_);
  }

  // A weight that a plain operation also reads is handled separately.
  void give_weights_their_own_operand() {
    consts_ = operands().consts;
    for (HiddenParamOpRelation& r : found_.relations)
      for (Trainable& t : r.trainables) {
        Eqn&       e     = body_.eqns[static_cast<size_t>(r.eqn)];
        const auto from  = std::find(body_.args.begin(), body_.args.end(), t.operand) - body_.args.begin();
        const Var  fresh = body_.add_value(body_.type(t.operand));
        const Var  outer = consts_[static_cast<size_t>(from)];
        body_.args.insert(body_.args.begin() + static_cast<int64_t>(consts_.size()), fresh);
        e.in[static_cast<size_t>(t.slot)] = fresh;
        Trainable there                   = outside_.trainable({t.key, t.slot}, t.weight, outer);
        there.key                         = t.key;
        there.slot                        = static_cast<int>(consts_.size());
        consts_.push_back(outer);
        t = std::move(there);
      }
  }

  // The scan of the step returns a row per substep of all that regions of the body read.
  void keep_values(ScanDescent& d) {
    Program&   step  = info_.step.program;
    Eqn&       scan  = step.eqns[static_cast<size_t>(index_)];
    const auto roles = operands();
    Vars       out   = eqn_.out;
    const auto keep  = [&](Var v) {
      if (d.outer[v] >= 0) return;
      Type rows = body_.type(v);
      rows.shape.insert(rows.shape.begin(), parts_.length);
      d.outer[v]   = step.add_value(rows);
      d.stacked[v] = true;
      body_.results.push_back(v);
      out.push_back(d.outer[v]);
    };
    for (const HiddenGroup& g : found_.groups) {
      for (Var v : g.entries()) keep(v);
      for (Var v : g.transition.constants) keep(v);
    }
    for (const HiddenParamOpRelation& r : found_.relations) {
      for (Var v : body_.eqns[static_cast<size_t>(r.eqn)].in) keep(v);
      keep(r.y);
      for (const Connection& c : r.connections)
        for (Var v : c.tail.constants) keep(v);
    }
    scan = {
        scan.op, joined(consts_, roles.carry, roles.xs), std::move(out),
        ScanParts::attrs(std::make_shared<const Program>(body_), consts_.size(), parts_.carry, parts_.length, false),
        scan.note};
  }

  void rescope(HiddenGroup& g, const std::shared_ptr<const ScanDescent>& descent) {
    g.descent         = descent;
    g.substep_entries = g.entries();
    for (size_t m = 0; m < g.members.size(); ++m) {
      const int h               = slots_[static_cast<size_t>(g.members[m])].hidden;
      g.members[m]              = h;
      g.hidden[m]               = info_.hidden[h];
      info_.hidden[h].descended = true;
    }
  }
  void rescope(HiddenParamOpRelation& r, const std::shared_ptr<const ScanDescent>& descent) {
    const Eqn& e       = body_.eqns[static_cast<size_t>(r.eqn)];
    r.descent          = descent;
    r.substep_operands = e.in;
    r.substep_y        = r.y;
    r.x                = r.x < 0 ? -1 : descent->outer[r.x];
    r.y                = descent->outer[r.y];
    r.eqn              = index_;
  }

  void record_descent() {
    std::set<Path> weights, covered;
    for (const auto& leaves : leaves_of_const_)
      for (int leaf : leaves) weights.insert(info_.weights[leaf].path);
    for (const HiddenParamOpRelation& r : found_.relations)
      for (const Trainable& t : r.trainables)
        for (int leaf : t.leaves) covered.insert(info_.weights[leaf].path);
    CompilationRecord applied{DiagnosticKind::ScanDescentApplied, DiagnosticLevel::Info,
                              fmt::format("a scan of {} steps is followed substep by substep", parts_.length)};
    for (const HiddenGroup& g : found_.groups)
      applied.hidden_paths.insert(applied.hidden_paths.end(), g.hidden_paths.begin(), g.hidden_paths.end());
    log_.push_back(std::move(applied));
    for (const Path& w : weights)
      if (!covered.count(w))
        log_.push_back({DiagnosticKind::ScanDescentNoRelations, DiagnosticLevel::Warning,
                        "a scan uses this weight, but no trainable operation in it does", "", w});
  }

  const std::vector<HiddenGroup> none_ = {};
  ModuleInfo&                    info_;
  const int                      index_;
  const Eqn                      eqn_;  // the original equation
  const ScanParts                parts_;
  Diagnostics&                   log_;
  Diagnostics                    inside_log_ = {};  // of the body; used if the scan is followed
  CompileOptions                 options_;
  RelationFinder                 outside_;
  std::vector<Slot>              slots_;
  std::vector<std::vector<int>>  leaves_of_const_;
  Program                        body_;
  Vars                           consts_;  // operands of the scan that its body reads as constants
  Descended                      found_;
};

}  // namespace

void Descended::number_groups_from(int first) {
  for (HiddenGroup& g : groups) g.index += first;
  for (HiddenParamOpRelation& r : relations)
    for (Connection& c : r.connections) c.group += first;
}

Descended descend_scans(ModuleInfo& info, const CompileOptions& options, Diagnostics& log) {
  Descended all;
  for (int i = 0; i < static_cast<int>(info.program().eqns.size()); ++i) {
    if (info.program().eqns[static_cast<size_t>(i)].op != &scan_op) continue;
    auto found = ScanFollower(info, i, options, log).follow();
    if (!found) continue;
    found->number_groups_from(static_cast<int>(all.groups.size()));
    std::move(found->groups.begin(), found->groups.end(), std::back_inserter(all.groups));
    std::move(found->relations.begin(), found->relations.end(), std::back_inserter(all.relations));
  }
  return all;
}

}  // namespace braintrace
