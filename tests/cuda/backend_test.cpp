// SPDX-License-Identifier: Apache-2.0
// Whole programs through the backend: queued, recorded and replayed, and learning steps whose states stay on the
// device. On the processor, or on a GPU if BRAINTRACE_BACKEND is cuda.
#include "braintrace/runtime/backend.h"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "braintrace/runtime/values.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/codegen/random_job.h"

namespace braintrace {
namespace {

using namespace testing_support;

class CudaWholePrograms : public testing::Test {
 protected:
  CudaWholePrograms() { setenv("BRAINTRACE_CFLAGS", "-O0", 1); }  // these programs run a few times
  ~CudaWholePrograms() override { unsetenv("BRAINTRACE_CFLAGS"); }

  static Backend& on_device() {
    return default_backend().name() == "cuda" ? default_backend() : find_backend("cuda-emulation");
  }
};

void expect_near(const Arrays& got, const Arrays& want, Tolerance tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t k = 0; k < got.size(); ++k)
    EXPECT_TRUE(allclose(got[k], want[k], tolerance))
        << what << ", result " << k << ": " << max_difference(got[k], want[k]);
}

TEST_F(CudaWholePrograms, RandomOnesAgree) {
  const char* const words[] = {"", "R", "M", "F"};
  Rng               rng(11);
  for (int i = 0; i < 12; ++i) {
    const Job    job  = random_job(rng, words[i % std::size(words)]);
    const Arrays want = find_backend("reference").compile(job.program, job.constants)->run(job.args);
    const auto   ours = on_device().compile(job.program, job.constants);
    for (int call = 0; call < 3; ++call) expect_near(ours->run(job.args), want, {1e-10, 1e-10}, job.name);
  }
}

TEST_F(CudaWholePrograms, LearningStepsAgreeOnTheirOwnResults) {
  for (const char* kind : {"gru", "alif"})
    for (const char* rule : {"D_RTRL", "ES_D_RTRL"}) {
      const LearningJob job  = learning_job({.kind = kind, .rule = rule, .form = Form::Step, .dtype = DType::F64});
      const auto        want = find_backend("cpu").resident(job.program, job.constants, job.feeds);
      const auto        ours = on_device().resident(job.program, job.constants, job.feeds);
      Arrays            rest, states;
      for (ResidentProgram* f : {want.get(), ours.get()}) {
        rest.clear();
        states.clear();
        Mask fed(job.args.size());
        for (const Feed& feed : f->feeds()) {
          states.push_back(job.args[feed.arg].copy());
          fed[feed.arg] = true;
        }
        for (size_t i = 0; i < fed.size(); ++i)
          if (!fed[i]) rest.push_back(job.args[i]);
        f->hold(std::move(states));
      }
      for (int step = 0; step < 4; ++step)
        expect_near(ours->run(rest), want->run(rest), {1e-9, 1e-9}, fmt::format("{} {} step {}", kind, rule, step));
      expect_near(ours->settle(), want->settle(), {1e-9, 1e-9}, fmt::format("{} {} states", kind, rule));
    }
}

}  // namespace
}  // namespace braintrace
