// SPDX-License-Identifier: Apache-2.0
// Every operation, on its samples and their derivatives, in every float type it takes: machine code against the
// interpreter.
#include <gtest/gtest.h>

#include "braintrace/ops/families.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/op_jobs.h"

namespace braintrace {
namespace {

using testing_support::Job;
using testing_support::op_jobs;

constexpr double f64_tolerance = 1e-12;
constexpr double f32_tolerance = 2e-5;  // sums in another order, functions within 4 ulp
constexpr double f16_tolerance = 2e-3, bf16_tolerance = 1e-2;

void expect_agreement(const std::vector<Job>& jobs, double tolerance) {
  const auto w = testing_support::worst_disagreement(jobs);
  EXPECT_LE(w.distance, tolerance) << w.name;
}

TEST(CompiledOps, AgreeInF64) {
  const auto jobs = op_jobs(DType::F64);
  EXPECT_GT(jobs.size(), all_ops().size());
  expect_agreement(jobs, f64_tolerance);
}
TEST(CompiledOps, AgreeInF32) { expect_agreement(op_jobs(DType::F32), f32_tolerance); }
TEST(CompiledOps, AgreeInF16) { expect_agreement(op_jobs(DType::F16), f16_tolerance); }
TEST(CompiledOps, AgreeInBF16) { expect_agreement(op_jobs(DType::BF16), bf16_tolerance); }

TEST(CompiledOps, PullbacksAgree) {
  const auto jobs = testing_support::pullback_jobs();
  EXPECT_GT(jobs.size(), 50u);
  expect_agreement(jobs, f64_tolerance);
}

}  // namespace
}  // namespace braintrace
