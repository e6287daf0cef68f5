// SPDX-License-Identifier: Apache-2.0
// Runs programs in the interpreter and as machine code, and measures how far apart the results are.
#pragma once

#include <string>

#include "braintrace/codegen/passes.h"
#include "braintrace/ir/op.h"

namespace braintrace::testing_support {

struct Job {
  std::string name;
  Program     program;
  Arrays      constants, args;
};

// |a - b| / (1 + |b|), the largest over floats; infinite if only one of the two is NaN or infinite; integers must agree
// exactly.
double distance(const Array& got, const Array& want);

// The worst distance of all results. Bytes around every result and around the working memory are watched: a write
// outside its memory, or into an argument, counts as infinite.
struct Worst {
  std::string name;
  double      distance = 0;
};
// Compiles all jobs in one file and runs each; returns the largest distance, with its name.
Worst worst_disagreement(const std::vector<Job>& jobs, const codegen::Options& options = {});

}  // namespace braintrace::testing_support
