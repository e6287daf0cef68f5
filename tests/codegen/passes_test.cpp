// SPDX-License-Identifier: Apache-2.0
// Passes change how a program is computed, never what: each may be left out.
#include "braintrace/codegen/passes.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/sparse.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/codegen/random_job.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

using testing_support::Form;
using testing_support::Job;
using testing_support::learning_job;

// A product with a sparse matrix whose pattern is known.
Job sparse_job() {
  constexpr int64_t n = 50, E = 5000;
  Rng               rng(22);
  Array             from({DType::I32, {E}}), to({DType::I32, {E}});
  for (Array* a : {&from, &to})
    for (int64_t e = 0; e < E; ++e) a->mutable_data<int32_t>()[e] = static_cast<int32_t>(rng.integer(n));
  const Array  w = random_array(rng, {DType::F64, {E}}), x = random_array(rng, {DType::F64, {n}});
  const Traced t = trace({w.type(), x.type()}, [&](const Tensors& in) -> Tensors {
    return {dot(in[1], SparsePattern{from, to, n, n}, in[0])};
  });
  return {"sparse",
          codegen::with_known_indices(t.program, {t.constants[0].array(), t.constants[1].array()}),
          {t.constants[0].array(), t.constants[1].array()},
          {w, x}};
}

// A trainable product, an operation that is made of others.
Job composite_job() {
  Rng         rng(23);
  const Array x = random_array(rng, {DType::F64, {3, 4}}), w = random_array(rng, {DType::F64, {4, 5}});
  return {"composite",
          trace({x.type(), w.type()}, [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; }).program,
          {},
          {x, w}};
}

// Learning steps and windows, where every pass has something to do, and random programs.
std::vector<Job> all_jobs() {
  std::vector<Job> jobs;
  Rng              rng(21);
  for (const char* word : {"", "R", "M"}) jobs.push_back(testing_support::random_job(rng, word));
  for (const Form form : {Form::Step, Form::Window}) jobs.push_back(learning_job({.form = form, .batch = 16}));
  jobs.push_back(learning_job({.kind = "gru", .batch = 1, .n_in = 70, .n = 80}));
  jobs.push_back(learning_job({.form = Form::Window, .batch = 1}));
  jobs.push_back(sparse_job());
  jobs.push_back(composite_job());
  return jobs;
}

TEST(Passes, EachMayBeLeftOut) {
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);
  const std::vector<Job> jobs = all_jobs();
  for (const codegen::Pass& pass : codegen::passes()) {
    const auto w = testing_support::worst_disagreement(jobs, {.without = {std::string(pass.name)}});
    EXPECT_LE(w.distance, 1e-10) << "without " << pass.name << ": " << w.name;
  }
  unsetenv("BRAINTRACE_CFLAGS");
}

// A pass whose absence changes no schedule would be dead weight, and the test above blind.
TEST(Passes, EachDoesSomething) {
  const std::vector<Job> jobs = all_jobs();
  const auto             text = [](const Job& j, const codegen::Options& o = {}) {
    return to_string(codegen::scheduled({j.program}, o));
  };
  std::vector<std::string> whole;
  for (const Job& j : jobs) whole.push_back(text(j));
  for (const codegen::Pass& pass : codegen::passes()) {
    size_t i = 0;
    while (i < jobs.size() && text(jobs[i], {.without = {std::string(pass.name)}}) == whole[i]) ++i;
    EXPECT_LT(i, jobs.size()) << pass.name << " changes none of them";
  }
}

TEST(Passes, AreSeenByWhoeverWatches) {
  std::vector<codegen::PassRun> runs;
  std::set<std::string_view>    names;
  bool                          is_split = false;
  const Program                 p        = learning_job({.form = Form::Window, .batch = 16}).program;
  const codegen::Schedule       s        = codegen::scheduled({p}, {.observe = [&](const codegen::PassRun& r) {
                                                   EXPECT_GE(r.seconds, 0);
                                                   names.insert(r.pass);
                                                   if (r.pass == "expand" && r.depth == 0)
                                                     EXPECT_EQ(print(*r.before), print(p));
                                                   if (r.pass == "split" && r.depth == 1)
                                                     is_split =
                                                         is_split || (r.after && print(*r.after) != print(*r.before));
                                                   runs.push_back(r);
                                                 }});
  for (const codegen::Pass& pass : codegen::passes()) EXPECT_TRUE(names.contains(pass.name)) << pass.name;
  EXPECT_TRUE(is_split) << "the body of the loop, for some rows";
  EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), [](const auto& r) { return r.depth == 1; }))
      << "the body of the loop";
}

// Whoever breaks a program is found at once, not by what comes after it.
TEST(Passes, AreVerifiedInDebugBuilds) {
#ifdef NDEBUG
  GTEST_SKIP() << "a release build";
#endif
  Program broken = composite_job().program;
  broken.results = {static_cast<Var>(broken.types.size())};
  const auto run = [&] {
    return codegen::observed(
        "fuse", {}, [&] { return broken; }, nullptr, [](const Program& p) { return &p; });
  };
  EXPECT_THROW(run(), UserError);
}

TEST(Passes, HaveNamesThatAreChecked) {
  EXPECT_NO_THROW(codegen::check_pass_names({"fuse", "hoist"}));
  const std::string text = error_of([] { codegen::check_pass_names({"fusse"}); });
  EXPECT_NE(text.find("there is no pass 'fusse'"), std::string::npos) << text;
  EXPECT_NE(text.find("fuse"), std::string::npos) << text;
}

}  // namespace
}  // namespace braintrace
