// SPDX-License-Identifier: Apache-2.0
// A loop over the leading axis of its inputs, with a carry.
#pragma once

#include "braintrace/ir/builder.h"

namespace braintrace {

extern const Op scan_op;

// Operands and results of a scan by their role.
template <class List>
struct ScanRoles {
  List consts, carry, xs;
};
template <class List>
struct ScanResults {
  List carry, ys;
};
using ScanOperands = ScanRoles<Tensors>;
using ScanResult   = ScanResults<Tensors>;

struct ScanOptions {
  int64_t length  = -1;  // number of steps; needed only without xs
  bool    reverse = false;
};
using ScanBody = std::function<ScanResult(const Tensors& carry, const Tensors& x)>;

// For each t: (carry, y_t) = body(carry, x_t), x_t = xs[t]; returns the last carry and all y, stacked. The types of the
// carry must not change. With `reverse`, t runs from the last to the first; y_t still belongs to x_t.
ScanResult scan(const ScanBody& body, const Tensors& carry, const Tensors& xs, const ScanOptions& options = {});

// carry = body(i, carry) for i = lo … hi-1. With known bounds this is a scan; with traced bounds it is a while loop,
// which has reverse mode only if max_steps limits it.
using ForBody = std::function<Tensors(const Tensor& i, const Tensors& carry)>;
Tensors fori_loop(const Tensor& lo, const Tensor& hi, const ForBody& body, const Tensors& init, int64_t max_steps = 0);

// Emits a scan whose body takes (consts, carry, x) and returns (carry, ys). Tensors it captures become consts.
Tensors apply_scan(Traced body, const ScanOperands& operands, int64_t length, bool reverse);

// Throws a UserError that names the first carry whose type changes.
void require_same_carry(const char* where, const Types& before, const Types& after);

const std::vector<const Op*>& scan_ops();

}  // namespace braintrace
