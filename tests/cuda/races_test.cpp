// SPDX-License-Identifier: Apache-2.0
// No thread reads or writes what another writes unless a barrier is between them, whatever the result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/backends/cuda/emulated_device.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/cuda/hazards.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/verify/verify.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/cuda/emulated.h"
#include "tests/cuda/jobs.h"
#include "tests/support/golden_case.h"

namespace braintrace {
namespace {

using testing_support::Job;

// r = Σ_j a_ij c_j reads a; b = 2 a overwrites it.
Job overwriting_job() {
  const Tensor c(Array::of<double>({1, 2, 3}, {3}));
  const Traced t = trace({{DType::F64, {40, 3}}}, [&](const Tensors& in) -> Tensors {
    return {sum(in[0] * c, 1), in[0] * 2.0};
  });
  Job          out{"overwrites its argument", t.program, {}, {}};
  for (const Tensor& x : t.constants) out.constants.push_back(x.array());
  Rng rng(7);
  out.args = {random_array(rng, {DType::F64, {40, 3}})};
  return out;
}

// Places count the constants of a program among its inputs, and pairs that share memory do not.
TEST(Hazards, AResultWaitsForReadersOfTheArgumentItOverwrites) {
  const Job   job      = overwriting_job();
  const auto  schedule = codegen::scheduled({job.program}, {.target = codegen::cuda_target()});
  const auto& entry    = *schedule.entries[0];
  ASSERT_EQ(entry.first_arg, 1U);
  ASSERT_TRUE(entry.may_share(1, 0));
  ASSERT_EQ(entry.kernels.size(), 2U);
  codegen::Hazards hazards(entry);
  hazards.add(entry.kernels[0]);
  EXPECT_TRUE(hazards.must_wait(entry.kernels[1]));
}

class Races : public testing::Test {
 protected:
  void expect_none(const std::vector<Job>& jobs, double tolerance) {
    const auto w = testing_support::worst_on_device(*device, jobs);
    EXPECT_LE(w.distance, tolerance) << w.name;
  }
  const std::unique_ptr<cuda::Device> device = cuda::open_emulated_device(true);
};

// Kernels that are added to a text, and which of them race when two blocks of 64 threads run them.
std::vector<bool> racing(cuda::Device& device, const std::vector<std::string>& kernels) {
  const Job         job    = overwriting_job();
  const auto        target = codegen::cuda_target(4, 227 << 10);
  codegen::CudaText text   = codegen::emit_cuda(codegen::scheduled({job.program}, {.target = target}), target);
  const auto        name   = [](size_t i) { return fmt::format("added{}", i); };
  for (size_t i = 0; i < kernels.size(); ++i)
    text.source += fmt::format(
        "extern \"C\" __global__ void {}(bt_cuda_frame f) {{\nbt_team t = bt_joined(f);\nfloat *x = (float*)f.arena, "
        "*s = "
        "(float*)bt_shared_memory;\n(void)x, (void)s;\n{}\n}}\n",
        name(i), kernels[i]);
  const auto        module = device.load(text);
  std::vector<bool> out;
  for (size_t i = 0; i < kernels.size(); ++i) {
    codegen::bt_cuda_frame f{};
    f.arena    = static_cast<char*>(device.allocate(1024));
    f.barriers = static_cast<uint32_t*>(device.allocate(codegen::barrier_bytes));
    device.clear(f.arena, 1024);
    device.clear(f.barriers, codegen::barrier_bytes);
    std::string said;
    try {
      device.launch(*module, {.name = name(i), .blocks = 2, .threads = 64, .shared = 256, .meets = true}, f);
    } catch (const InternalError& e) {
      said = e.what();
    }
    out.push_back(said.find("no barrier is between") != said.npos);
    device.free(f.arena);
    device.free(f.barriers);
  }
  return out;
}

// Negative control: each missing barrier is found, whatever the result, and no other.
TEST_F(Races, AreFoundWhereABarrierIsMissing) {
  const std::vector<bool> none(6, false), all(6, true);
  EXPECT_EQ(racing(*device, {"x[threadIdx.x] = 1;",  // two blocks
                             "x[t.rank] = 1; __syncthreads(); x[127 - t.rank] += 1;",
                             "float y = x[127 - t.rank]; x[t.rank] = y;",
                             "s[0] = 1;",  // one block
                             "s[threadIdx.x] = 1; s[63 - threadIdx.x] = 2;",
                             "s[threadIdx.x] = 1; s[threadIdx.x ^ 1] = 2;"}),  // one warp
            all);
  EXPECT_EQ(racing(*device, {"x[t.rank] = 1;", "x[t.rank] = 1; bt_meet(t); x[127 - t.rank] += 1;",
                             "float y = x[127 - t.rank]; bt_meet(t); x[t.rank] = y;", "x[t.rank] = s[0];",
                             "s[threadIdx.x] = 1; __syncthreads(); s[63 - threadIdx.x] = 2;",
                             "s[threadIdx.x] = 1; __syncwarp(); s[threadIdx.x ^ 1] = 2;"}),
            none);
}

TEST_F(Races, NoneInOverwrittenArguments) { expect_none({overwriting_job()}, 1e-12); }
TEST_F(Races, NoneInRandomPrograms) { expect_none(testing_support::cuda_random_jobs(), 1e-10); }
TEST_F(Races, NoneInEvents) { expect_none(testing_support::cuda_event_jobs(), 2e-5); }
TEST_F(Races, NoneInPersistentLoops) {
  std::vector<Job> jobs;
  for (const char* kind : {"rnn", "gru", "lstm", "lif"})
    jobs.push_back(testing_support::learning_job({.kind  = kind,
                                                  .rule  = kind == std::string("rnn") ? "BPTT" : "D_RTRL",
                                                  .form  = testing_support::Form::Sequence,
                                                  .dtype = DType::F32,
                                                  .batch = 20,
                                                  .n_in  = 3,
                                                  .n     = 17,
                                                  .n_out = 2,
                                                  .steps = 3}));
  expect_none(jobs, 2e-5);
}

// Those with patterns that are constants of their programs. All recorded cases:
//
//   braintrace verify --backend cuda-races tests/data/golden
class RacesOfRecordedCases : public testing::TestWithParam<std::string> {};

TEST_P(RacesOfRecordedCases, NoneAndAsRecorded) {
  const BackendScope device("cuda-races");
  const auto         r = golden::verify_case(golden::load_case((golden_data / GetParam()).string()));
  EXPECT_EQ(r.status(), golden::CaseReport::Status::Passed);
}
INSTANTIATE_TEST_SUITE_P(, RacesOfRecordedCases,
                         testing::Values("corrected/snap_ring", "numerics/sparse_rnn_unbatched"),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace braintrace
