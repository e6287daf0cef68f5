// SPDX-License-Identifier: Apache-2.0
// Who makes and who reads each value of a program, and regions cut out of it.
#pragma once

#include <functional>

#include "braintrace/ir/op.h"

namespace braintrace {

struct Flow {
  // `hidden`: entry values of hidden states; what they reach without passing a product is derived from them.
  explicit Flow(const Program& program, const Vars& hidden = {});

  const Program&                    program;
  std::vector<int32_t>              producer;   // of each value: equation index, -1 for inputs
  std::vector<std::vector<int32_t>> consumers;  // of each value: equation indices in program order
  Mask                              product;    // of each equation, see is_product

  // Where positions mix by a product: trainable ops that mix, plain products (dot_general, convolution, sparse
  // product), and control flow that applies one of these to a value derived from a hidden state.
  bool is_product(const Eqn& e) const { return product[static_cast<size_t>(&e - program.eqns.data())]; }
};

bool is_mixing_etp(const Op& op);
bool is_stop_gradient(const Op& op);  // nothing after it depends on what is before it
bool is_plain_product(const Op& op);

// Equations and values that must not be passed when following a value forward.
struct Stops {
  std::function<bool(const Eqn&)> eqn   = nullptr;  // its results are not reached
  std::function<bool(Var)>        value = nullptr;  // reached, but not followed further
};

// Values reached from `from` (included), in order of discovery.
Vars reach_forward(const Flow& flow, const Vars& from, const Stops& stops = {});

// The equations on paths from `from` to `to` that avoid the stops, as a program:
//   constants: the other values these equations read   arguments: from   results: to
// A result that no path reaches is one of the constants.
struct Region {
  Program              program;
  Vars                 constants;  // ids in the surrounding program
  std::vector<int32_t> eqns;       // indices of its equations there
};
Region cut_region(const Flow& flow, const Vars& from, const Vars& to, const Stops& stops = {});

}  // namespace braintrace
