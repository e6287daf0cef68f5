// SPDX-License-Identifier: Apache-2.0
// Operand checks common to all ops, and the evaluator, which runs the reference implementation of each op.
#include <algorithm>

#include "braintrace/ir/builder.h"
#include "braintrace/ir/op.h"

namespace braintrace {

namespace {

void check_operand_count(const Op& op, size_t given) {
  const auto names    = op.operands;
  const bool variadic = names.ends_with("...");
  size_t     wanted   = names.empty() ? 0 : 1 + static_cast<size_t>(std::count(names.begin(), names.end(), ' '));
  if (variadic) --wanted;
  require(variadic ? given >= wanted : given == wanted, "{}: expected {}{} operand(s) ({}), got {}.", op.name,
          variadic ? "at least " : "", wanted, names, given);
}

}  // namespace

Types infer(const Op& op, const Types& in, const Attrs& attrs) {
  check_operand_count(op, in.size());
  return op.infer(op, in, attrs);
}

Arrays evaluate(const Program& program, const Arrays& constants, const Arrays& args) {
  Arrays results;
  for (const Tensor& t : replay(program, {constants.begin(), constants.end()}, {args.begin(), args.end()}))
    results.push_back(t.array());
  return results;
}

}  // namespace braintrace
