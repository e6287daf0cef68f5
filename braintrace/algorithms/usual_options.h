// SPDX-License-Identifier: Apache-2.0
// What algorithms are given where they are compared with each other, and nobody has chosen.
#pragma once

#include "braintrace/algorithms/registry.h"

namespace braintrace {

struct UsualOptions {
  RuleOptions options;
  std::string text;  // "decay 0.9"
};
UsualOptions usual_options(const Algorithm& algorithm, uint64_t seed);

// A modulator or a synthesiser.
bool needs_more_than_a_loss(const Algorithm& algorithm);

}  // namespace braintrace
