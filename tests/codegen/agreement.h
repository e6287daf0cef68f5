// SPDX-License-Identifier: Apache-2.0
// Programs run in the interpreter and as machine code, and how far apart the results are.
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

// |a - b| / (1 + |b|) at worst over floats; infinite where one of two is NaN or infinite alone; integers must agree
// exactly.
double distance(const Array& got, const Array& want);

// The worst distance of all results. Bytes around every result and around the working memory are watched: a write
// outside its memory, or into an argument, counts as infinite.
struct Worst {
  std::string name;
  double      distance = 0;
};
// Compiles all jobs in one file and runs each; the worst of all, with its name.
Worst worst_disagreement(const std::vector<Job>& jobs, const codegen::Options& options = {});

}  // namespace braintrace::testing_support
