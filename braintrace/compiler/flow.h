// SPDX-License-Identifier: Apache-2.0
// Producers and consumers of each value of a program, and regions extracted from it.
#pragma once

#include <functional>
#include <set>

#include "braintrace/ir/op.h"

namespace braintrace {

struct Flow {
  // `hidden`: initial values of hidden states; values that they reach without passing a product are derived from them.
  explicit Flow(const Program& program, const Vars& hidden = {});

  const Program&                    program;
  std::vector<int32_t>              producer;   // of each value: equation index, -1 for inputs
  std::vector<std::vector<int32_t>> consumers;  // of each value: equation indices in program order
  Mask                              product;    // of each equation, see is_product

  // Whether e is a product that mixes positions: trainable ops that mix, plain products (dot_general, convolution,
  // sparse product), and control flow that applies one of these to a value derived from a hidden state.
  bool is_product(const Eqn& e) const { return product[static_cast<size_t>(&e - program.eqns.data())]; }
};

bool is_mixing_etp(const Op& op);
bool is_stop_gradient(const Op& op);  // blocks all dependence
bool is_plain_product(const Op& op);

// Equations and values at which following a value forward stops.
struct Stops {
  std::function<bool(const Eqn&)> eqn   = nullptr;  // its results are not reached
  std::function<bool(Var)>        value = nullptr;  // reached, but not followed further
};

// Values reached from `from` (inclusive), in order of discovery.
Vars reach_forward(const Flow& flow, const Vars& from, const Stops& stops = {});

// The equations on paths from `from` to `to` that avoid the stops, as a program:
//   constants: the other values that these equations read   arguments: from   results: to
// A result that no path reaches is one of the constants.
struct Region {
  Program              program;
  Vars                 constants;  // ids in the surrounding program
  std::vector<int32_t> eqns;       // indices of its equations there
};
Region cut_region(const Flow& flow, const Vars& from, const Vars& to, const Stops& stops = {});
// These equations of a program as a region, however they are connected.
Region region_of(const Program& p, const std::set<int32_t>& eqns, const Vars& from, const Vars& to);

}  // namespace braintrace
