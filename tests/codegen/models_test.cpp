// SPDX-License-Identifier: Apache-2.0
// Learning steps and windows of small networks, with gradient and weight update in one program: machine code against
// the interpreter, and no equation left to the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "braintrace/algorithms/bptt.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/backends/cpu/stepper.h"
#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/rng.h"
#include "braintrace/codegen/emit.h"
#include "braintrace/codegen/lower.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/grad.h"
#include "braintrace/model/jit.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/neuron.h"
#include "braintrace/nn/optim.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/runtime/values.h"
#include "braintrace/transforms/walk.h"
#include "tests/codegen/agreement.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

using testing_support::Job;

constexpr int64_t B = 3, n_in = 4, n = 6, n_out = 2, T = 5;

class LifLayer : public nn::Module {
 public:
  LifLayer() : w(n_in + n, n), neuron(n) { children({{"w", w}, {"neuron", neuron}}); }
  Tensor update(const Tensor& x) override { return neuron(w(concat({x, neuron.spikes()}, -1))); }

  nn::Linear w;
  nn::LIF    neuron;
};

std::shared_ptr<nn::Module> cell_named(const std::string& kind) {
  if (kind == "rnn") return std::make_shared<nn::ValinaRNNCell>(n_in, n, nn::CellOptions{.activation = "tanh"});
  if (kind == "gru") return std::make_shared<nn::GRUCell>(n_in, n);
  if (kind == "lstm") return std::make_shared<nn::LSTMCell>(n_in, n);
  return std::make_shared<LifLayer>();
}

class Net : public nn::Module {
 public:
  explicit Net(const std::string& kind) : cell(cell_named(kind)), out(n, n_out) {
    children({{"cell", *cell}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(cell->update(x)); }

  std::shared_ptr<nn::Module> cell;
  nn::Linear                  out;
};

std::shared_ptr<OnlineLearner> learner_named(const std::string& rule, Module& model) {
  if (rule == "D_RTRL") return std::make_shared<D_RTRL>(model);
  if (rule == "ES_D_RTRL") return std::make_shared<ES_D_RTRL>(model, TraceDecay::decay(0.9));
  return std::make_shared<BPTT>(model);
}

// One update of the weights from a step, or from a window of T steps; `feeds` tells which states it hands on.
Job learning_job(const std::string& kind, const std::string& rule, bool window, DType dtype,
                 std::vector<cpu::Stepper::Feed>* feeds = nullptr, int64_t batch = B) {
  Environment::Scope scope({.dt = 1.0, .precision = dtype});
  random::seed(3);
  Net model(kind);
  init_all_states(model, {.batch_size = batch});
  const auto learner = learner_named(rule, model);
  learner->compile_graph(zeros({batch, n_in}, dtype));
  optim::SGD opt(0.1);
  opt.register_trainable_weights(model.params());
  auto loss = [&](Tensor x, Tensor y) {
    return mean(square((window ? (*learner)(MultiStepData{{x}}) : (*learner)(x)) - y));
  };
  Rng         rng(4);
  const Shape lead = window ? Shape{T, batch} : Shape{batch};
  auto        draw = [&](int64_t width) {
    Shape shape = lead;
    shape.push_back(width);
    return Tensor(random_array(rng, {dtype, shape}));
  };
  const Tensor x = draw(n_in), y = draw(n_out);
  // A first step, so that traces are not zero.
  loss(window ? x : draw(n_in), y);
  const StatefulProgram p = trace_function({x.type(), y.type()}, [&](const Tensors& in) -> Tensors {
    auto [value, grads] = value_and_grad(loss, model.params())(in[0], in[1]);
    opt.update(grads);
    return {value};
  });
  Job job{fmt::format("{} {} {} {}", kind, rule, window ? "window" : "step", name_of(dtype)), p.program, {}, {}};
  for (const Tensor& c : p.constants) job.constants.push_back(c.array());
  for (const Tensor& t : p.inputs({x, y})) job.args.push_back(t.array());
  for (size_t w = 0; feeds && w < p.writes.size(); ++w)
    for (size_t r = 0; r < p.reads.size(); ++r)
      if (p.reads[r] == p.writes[w]) feeds->push_back({p.num_results + w, p.num_args + r});
  return job;
}

std::vector<Job> learning_jobs(std::initializer_list<const char*> kinds, DType dtype) {
  std::vector<Job> jobs;
  for (const char* kind : kinds)
    for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"})
      for (const bool window : {false, true}) jobs.push_back(learning_job(kind, rule, window, dtype));
  return jobs;
}

TEST(CompiledModels, AgreeInF64) {
  const auto jobs = learning_jobs({"rnn", "gru", "lstm", "lif"}, DType::F64);
  for (const Job& j : jobs) EXPECT_TRUE(codegen::emit({j.program}).calls.empty()) << j.name;
  const auto w = testing_support::worst_disagreement(jobs);
  EXPECT_LE(w.distance, 1e-12) << w.name;
}

TEST(CompiledModels, AgreeInF32) {
  const auto w = testing_support::worst_disagreement(learning_jobs({"gru"}, DType::F32));
  EXPECT_LE(w.distance, 2e-5) << w.name;
}

// A program fed with its own results does what calls one by one do, and the trace needs no second memory.
TEST(CompiledModels, StepperFeedsItself) {
  std::vector<cpu::Stepper::Feed> feeds;
  const Job                       j = learning_job("gru", "D_RTRL", false, DType::F64, &feeds);
  const Program&                  p = j.program;
  std::vector<size_t>             free;  // arguments that stay
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
}

// Rows of a batch that is large enough run through the window apart from each other.
TEST(CompiledModels, RowsRunThroughAWindowOnTheirOwn) {
  std::vector<Job> jobs;
  for (const char* kind : {"rnn", "gru", "lif"})
    for (const char* rule : {"D_RTRL", "ES_D_RTRL", "BPTT"})
      jobs.push_back(learning_job(kind, rule, true, DType::F64, nullptr, 32));
  const auto parted = [](const Job& j) {
    return codegen::emit({j.program}).source.find("char* const all = w;") != std::string::npos;
  };
  for (const Job& j : jobs) EXPECT_TRUE(parted(j)) << j.name;
  EXPECT_FALSE(parted(learning_job("gru", "D_RTRL", true, DType::F64))) << "three rows are too few";
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

// Filter, then one product: the factorised rule costs no product more than the other.
TEST(CompiledModels, RulesNeedEquallyManyProducts) {
  for (const char* kind : {"rnn", "lif"}) {
    const auto products = [&](const char* rule) {
      return count_products(codegen::lowered(learning_job(kind, rule, true, DType::F32, nullptr, 32).program));
    };
    const int d_rtrl = products("D_RTRL");
    EXPECT_GT(d_rtrl, 4) << kind;
    EXPECT_LE(products("ES_D_RTRL"), d_rtrl + 2) << kind << ": one product more for each weight whose trace is carried";
  }
}

// A watched learner says the same under either backend, and goes on after it.
TEST(CompiledModels, WatchForValuesThatAreNotFinite) {
  const auto said = [](const char* backend) {
    set_default_backend(backend);
    random::seed(3);
    Net model("gru");
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

// No array with batch, input and output axes.
TEST(CompiledModels, ArenaOfAWindowIsSmall) {
  const Job j = learning_job("gru", "BPTT", true, DType::F32);
  EXPECT_LT(codegen::emit({j.program}).entries[0].arena_bytes, 4 * 32 * T * B * (n_in + n));
}

}  // namespace
}  // namespace braintrace
