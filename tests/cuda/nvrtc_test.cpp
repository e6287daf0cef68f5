// SPDX-License-Identifier: Apache-2.0
// The text that the emulation runs is CUDA: if NVIDIA's compiler is installed, it compiles it for every kind of device.
#include "braintrace/backends/cuda/nvrtc.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "braintrace/codegen/cuda/emit.h"
#include "tests/cuda/jobs.h"

namespace braintrace {
namespace {

using codegen::Precision;

// Every text for one kind of device, every precision of products and every kind of device for one text; all of all
// takes minutes, where BRAINTRACE_NVRTC_ALL is set.
TEST(Nvrtc, CompilesTheTextOfTheTestPrograms) {
  if (const auto facts = cuda::nvrtc_facts(); !facts.problem.empty())
    GTEST_SKIP() << "no CUDA text is compiled here: " << facts.problem;
  const auto          groups       = testing_support::all_cuda_jobs();
  const int           kinds[]      = {75, 80, 90};
  constexpr Precision precisions[] = {Precision::F32, Precision::TF32, Precision::BF16};
  const bool          all          = std::getenv("BRAINTRACE_NVRTC_ALL") != nullptr;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<Program> programs;
    for (const auto& j : groups[g]) programs.push_back(j.program);
    for (size_t p = 0; p < 3; ++p)
      for (size_t k = 0; k < 3; ++k) {
        const bool is_chosen = g == testing_support::learning_group ? p == k : p == 0 && k == g % 3;
        if (!all && !is_chosen) continue;
        const auto text = codegen::emit_cuda(codegen::scheduled(programs, {.target = codegen::cuda_target()}),
                                             codegen::cuda_target(), precisions[p]);
        EXPECT_FALSE(cuda::compiled(text.source, kinds[k]).empty());
      }
  }
}

}  // namespace
}  // namespace braintrace
