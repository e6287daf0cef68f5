// SPDX-License-Identifier: Apache-2.0
// Learning steps and windows of small networks, with gradient and weight update in one program: machine code against
// the interpreter, and no equation left to the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/backends/cpu/stepper.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/codegen/schedule.h"
#include "braintrace/functions/grad.h"
#include "braintrace/functions/jit.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"
#include "tests/codegen/learning_jobs.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

using testing_support::Form;
using testing_support::Job;
using testing_support::learning_job;
using testing_support::learning_jobs;
using testing_support::LearningJob;

TEST(CompiledModels, AgreeInF64) {
  const auto jobs = learning_jobs({"rnn", "gru", "lstm", "lif", "alif"}, DType::F64);
  for (const Job& j : jobs) EXPECT_TRUE(codegen::scheduled({j.program}).calls.empty()) << j.name;
  const auto w = testing_support::worst_disagreement(jobs);
  EXPECT_LE(w.distance, 1e-12) << w.name;
}

TEST(CompiledModels, AgreeInF32) {
  const auto w = testing_support::worst_disagreement(learning_jobs({"gru"}, DType::F32));
  EXPECT_LE(w.distance, 2e-5) << w.name;
}

// A program fed with its own results does what calls one by one do, and the trace needs no second memory.
void feeds_itself(const LearningJob& j) {
  SCOPED_TRACE(j.name);
  const auto&         feeds = j.feeds;
  const Program&      p     = j.program;
  std::vector<size_t> free;  // arguments that stay
  for (size_t a = 0; a < p.args.size(); ++a)
    if (std::none_of(feeds.begin(), feeds.end(), [&](const auto& f) { return f.arg == a; })) free.push_back(a);
  ASSERT_GT(feeds.size(), 4u);
  cpu::Stepper stepper(p, j.constants, feeds, j.args);
  Arrays       args = j.args;
  double       loss = 0;
  for (int t = 0; t < 3; ++t) {
    const Arrays want = evaluate(p, j.constants, args);
    for (const auto& f : feeds) args[f.arg] = want[f.result];
    std::vector<const void*> in;
    for (size_t a : free) in.push_back(args[a].raw());
    Arrays             rest;
    std::vector<void*> out;
    for (size_t r = 0; r < p.results.size(); ++r)
      if (std::none_of(feeds.begin(), feeds.end(), [&](const auto& f) { return f.result == r; }))
        rest.emplace_back(want[r].type());
    for (Array& a : rest) out.push_back(a.mutable_raw());
    stepper.step(in.data(), out.data());
    EXPECT_NEAR(at(rest[0], 0), at(want[0], 0), 1e-12);
    EXPECT_NE(at(want[0], 0), loss) << "nothing was learned";
    loss = at(want[0], 0);
  }
  size_t states = 0;
  for (const auto& f : feeds) {
    EXPECT_LT(max_difference(Tensor(stepper.value(f.arg)), Tensor(args[f.arg])), 1e-12) << f.arg;
    states += args[f.arg].bytes();
  }
  EXPECT_LT(stepper.bytes(), states + states / 10);

  // What it settles is what it had; taken in again it goes on, in the same memory.
  Arrays values = stepper.settle();
  EXPECT_THROW(stepper.value(feeds[0].arg), UserError);
  ASSERT_EQ(values.size(), feeds.size());
  std::vector<const void*> places;
  for (size_t i = 0; i < feeds.size(); ++i) {
    EXPECT_LT(max_difference(Tensor(values[i]), Tensor(args[feeds[i].arg])), 1e-12) << i;
    places.push_back(values[i].raw());
  }
  stepper.hold(std::move(values));
  values = stepper.settle();
  for (size_t i = 0; i < feeds.size(); ++i) EXPECT_EQ(values[i].raw(), places[i]);
}
TEST(CompiledModels, StepperFeedsItself) {
  feeds_itself(learning_job({}));
  for (const int64_t batch : {1, 3}) feeds_itself(learning_job({.kind = "lstm", .batch = batch}));
}

// Rows of a batch that is large enough run through the window apart from each other.
TEST(CompiledModels, RowsRunThroughAWindowOnTheirOwn) {
  std::vector<Job> jobs;
  for (const char* kind : {"rnn", "gru", "lif"})
    for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"})
      jobs.push_back(learning_job({.kind = kind, .rule = rule, .form = Form::Window, .batch = 32}));
  const auto parted = [](const Job& j) {
    const auto kernels = codegen::scheduled({j.program}).entries[0]->kernels;
    return std::any_of(kernels.begin(), kernels.end(), [](const codegen::Kernel& k) {
      const auto* loop = std::get_if<codegen::TimeLoop>(&k.what);
      return loop && loop->part_bytes;
    });
  };
  for (const Job& j : jobs) EXPECT_TRUE(parted(j)) << j.name;
  EXPECT_FALSE(parted(learning_job({.form = Form::Window}))) << "three rows are too few";
  const auto w = testing_support::worst_disagreement(jobs);
  EXPECT_LE(w.distance, 1e-12) << w.name;

  const int before = cpu::num_threads();
  for (const Job& j : {jobs[3], jobs[7]}) {
    const auto f = cpu_backend().compile(j.program, j.constants);
    cpu::set_num_threads(1);
    const Arrays one = f->run(j.args);
    for (const int threads : {2, 4, 8}) {
      cpu::set_num_threads(threads);
      const Arrays many = f->run(j.args);
      for (size_t r = 0; r < one.size(); ++r)
        EXPECT_TRUE(identical(one[r], many[r])) << j.name << ", " << threads << " threads, result " << r;
    }
  }
  cpu::set_num_threads(before);
}

int count_products(const Program& p) {
  int count = 0;
  for (const Eqn& e : p.eqns) {
    count += e.op == &dot_general_op ? 1 : 0;
    map_nested(e.attrs, [&](const Program& body) {
      count += count_products(body);
      return body;
    });
  }
  return count;
}

// Filter, then one product: the factorized rule costs no product more than the other.
TEST(CompiledModels, RulesNeedEquallyManyProducts) {
  for (const char* kind : {"rnn", "lif"}) {
    const auto products = [&](const char* rule) {
      const LearningJob j =
          learning_job({.kind = kind, .rule = rule, .form = Form::Window, .dtype = DType::F32, .batch = 32});
      return count_products(codegen::lowered(j.program));
    };
    const int d_rtrl = products("D_RTRL");
    EXPECT_GT(d_rtrl, 4) << kind;
    EXPECT_LE(products("ES_D_RTRL"), d_rtrl + 2) << kind << ": one product more for each weight whose trace is carried";
  }
}

// A watched learner says the same under either backend, and goes on after it.
TEST(CompiledModels, WatchForValuesThatAreNotFinite) {
  constexpr int64_t n_in = 4;
  const auto        said = [](const char* backend) {
    set_default_backend(backend);
    random::seed(3);
    nn::GRUCell model(n_in, 6);
    init_all_states(model);
    D_RTRL learner(model, {.check_finite = true});
    learner.compile_graph(zeros({n_in}));
    const auto        step = jit(grad([&](Tensor x) { return sum(square(learner(x))); }, model.params()));
    const std::string text = error_of([&] { step(full({n_in}, NAN)); });
    EXPECT_GT(step(ones({n_in})).squared_norm().item(), 0) << backend;
    set_default_backend("reference");
    return text;
  };
  const std::string compiled = said("cpu");
  EXPECT_EQ(compiled, said("reference"));
  EXPECT_NE(compiled.find("is not finite"), std::string::npos) << compiled;
}

}  // namespace
}  // namespace braintrace
