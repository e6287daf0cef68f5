// SPDX-License-Identifier: Apache-2.0
// A target is a printer: the same schedules, printed another way, compute the same.
#include "tests/codegen/plain_printer.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/compiler.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/codegen/random_job.h"

namespace braintrace {
namespace {

using testing_support::Job;

std::vector<Job> jobs_without_host() {
  std::vector<Job> jobs = testing_support::learning_jobs({"gru", "alif"}, DType::F64);
  Rng              rng(31);
  for (int i = 0; i < 40; ++i) {
    Job j = testing_support::random_job(rng, i % 2 ? "R" : "");
    if (codegen::scheduled({j.program}).calls.empty()) jobs.push_back(std::move(j));
  }
  return jobs;
}

TEST(PlainPrinter, AgreesWithTheInterpreter) {
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);
  const std::vector<Job> jobs = jobs_without_host();
  ASSERT_GT(jobs.size(), 30u);
  std::vector<Program> programs;
  for (const Job& j : jobs) programs.push_back(j.program);
  const codegen::Schedule schedule = codegen::scheduled(programs, {.target = codegen::portable_target()});
  const cpu::Loaded       loaded   = cpu::load(testing_support::plain_source(schedule));
  ASSERT_TRUE(loaded.library) << loaded.problem;
  for (size_t k = 0; k < jobs.size(); ++k) {
    const Job&               j    = jobs[k];
    const Arrays             want = evaluate(j.program, j.constants, j.args);
    std::vector<double>      arena(static_cast<size_t>(schedule.entries[k]->arena_bytes) / 8 + 1);
    std::vector<const void*> in;
    std::vector<void*>       out;
    Arrays                   got;
    for (const Arrays* inputs : {&j.constants, &j.args})
      for (const Array& a : *inputs) in.push_back(a.raw());
    for (const Array& a : want) got.emplace_back(a.type());
    for (Array& a : got) out.push_back(a.mutable_raw());
    using Entry      = int (*)(char*, const void* const*, void* const*);
    const auto entry = reinterpret_cast<Entry>(loaded.library->symbol("plain_entry_" + std::to_string(k)));
    ASSERT_EQ(entry(reinterpret_cast<char*>(arena.data()), in.data(), out.data()), 0) << j.name;
    for (size_t r = 0; r < want.size(); ++r)
      for (int64_t i = 0; i < want[r].size(); ++i) {
        const double a = at(got[r], i), b = at(want[r], i);
        if (std::isnan(b) ? std::isnan(a) : a == b) continue;
        ASSERT_LE(std::abs(a - b), 1e-10 * (1 + std::abs(b))) << j.name << ", result " << r;
      }
  }
  unsetenv("BRAINTRACE_CFLAGS");
}

}  // namespace
}  // namespace braintrace
