// SPDX-License-Identifier: Apache-2.0
// CUDA text compared with the interpreter: on the processor, or on a GPU if BRAINTRACE_BACKEND is cuda.
#include <gtest/gtest.h>

#include "braintrace/backends/cuda/open_device.h"
#include "braintrace/runtime/backend.h"
#include "tests/codegen/op_jobs.h"
#include "tests/cuda/emulated.h"
#include "tests/cuda/jobs.h"

namespace braintrace {
namespace {

using testing_support::Job;

constexpr double f64_tolerance = 1e-10, f32_tolerance = 2e-5, bf16_tolerance = 1e-2, f16_tolerance = 2e-3;

void expect_agreement(const std::vector<Job>& jobs, double tolerance,
                      codegen::Precision precision = codegen::Precision::F32) {
  const bool        real = default_backend().name() == "cuda";
  cuda::OpenDevice& open = cuda::open_device(real ? 0 : cuda::emulation);
  const auto        w    = testing_support::worst_on_device(*open.device, jobs, precision);
  EXPECT_LE(w.distance, tolerance) << w.name;
}

TEST(CudaPrograms, RandomOnesAgree) { expect_agreement(testing_support::cuda_random_jobs(), f64_tolerance); }
TEST(CudaPrograms, LearningAgrees) { expect_agreement(testing_support::cuda_learning_jobs(), f32_tolerance); }
TEST(CudaPrograms, PullbacksAgree) { expect_agreement(testing_support::pullback_jobs(), f64_tolerance); }
TEST(CudaPrograms, EventsAgree) {
  for (const Job& j : testing_support::cuda_event_jobs())
    EXPECT_NE(codegen::to_string(codegen::scheduled({j.program}, {.target = codegen::cuda_target()})).find("event_dot"),
              std::string::npos);
  expect_agreement(testing_support::cuda_event_jobs(), f32_tolerance);
}
TEST(CudaPrograms, OpsAgreeInF64) { expect_agreement(testing_support::op_jobs(DType::F64), f64_tolerance); }
TEST(CudaPrograms, OpsAgreeInF32) { expect_agreement(testing_support::op_jobs(DType::F32), f32_tolerance); }
TEST(CudaPrograms, OpsAgreeInF16) { expect_agreement(testing_support::op_jobs(DType::F16), f16_tolerance); }
TEST(CudaPrograms, OpsAgreeInBF16) { expect_agreement(testing_support::op_jobs(DType::BF16), bf16_tolerance); }

}  // namespace
}  // namespace braintrace
