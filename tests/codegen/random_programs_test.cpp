// SPDX-License-Identifier: Apache-2.0
// Random programs over the whole registry, also differentiated and batched: machine code against the interpreter. Many
// programs share one C file, so that thousands can be tried: BRAINTRACE_FUZZ_PROGRAMS says how many.
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

TEST(RandomPrograms, AgreeWithTheInterpreter) {
  const char* asked = std::getenv("BRAINTRACE_FUZZ_PROGRAMS");
  const int   total = asked ? std::atoi(asked) : 2 * per_file;
  const char* seed  = std::getenv("BRAINTRACE_FUZZ_SEED");
  Rng         rng(seed ? std::strtoull(seed, nullptr, 10) : 5);
  for (int done = 0; done < total; done += per_file) {
    std::vector<Job> jobs;
    for (int i = 0; i < per_file; ++i) jobs.push_back(testing_support::random_job(rng, words[i % std::size(words)]));
    const auto w = testing_support::worst_disagreement(jobs);
    ASSERT_LE(w.distance, tolerance) << w.name;
  }
}

}  // namespace
}  // namespace braintrace
