// SPDX-License-Identifier: Apache-2.0
// Recorded cases as machine code: every operation, every rule, every kind of case. All of them:
//
//   BRAINTRACE_BACKEND=cpu BRAINTRACE_CFLAGS=-O0 braintrace verify tests/data/golden
#include <cstdlib>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/base/temporary_folder.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/verify/verify.h"
#include "tests/support/golden_case.h"

namespace braintrace {
namespace {

class CompiledGolden : public testing::TestWithParam<std::string> {
 protected:
  CompiledGolden() {
    setenv("BRAINTRACE_CFLAGS", "-O0", 1);  // these programs run once
    set_default_backend("cpu");
  }
  ~CompiledGolden() override {
    set_default_backend("reference");
    unsetenv("BRAINTRACE_CFLAGS");
  }
};

TEST_P(CompiledGolden, IsAsRecorded) {
  ASSERT_EQ(cpu::missing_compiler(), "");
  const auto  r = golden::verify_case(golden::load_case((golden_data / GetParam()).string()));
  std::string misses;
  for (const auto& c : r.compared)
    if (!c.equal()) misses += c.what + "\n" + c.difference + "\n";
  EXPECT_EQ(r.status(), golden::CaseReport::Status::Passed) << misses;
}

std::string name_of_case(const testing::TestParamInfo<std::string>& info) { return test_name(info.param); }

INSTANTIATE_TEST_SUITE_P(Operations, CompiledGolden, testing::ValuesIn(golden_cases({"ops"})), name_of_case);
// Together, the first two use all rules.
INSTANTIATE_TEST_SUITE_P(Models, CompiledGolden,
                         testing::Values("corrected/vanilla_all_rules", "numerics/lif_delta_recurrent",
                                         "corrected/snap_ring", "corrected/op_sparse", "corrected/op_conv_flat_state",
                                         "corrected/op_einsum_shared_axis", "numerics/gru_float32",
                                         "numerics/while_settle", "driver/driver_gru"),
                         name_of_case);

// Cases of every kind reach the compiler: they leave files in a folder that was empty.
class ReachingTheCompiler : public CompiledGolden {};

TEST_P(ReachingTheCompiler, LeavesFiles) {
  const char*           usual = std::getenv("BRAINTRACE_CACHE_DIR");
  const std::string     before(usual ? usual : "");
  const TemporaryFolder folder;
  setenv("BRAINTRACE_CACHE_DIR", folder.path.c_str(), 1);
  cpu::forget_loaded();
  golden::verify_case(golden::load_case((golden_data / GetParam()).string()));
  EXPECT_FALSE(fs::is_empty(folder.path));
  usual ? setenv("BRAINTRACE_CACHE_DIR", before.c_str(), 1) : unsetenv("BRAINTRACE_CACHE_DIR");
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReachingTheCompiler,
                         testing::Values("ops/matmul_mv", "numerics/while_settle", "driver/driver_gru"), name_of_case);

}  // namespace
}  // namespace braintrace
