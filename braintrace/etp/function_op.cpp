// SPDX-License-Identifier: Apache-2.0
// The slots of the record look up its functions: every rule gets the operation as an argument.
#include "braintrace/etp/function_op.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "braintrace/base/ascii.h"
#include "braintrace/base/process_mutex.h"
#include "braintrace/ops/families.h"

namespace braintrace {

namespace {

struct Record : Op {
  FunctionOp functions;
  EtpRules   rules;

  explicit Record(FunctionOp given);
};

const FunctionOp&        of(const Op& op) { return static_cast<const Record&>(op).functions; }
const FunctionOp::Trace& of(const EtpCall& call) { return *of(*call.op).trace; }

EtpRules rules_of(const FunctionOp::Trace& trace) {
  EtpRules r;
  r.primitive = [](const EtpCall& c) -> std::string_view {
    return of(c).primitive.empty() ? c.op->name : std::string_view(of(c).primitive);
  };
  r.weights = [](const EtpCall& c) {
    std::vector<EtpWeight> given;
    for (const auto& [key, operand] : of(c).weights)
      if (static_cast<size_t>(operand) < c.in.size()) given.push_back({key, operand});
    return given;
  };
  r.x           = trace.x;
  r.mixes       = trace.mixes;
  r.coefficient = [](const EtpCall& c, int w, const Tensors& in) { return of(c).coefficient(c, w, in); };
  r.spread      = [](const EtpCall& c, int w, const Tensor& t) { return of(c).spread(c, w, t); };
  r.fold        = [](const EtpCall& c, int w, const Tensors& in, const Tensor& t) { return of(c).fold(c, w, in, t); };
  if (trace.represent) r.represent = [](const EtpCall& c, const Tensor& x) { return of(c).represent(c, x); };
  return r;
}

Tensors expanded(const Op& op, const Tensors& in, const Attrs& a) { return of(op).expand(in, a); }

Record::Record(FunctionOp given) : functions(std::move(given)) {
  name     = functions.name;
  doc      = functions.doc;
  operands = functions.operands;
  infer    = expand_infer;
  expand   = expanded;
  if (functions.batch) batch = [](const BatchArgs& a) { return of(a.op).batch(a); };
  if (functions.sample) sample = [](const Op& op, Rng& rng) { return of(op).sample(rng); };
  if (!functions.trace) return;
  rules = rules_of(*functions.trace);
  etp   = &rules;
}

void check(const FunctionOp& op) {
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  require(!op.name.empty() && is_letter(op.name[0]) && std::all_of(op.name.begin(), op.name.end(), allowed),
          "register_op: '{}' cannot be the name of an operation; use letters, digits and '_', a letter first.",
          op.name);
  require(op.expand != nullptr, "register_op: {} needs `expand`, its meaning by other operations.", op.name);
  if (!op.trace) return;
  const FunctionOp::Trace& t = *op.trace;
  require(!t.weights.empty() && t.coefficient && t.spread && t.fold,
          "register_op: to be trainable {} needs weights, coefficient, spread and fold.", op.name);
  const auto count = 1 + std::count(op.operands.begin(), op.operands.end(), ' ');
  for (const auto& w : t.weights)
    require(!w.key.empty() && 0 <= w.operand && w.operand < count && w.operand != t.x,
            "register_op: weight '{}' of {} is operand {}; give it a key and an operand of '{}' other than x.", w.key,
            op.name, w.operand, op.operands);
}

}  // namespace

const Op& register_op(FunctionOp op) {
  // Equations of any program may point to a record, also while the process ends.
  static ProcessMutex lock;
  static auto&        records = *new std::vector<std::unique_ptr<Record>>;
  check(op);
  auto      record = std::make_unique<Record>(std::move(op));
  const Op* before = find_op(record->name);
  if (before && before->expand == expanded)
    replace_op(*before, *record);
  else
    register_op(static_cast<const Op&>(*record));
  const std::lock_guard guard(lock);
  return *records.emplace_back(std::move(record));
}

}  // namespace braintrace
