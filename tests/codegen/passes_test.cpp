// SPDX-License-Identifier: Apache-2.0
// Passes change how a program is computed, never what: each may be left out.
#include "braintrace/codegen/passes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/codegen/known_indices.h"
#include "braintrace/codegen/rotate.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/etp/dense.h"
#include "braintrace/functions/loops.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/sparse.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

using testing_support::Form;
using testing_support::Job;
using testing_support::learning_job;
using testing_support::LearningJob;

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
  return {"sparse", t.program, {t.constants[0].array(), t.constants[1].array()}, {w, x}};
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

// Learning steps and windows, where every pass has something to do.
std::vector<LearningJob> all_jobs() {
  std::vector<LearningJob> jobs;
  for (const Form form : {Form::Step, Form::Window}) jobs.push_back(learning_job({.form = form, .batch = 16}));
  jobs.push_back(learning_job({.kind = "gru", .batch = 1, .n_in = 70, .n = 80}));
  jobs.push_back(learning_job({.kind = "rnn", .batch = 1, .n_in = 32, .n = 128}));
  jobs.push_back(learning_job({.form = Form::Window, .batch = 1}));
  jobs.push_back(learning_job({.form = Form::Window, .batch = 32, .n_in = 9, .n = 40}));
  jobs.push_back({sparse_job(), {}});
  jobs.push_back({composite_job(), {}});
  return jobs;
}

// Many cores with small caches, so these small programs are divided like large ones.
codegen::Options many_cores() {
  codegen::Options o;
  o.target.cores           = 16;
  o.target.shared_elements = 256;
  o.target.cache_elements  = 1000;
  return o;
}
codegen::Options without(std::string_view pass) {
  codegen::Options o = pass == "regions" ? many_cores() : codegen::Options{};
  o.without          = {std::string(pass)};
  return o;
}

TEST(Passes, EachMayBeLeftOut) {
  setenv("BRAINTRACE_CFLAGS", "-O0", 1);
  const std::vector<LearningJob> all = all_jobs();
  const std::vector<Job>         jobs(all.begin(), all.end());
  for (const codegen::Pass& pass : codegen::passes()) {
    const auto w = testing_support::worst_disagreement(jobs, without(pass.name));
    EXPECT_LE(w.distance, 1e-10) << "without " << pass.name << ": " << w.name;
  }
  unsetenv("BRAINTRACE_CFLAGS");
}

// A pass whose absence changes no schedule would be dead weight, and the test above blind.
TEST(Passes, EachDoesSomething) {
  const std::vector<LearningJob> jobs = all_jobs();
  const auto                     text = [](const LearningJob& j, const codegen::Options& o = {}) {
    const auto r = codegen::rotated(j.program, j.feeds, o);
    return to_string(codegen::scheduled({codegen::with_known_indices(r ? r->step : j.program, j.constants, o)}, o));
  };
  for (const codegen::Pass& pass : codegen::passes()) {
    const codegen::Options some = without(pass.name);
    codegen::Options       all  = some;
    all.without.clear();
    EXPECT_TRUE(
        std::any_of(jobs.begin(), jobs.end(), [&](const LearningJob& j) { return text(j, some) != text(j, all); }))
        << pass.name << " changes none of them";
  }
}

int products_in(const codegen::Function& f) {
  int n = 0;
  for (const codegen::Kernel& k : f.kernels) {
    n += std::holds_alternative<codegen::Product>(k.what);
    for (const codegen::Contained& c : codegen::contained(k)) n += products_in(*c.function);
  }
  return n;
}

// A pass that another one uses as well is left out there, too: in the body of a loop that is hoisted, and in a step
// that is rotated.
TEST(Passes, AreLeftOutEverywhere) {
  const Program loop =
      trace({{DType::F64, {8, 8}}, {DType::F64, {8, 8}}, {DType::F64, {5, 8, 8}}}, [](const Tensors& in) -> Tensors {
        const ScanBody body = [&](const Tensors& h, const Tensors& x) -> ScanResult {
          const Shape  space{8, 8, 8};
          const Tensor y = sum(broadcast_axes(h[0], space, {0, 1}) * broadcast_axes(in[1], space, {1, 2}), {1});
          return {{tanh(y + x[0])}, {}};
        };
        return {scan(body, {in[0]}, {in[2]}).carry[0]};
      }).program;
  EXPECT_EQ(products_in(*codegen::scheduled({loop}).entries[0]), 1);
  EXPECT_EQ(products_in(*codegen::scheduled({loop}, {.without = {"products"}}).entries[0]), 0);

  const LearningJob j    = learning_job({.kind = "rnn", .batch = 1, .n_in = 32, .n = 128});
  const auto        step = [&](std::vector<std::string> without) {
    const auto rotated = codegen::rotated(j.program, j.feeds, {.without = std::move(without)});
    return rotated ? print(rotated->step) : "";
  };
  EXPECT_NE(step({}), "");
  EXPECT_NE(step({"separate"}), step({}));
  EXPECT_EQ(step({"rotate"}), "");
}

TEST(Passes, AreSeenByWhoeverWatches) {
  std::set<std::string_view> names;
  std::set<int>              depths;
  bool                       is_split = false;
  const LearningJob          j        = learning_job({.form = Form::Window, .batch = 32, .n = 40});
  codegen::Options           o;
  o.observe = [&](const codegen::PassRun& r) {
    EXPECT_GE(r.seconds, 0);
    names.insert(r.pass);
    depths.insert(r.depth);
    if (r.pass == "expand" && r.depth == 0) {
      EXPECT_EQ(print(*r.before), print(j.program));
    }
    if (r.pass == "split") is_split = is_split || (r.depth == 1 && r.after && print(*r.after) != print(*r.before));
  };
  codegen::rotated(j.program, j.feeds, o);
  codegen::scheduled({codegen::with_known_indices(j.program, j.constants, o)}, o);
  o.target = many_cores().target;
  codegen::scheduled({j.program}, o);
  for (const codegen::Pass& pass : codegen::passes()) EXPECT_TRUE(names.contains(pass.name)) << pass.name;
  EXPECT_TRUE(is_split) << "the body of the loop, for some rows";
  EXPECT_TRUE(depths.contains(1)) << "the body of the loop";
  names.clear();
  o.without = {"fuse", "reuse"};
  codegen::scheduled({j.program}, o);
  EXPECT_FALSE(names.contains("fuse") || names.contains("reuse")) << "left out";
}

// A pass that breaks a program is reported itself, not what runs after it.
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
