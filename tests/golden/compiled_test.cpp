// SPDX-License-Identifier: Apache-2.0
// Recorded cases as machine code: one of each kind of model, rule and operation. All of them:
//
//   BRAINTRACE_BACKEND=cpu BRAINTRACE_CFLAGS=-O1 braintrace verify tests/data/golden
#include <cstdlib>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/compiler.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/verify/verify.h"
#include "tests/support/golden_case.h"

namespace braintrace {
namespace {

class CompiledGolden : public testing::TestWithParam<const char*> {
 protected:
  CompiledGolden() {
    setenv("BRAINTRACE_CFLAGS", "-O1", 1);  // these programs run once
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

INSTANTIATE_TEST_SUITE_P(Golden, CompiledGolden,
                         testing::Values("corrected/gru_windows", "corrected/snap_ring", "numerics/gru_float32",
                                         "numerics/while_settle", "numerics/lif_delta_recurrent", "ops/conv1d_nch_same",
                                         "ops/sparse_mv", "ops/embedding_scalar"),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace braintrace
