// SPDX-License-Identifier: Apache-2.0
// Every operation of the registry as a program, on the samples of its laws.
#pragma once

#include "tests/codegen/agreement.h"

namespace braintrace::testing_support {

// One job per sample, its floats as `dtype`; operations that do not take that type are left out.
std::vector<Job> op_jobs(DType dtype);

// Results and pull-backs of every float operand in one program: what training runs.
std::vector<Job> pullback_jobs();

}  // namespace braintrace::testing_support
