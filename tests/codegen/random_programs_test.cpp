// SPDX-License-Identifier: Apache-2.0
// Random programs over the whole registry, also differentiated and batched: machine code against the interpreter. Many
// programs share one C file, so that thousands can be tried: BRAINTRACE_FUZZ_PROGRAMS says how many.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/codegen/random_job.h"

namespace braintrace {
namespace {

using testing_support::Job;

constexpr double  tolerance = 1e-10;  // f64, through several ops
constexpr int     per_file  = 40;
const std::string words[]   = {"", "R", "M", "F", "RM"};  // as they are, differentiated, batched

Rng random_numbers() {
  const char* seed = std::getenv("BRAINTRACE_FUZZ_SEED");
  return Rng(seed ? std::strtoull(seed, nullptr, 10) : 5);
}

void expect_agreement(Rng& rng, int programs, const codegen::Options& options = {}) {
  const char* asked = std::getenv("BRAINTRACE_FUZZ_PROGRAMS");
  const int   total = asked ? std::atoi(asked) : programs;
  for (int done = 0; done < total; done += per_file) {
    std::vector<Job> jobs;
    for (int i = 0; i < std::min(per_file, total - done); ++i)
      jobs.push_back(testing_support::random_job(rng, words[i % std::size(words)]));
    const auto w = testing_support::worst_disagreement(jobs, options);
    ASSERT_LE(w.distance, tolerance) << w.name;
  }
}

TEST(RandomPrograms, AgreeWithTheInterpreter) {
  Rng rng = random_numbers();
  expect_agreement(rng, 2 * per_file);
}

// A pass changes how a program computes its results, but not the results.
TEST(RandomPrograms, AgreeWithoutAnyOneOfThePasses) {
  Rng rng = random_numbers();
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);
  for (const codegen::Pass& pass : codegen::passes()) {
    SCOPED_TRACE(fmt::format("without {}", pass.name));
    expect_agreement(rng, per_file / 2, {.without = {std::string(pass.name)}});
  }
  unsetenv("BRAINTRACE_CFLAGS");
}

}  // namespace
}  // namespace braintrace
