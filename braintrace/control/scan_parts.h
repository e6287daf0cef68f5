// SPDX-License-Identifier: Apache-2.0
// The parts of a scan equation, and the rules of its derivative.
#pragma once

#include "braintrace/control/keys.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/sections.h"
#include "braintrace/ops/keys.h"

namespace braintrace {

struct ScanParts {
  const Program& body;
  size_t         consts, carry;  // lengths
  int64_t        length;
  bool           reverse;

  explicit ScanParts(const Attrs& a)
      : body(*a[keys::body]),
        consts(static_cast<size_t>(std::max<int64_t>(0, a[keys::consts]))),
        carry(static_cast<size_t>(std::max<int64_t>(0, a[keys::carry]))),
        length(a[keys::length]),
        reverse(a[keys::reverse]) {}

  static Attrs attrs(ProgramPtr body, size_t consts, size_t carry, int64_t length, bool reverse) {
    return {{keys::body, std::move(body)},
            {keys::carry, static_cast<int64_t>(carry)},
            {keys::consts, static_cast<int64_t>(consts)},
            {keys::length, length},
            {keys::reverse, reverse}};
  }

  size_t xs() const { return body.args.size() - consts - carry; }
  size_t ys() const { return body.results.size() - carry; }
  // Tensors, types or marks of operands and of results by their role.
  template <class List>
  ScanRoles<List> split(const List& operands) const {
    return braintrace::split(operands, ScanRoles<size_t>{consts, carry, xs()});
  }
  template <class List>
  ScanResults<List> split_results(const List& results) const {
    return braintrace::split(results, ScanResults<size_t>{carry, ys()});
  }
  ScanRoles<Types>   arg_types() const { return split(body.types_of(body.args)); }
  ScanResults<Types> result_types() const { return split_results(body.types_of(body.results)); }

  // The marks of operands, extended to every carry that they reach in any step.
  ScanRoles<Mask> spread_to_carry(const Mask& operands) const {
    ScanRoles<Mask> marked = split(operands);
    while (grow(marked.carry, split_results(result_dependence(body, joined(marked))).carry)) continue;
    return marked;
  }
};

Pushed     scan_push(const JvpArgs& a);
Linearized scan_linearize(const LinearizeArgs& a);
Tensors    scan_transpose(const TransposeArgs& a);

}  // namespace braintrace
