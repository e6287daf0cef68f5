// SPDX-License-Identifier: Apache-2.0
// Random programs over the whole registry, also differentiated and batched: machine code against the interpreter. Many
// programs share one C file, so that thousands can be tried: BRAINTRACE_FUZZ_PROGRAMS says how many.
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "tests/codegen/agreement.h"
#include "tests/transforms/random_program.h"

namespace braintrace {
namespace {

using testing_support::Job;
using testing_support::Recipe;

constexpr double  tolerance = 1e-10;  // f64, through several ops
constexpr int     per_file  = 40;
const std::string words[]   = {"", "R", "M", "F", "RM"};  // as they are, differentiated, batched

Recipe random_recipe(Rng& rng) {
  Recipe r;
  for (int64_t n = 1 + rng.integer(8); n > 0; --n)
    r.push_back({rng.bits() % 65536, rng.bits() % 65536, rng.bits() % 65536});
  return r;
}

Job job_of(const Recipe& recipe, const std::string& word) {
  const auto run = testing_support::transformed(testing_support::random_run(recipe), word);
  Job        j{testing_support::describe(recipe) + word, run.program, {}, {}};
  for (const Tensor& x : run.in) j.args.push_back(x.array());
  return j;
}

TEST(RandomPrograms, AgreeWithTheInterpreter) {
  const char* asked = std::getenv("BRAINTRACE_FUZZ_PROGRAMS");
  const int   total = asked ? std::atoi(asked) : 2 * per_file;
  const char* seed  = std::getenv("BRAINTRACE_FUZZ_SEED");
  Rng         rng(seed ? std::strtoull(seed, nullptr, 10) : 5);
  for (int done = 0; done < total; done += per_file) {
    std::vector<Job> jobs;
    for (int i = 0; i < per_file; ++i) jobs.push_back(job_of(random_recipe(rng), words[i % std::size(words)]));
    const auto w = testing_support::worst_disagreement(jobs);
    ASSERT_LE(w.distance, tolerance) << w.name;
  }
}

}  // namespace
}  // namespace braintrace
