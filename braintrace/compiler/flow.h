// SPDX-License-Identifier: Apache-2.0
// Who makes and who reads each value of a program, and regions cut out of it.
#pragma once

#include <functional>

#include "braintrace/ir/op.h"

namespace braintrace {

struct Flow {
  explicit Flow(const Program& program);

  const Program&                    program;
  std::vector<int32_t>              producer;   // of each value: equation index, -1 for inputs
  std::vector<std::vector<int32_t>> consumers;  // of each value: equation indices in program order
};

// An operation whose result at one position reads its operand at others by a product: every trainable op that
// mixes, and every plain product (dot_general, convolution, sparse product).
bool is_mixing_etp(const Op& op);
bool is_plain_product(const Op& op);

// Equations and values that must not be passed when following a value forward.
struct Stops {
  std::function<bool(const Eqn&)> eqn   = nullptr;  // its results are not reached
  std::function<bool(Var)>        value = nullptr;  // reached, but not followed further
};

// Values reached from `from` (included), in order of discovery.
Vars reach_forward(const Flow& flow, const Vars& from, const Stops& stops = {});
// Values that `to` is computed from (included).
Vars reach_backward(const Flow& flow, const Vars& to);

// The equations on paths from `from` to `to` that avoid the stops, as a program:
//   constants: the other values these equations read   arguments: from   results: to
// A result that no path reaches is one of the constants.
struct Region {
  Program program;
  Vars    constants;  // ids in the surrounding program
};
Region cut_region(const Flow& flow, const Vars& from, const Vars& to, const Stops& stops = {});

}  // namespace braintrace
