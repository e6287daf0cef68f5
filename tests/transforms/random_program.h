// SPDX-License-Identifier: Apache-2.0
// Random well-typed programs over the whole registry. A recipe is a list of numbers; any list is a program, so that
// RapidCheck can shrink it. Every step applies one op as in one of its samples, with floating-point operands moved a
// little by earlier values: the operands stay where the op is defined, and everything depends on the arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/transforms/words.h"

namespace braintrace::testing_support {

struct Step {
  uint32_t op, sample, operands;  // each modulo what there is
};
using Recipe = std::vector<Step>;

// Arguments x : f64[2,3] and w : f64[3]; results are the two newest f64 values.
Instance random_run(const Recipe& recipe);

std::string describe(const Recipe& recipe);

}  // namespace braintrace::testing_support
