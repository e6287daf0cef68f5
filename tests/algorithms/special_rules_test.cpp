// SPDX-License-Identifier: Apache-2.0
// Rules with a signal or a memory of their own: UORO, three-factor learning, DNI.
#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/dni.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/algorithms/three_factor.h"
#include "braintrace/algorithms/uoro.h"
#include "braintrace/control/scan.h"
#include "braintrace/etp/dense.h"
#include "braintrace/model/frame.h"
#include "braintrace/transforms/inline.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

// UORO with signs that the test chooses.
struct ChosenSigns : OnlineLearner {
  LongTermState signs{Tensor(Type{DType::F64, {2, 1}}, 1)};
  ChosenSigns(Module& m, LearnerOptions options) : OnlineLearner(m, std::make_shared<UoroRule>(), std::move(options)) {}
  Tensors aux(const std::optional<int64_t>&) const override { return {signs.value()}; }
};

// Mean over all signs of two units in three steps: the exact gradient, though no single draw is close to it.
void expect_unbiased(Module& model, const Tensor& xs, LearnerOptions options) {
  set_states(model, 21);
  const Gradients want = unrolled(model, xs, ones({3}, DType::F64));
  ASSERT_GT(difference(want, want).weakest, 1e-3);
  for (const VjpMethod method : {VjpMethod::MultiStep, VjpMethod::SingleStep}) {
    options.vjp_method = method;
    ChosenSigns learner(model, options);
    learner.compile_graph(row(xs, 0));
    const auto step = jit(grad([&](Tensor x) { return loss_of(learner(x)); }, model.params()));
    Gradients  mean;
    double     farthest = 0;
    for (unsigned pattern = 0; pattern < 64; ++pattern) {
      set_states(model, 21);
      learner.reset_state();
      Gradients total;
      for (unsigned t = 0; t < 3; ++t) {
        const auto sign = [&](unsigned unit) { return (pattern >> (2 * t + unit)) & 1 ? 1.0 : -1.0; };
        learner.signs.set(Tensor(Array::of<double>({sign(0), sign(1)}, {2, 1})));
        const Gradients g = step(row(xs, t));
        total             = t == 0 ? g : total + g;
      }
      farthest = std::max(farthest, gap(total, want));
      mean     = pattern == 0 ? total : mean + total;
    }
    EXPECT_LT(gap(mean / Tensor(64.0), want), 1e-10);
    EXPECT_GT(farthest, 1e-2);
  }
}

// If the old state is stopped, no step passes credit back: every rule gives the gradient of the step.
TEST(HeldStates, PassNoCreditOnUnderAnyRule) {
  const Tensor xs = normal({DType::F64, {3, 2}}, 5);
  for (const char* rule : {"d_rtrl", "ostl_recurrent", "snap", "rtrl"}) {
    auto cell  = (random::seed(3), zoo::make_cell());
    auto h     = cell->hidden("h", {3});
    auto W     = cell->linear("W", 5, 3);
    cell->step = [=](const Tensor& x) mutable {
      h.set(tanh(W(concat({x, stop_gradient(h.value())}, -1))));
      return h.value();
    };
    init_all_states(*cell);
    const auto learner = compile(*cell, rule, row(xs, 0));
    const auto total   = [&](auto& f) {
      set_states(*cell, 21);
      Gradients sum;
      for (int64_t t = 0; t < 3; ++t) {
        const Gradients g = grad([&](Tensor x) { return loss_of(f(x)); }, cell->params())(row(xs, t));
        sum               = t == 0 ? g : sum + g;
      }
      return sum;
    };
    const Gradients want = total(*cell);
    EXPECT_GT(difference(want, want).weakest, 1e-3);
    EXPECT_LT(gap(total(*learner), want), 1e-12) << rule;
  }
}

TEST(Uoro, IsUnbiased) {
  auto model = make_model(layer("vanilla_rnn", 2, 2, {{"activation", "tanh"}}));
  expect_unbiased(*model, normal({DType::F64, {3, 2}}, 5), {});
}

// Every step runs h ← 0.7 h + tanh(x_k w) over the rows of its input, followed substep by substep.
std::shared_ptr<zoo::Cell> substep_cell() {
  random::seed(3);
  auto       cell = zoo::make_cell();
  const auto w    = cell->param("w", {2, 2});
  const auto h    = cell->hidden("h", {2});
  cell->step      = [=](const Tensor& x) {
    const Tensor   W    = w.value();
    const ScanBody body = [&](const Tensors& carry, const Tensors& row) -> ScanResult {
      return {{0.7 * carry[0] + tanh(matmul(row[0], W))}, {}};
    };
    h.set(scan(body, {h.value()}, {x}).carry[0]);
    return h.value();
  };
  init_all_states(*cell);
  return cell;
}

TEST(Uoro, IsUnbiasedOverTheSubstepsOfAScan) {
  const auto     cell = substep_cell();
  LearnerOptions options;
  options.compile.control_flow.scan_unroll_limit = 0;
  UORO learner(*cell, {}, options);
  learner.compile_graph(zeros({3, 2}, DType::F64));
  ASSERT_NE(learner.graph().hidden_groups.at(0).descent, nullptr);
  expect_unbiased(*cell, normal({DType::F64, {3, 3, 2}}, 5), options);
}

// Rows of a batch never mix, so one push serves all of them: the largest value grows with the batch, not its square.
TEST(SnAp, OnePushServesAllRowsOfABatch) {
  const auto largest = [](int64_t batch) {
    auto model = make_model(layer("vanilla_rnn", 2, 4, {{"activation", "tanh"}}), batch);
    SnAp learner(*model, 2);
    learner.compile_graph(zeros({batch, 2}, DType::F64));
    const auto step =
        trace_function({{DType::F64, {batch, 2}}}, [&](const Tensors& in) -> Tensors { return {learner(in[0])}; });
    int64_t most = 0;
    for (const Type& t : expand_composites(step.program).types) most = std::max(most, t.size());
    return most;
  };
  EXPECT_EQ(largest(6), 2 * largest(3));
}

// Where every unit reaches every other, preparing a step holds nothing that grows faster than the pattern, n × n.
TEST(SnAp, PreparesInMemoryOfThePattern) {
  const auto held = [](int64_t n) {
    auto model = make_model(layer("vanilla_rnn", 2, n, {{"activation", "tanh"}}), 2);
    SnAp learner(*model, 2);
    learner.compile_graph(zeros({2, 2}, DType::F64));
    const auto step =
        trace_function({{DType::F64, {2, 2}}}, [&](const Tensors& in) -> Tensors { return {learner(in[0])}; });
    int64_t most = 0;
    for (const Tensor& c : step.constants) most = std::max(most, c.size());
    return most;
  };
  EXPECT_LE(held(24), 4 * held(12));
}

// On a ring, where every unit drives only the next, no value of a step grows faster than the number of units.
TEST(SnAp, StepsInMemoryOfASparsePattern) {
  const auto largest = [](int64_t n) {
    Ints ends(static_cast<size_t>(n) + 1), next(static_cast<size_t>(n));
    for (int64_t i = 0; i <= n; ++i) ends[i] = i;
    for (int64_t i = 0; i < n; ++i) next[i] = (i + 1) % n;
    auto model =
        make_model(layer("sparse_rnn", 2, n, {{"csr", {{"shape", {n, n}}, {"indptr", ends}, {"indices", next}}}}), 2);
    SnAp learner(*model, 2);
    learner.compile_graph(zeros({2, 2}, DType::F64));
    const auto step =
        trace_function({{DType::F64, {2, 2}}}, [&](const Tensors& in) -> Tensors { return {learner(in[0])}; });
    int64_t most = 0;
    for (const Type& t : expand_composites(step.program).types) most = std::max(most, t.size());
    return most;
  };
  EXPECT_LE(largest(128), 2 * largest(64));
}

TEST(EsDRtrl, SaysThatSubstepsHaveNoFactorizedTrace) {
  const auto     cell = substep_cell();
  LearnerOptions options;
  options.compile.control_flow.scan_unroll_limit = 0;
  ES_D_RTRL learner(*cell, TraceDecay::decay(0.5), options);
  EXPECT_NE(error_of([&] {
              learner.compile_graph(zeros({3, 2}, DType::F64));
            }).find("inside a scan of 3 substeps"),
            std::string::npos);
}

TEST(Uoro, DrawsAnewAtEveryStepAndInEverySequence) {
  auto         model = make_model(layer("gru", 2, 3));
  const Tensor xs = normal({DType::F64, {3, 2}}, 5), m = ones({3}, DType::F64);
  UORO         learner(*model);
  learner.compile_graph(row(xs, 0));
  const auto run = [&] {
    set_states(*model, 21);
    return stepwise(learner, xs, m);
  };
  const Gradients first = run(), on = run();
  EXPECT_GT(gap(on, first), 1e-3);
  const double steps = learner.memory()[0].item();
  learner.reset_state();
  EXPECT_EQ(learner.memory()[0].item(), steps);
  for (size_t i = 1; i < learner.memory().size(); ++i) EXPECT_TRUE(learner.memory()[i].is_literal(0));
  EXPECT_GT(gap(run(), first), 1e-3);
  learner.init_etrace_state();
  EXPECT_EQ(gap(run(), first), 0);
}

// A window that drops its traces drops all but the number of steps.
TEST(Uoro, CountsTheStepsOfFreshWindows) {
  auto         model = make_model(layer("gru", 2, 3));
  const Tensor xs    = normal({DType::F64, {3, 2}}, 5);
  UORO         learner(*model);
  learner.compile_graph(row(xs, 0));
  learner(row(xs, 0));
  learner.update(MultiStepData{{xs}}, true);
  EXPECT_EQ(learner.memory()[0].item(), 4);
  for (size_t i = 1; i < learner.memory().size(); ++i) EXPECT_EQ(max(abs(learner.memory()[i])).item(), 0);
}

// The factors have the type of states and weights, whatever it is.
TEST(Uoro, FactorsKeepTheirType) {
  for (const DType dtype : {DType::F16, DType::F32, DType::F64}) {
    const Environment::Scope precision({.precision = dtype});
    auto                     model = make_model(layer("gru", 2, 3));
    const Tensor             xs = normal({dtype, {3, 2}}, 5), m = ones({3}, dtype);
    UORO                     learner(*model);
    learner.compile_graph(row(xs, 0));
    const Types     before = types_of(learner.memory());
    const Gradients g      = stepwise(learner, xs, m);
    EXPECT_EQ(types_of(learner.memory()), before) << name_of(dtype);
    for (const auto& [path, leaves] : g)
      for (const auto& [leaf, d] : leaves) EXPECT_EQ(d.dtype(), dtype);
    for (const Tensor& t : learner.memory()) EXPECT_TRUE(std::isfinite(max(abs(t)).item())) << name_of(dtype);
    EXPECT_GT(g.squared_norm().item(), 1e-4) << name_of(dtype);
  }
}

// A readout of the state itself: ∂(Σ (y-½)²)/∂h = 2 h - 1.
struct Modulated {
  std::shared_ptr<Module> model = make_model(layer("gru", 2, 3));
  Tensor                  xs    = normal({DType::F64, {4, 2}}, 5);
  ThreeFactor             learner{*model};
  Path                    traced = Path::dotted("Wz.weight");

  Modulated() {
    learner.compile_graph(row(xs, 0));
    set_states(*model, 21);
  }
  Tensor hidden() const { return model->state_at(Path::dotted("h")).value(); }

  // Σ_t ∇_t under the modulator of each step, as a function of the new state.
  Gradients run(const std::function<Tensor(const Tensor&)>& modulator) {
    auto bare = make_model(layer("gru", 2, 3));
    set_states(*bare, 21);
    Gradients total;
    for (int64_t t = 0; t < 4; ++t) {
      const Tensor    m = modulator((*bare)(row(xs, t)));
      const Gradients g = grad([&](Tensor x) { return loss_of(learner(x, m)); }, model->params())(row(xs, t));
      total             = t == 0 ? g : total + g;
    }
    return total;
  }
};

TEST(ThreeFactor, TheTrueSignalGivesDRtrl) {
  Modulated r;
  auto      model = make_model(layer("gru", 2, 3));
  D_RTRL    d_rtrl(*model);
  d_rtrl.compile_graph(row(r.xs, 0));
  set_states(*model, 21);
  const Gradients  want   = stepwise(d_rtrl, r.xs, ones({4}, DType::F64));
  const auto       direct = [](const std::string& leaf) { return leaf.rfind("Wr", 0) != 0; };
  const Difference d      = difference(r.run([](const Tensor& h) { return 2 * h - 1; }), want, direct);
  EXPECT_LT(d.worst, 1e-11) << d.leaf;
  EXPECT_GT(d.weakest, 1e-4);
}

TEST(ThreeFactor, IsLinearInTheModulator) {
  const auto at = [](double a, double b) {
    Modulated r;
    return r.run([=](const Tensor& h) { return a * h + b; }).at(r.traced, "weight");
  };
  const Tensor one = at(1, 0), other = at(0, 1);
  ASSERT_GT(squared(one - other).item(), 1e-8);
  EXPECT_LT(max(abs(at(2, -3) - (2 * one - 3 * other))).item(), 1e-12);
  EXPECT_EQ(max(abs(at(0, -1) + other)).item(), 0);
  EXPECT_EQ(max(abs(at(0, 0))).item(), 0);
}

TEST(ThreeFactor, ModulatorShapesAndPrecedence) {
  const auto with = [](const Tensor& m) {
    Modulated r;
    return r.run([&](const Tensor&) { return m; }).at(r.traced, "weight");
  };
  const Tensor scalar = with(f64(0.5));
  EXPECT_EQ(max(abs(with(full({3}, 0.5, DType::F64)) - scalar)).item(), 0);
  EXPECT_EQ(max(abs(with(full({3, 1}, 0.5, DType::F64)) - scalar)).item(), 0);
  EXPECT_EQ(max(abs(with(full({1, 1}, 0.5, DType::F64)) - scalar)).item(), 0);
  EXPECT_EQ(max(abs(with(Tensor(0.5)) - scalar)).item(), 0);  // a bare number takes the type of the states
  const std::string message = error_of([&] { with(zeros({4}, DType::F64)); });
  EXPECT_NE(message.find("modulator: its shape [4] does not fit group 0 (h)"), std::string::npos) << message;

  Modulated r;
  r.learner.set_modulator(f64(2));
  const Tensor x  = row(r.xs, 0);
  const auto   at = [&](auto call) {
    set_states(*r.model, 21);
    r.learner.reset_state();
    return grad([&](Tensor in) { return squared(call(in)); }, r.model->params())(x).at(r.traced, "weight");
  };
  const Tensor standing = at([&](const Tensor& in) { return r.learner(in); });
  const Tensor given    = at([&](const Tensor& in) { return r.learner(in, f64(1)); });
  EXPECT_LT(max(abs(standing - 2 * given)).item(), 1e-14);
  // Neither a successful nor a failed call leaves its modulator behind.
  EXPECT_NE(error_of([&] { r.learner(x, zeros({9}, DType::F64)); }), "");
  EXPECT_EQ(max(abs(at([&](const Tensor& in) { return r.learner(in); }) - standing)).item(), 0);
  Modulated none;
  EXPECT_NE(error_of([&] { none.learner(x); }).find("no modulator"), std::string::npos);
  EXPECT_NE(
      error_of([&] { ThreeFactor(*r.model, LearnerOptions{.vjp_method = VjpMethod::MultiStep}); }).find("single-step"),
      std::string::npos);
}

TEST(ThreeFactor, AWindowIsTheSumOfItsSteps) {
  const Tensor m = normal({DType::F64, {4, 3}}, 9);
  Modulated    steps, window, sweep, constant;
  int64_t      t      = 0;
  const auto   sum    = steps.run([&](const Tensor&) { return row(m, t++); });
  const auto   loss   = [&](Tensor xs) { return loss_of(window.learner(MultiStepData{{xs}}, m)); };
  const auto   traced = [](const std::string& leaf) { return leaf.rfind("Wr", 0) != 0; };
  const auto   got    = grad(loss, window.model->params())(window.xs);
  EXPECT_GT(difference(got, sum, traced).weakest, 1e-4);
  EXPECT_LT(gap(got, sum, traced), 1e-12);
  // Sequences under a constant modulator.
  sweep.learner.set_modulator(f64(0.5));
  const auto standing = etrace_grad([&](Tensor x) { return loss_of(sweep.learner(x)); }, sweep.learner,
                                    {.reduction = Reduction::Sum})(sweep.xs);
  EXPECT_LT(gap(standing.grads, constant.run([](const Tensor&) { return f64(0.5); }), traced), 1e-12);
  const std::string message = error_of([&] { window.learner(MultiStepData{{window.xs}}, f64(1)); });
  EXPECT_NE(message.find("needs that leading axis"), std::string::npos) << message;
}

// The feedback signal is normalized: the size of the loss does not matter to traced weights.
TEST(RandomFeedback, IsFreeOfScaleAndDependsOnItsKey) {
  const json   description = chain({layer("gru", 2, 3), linear(3, 2)});
  const Tensor xs          = normal({DType::F64, {3, 2}}, 5);
  const auto   run         = [&](TraceFactorization factors, uint64_t key, double scale) {
    auto     model = make_model(description);
    RuleAxes axes{.trace_factorization = factors, .learning_signal = SignalSource::RandomFeedback};
    if (factors == TraceFactorization::IoFactorized) axes.decay = 0.9;
    const auto learner = compile(*model, ETraceConfig(axes), row(xs, 0), {.feedback = RandomFeedback{.key = key}});
    set_states(*model, 21);
    return stepwise(*learner, xs, full({3}, scale, DType::F64));
  };
  const auto traced  = [](const std::string& leaf) { return leaf.rfind("a.Wz", 0) == 0 || leaf.rfind("a.Wh", 0) == 0; };
  const auto readout = [](const std::string& leaf) { return leaf.rfind("out", 0) == 0; };
  for (const auto factors : {TraceFactorization::PerParam, TraceFactorization::IoFactorized}) {
    const Gradients one = run(factors, 1, 1);
    EXPECT_GT(difference(one, one, traced).weakest, 1e-4);
    EXPECT_LT(gap(run(factors, 1, 100), one, traced), 1e-6);
    EXPECT_LT(gap(run(factors, 1, 100), one * f64(100), readout), 1e-12);
    EXPECT_GT(gap(run(factors, 2, 1), one, traced), 1e-2);
    EXPECT_LT(gap(run(factors, 2, 1), one, readout), 1e-12);
  }
}

// None of several groups keeps its exact signal.
TEST(RandomFeedback, ReachesEveryGroup) {
  const Tensor xs  = normal({DType::F64, {3, 2}}, 5);
  const auto   run = [&](SignalSource signal) {
    auto        model = make_model(chain({layer("gru", 2, 3), layer("gru", 3, 4), linear(4, 2)}));
    RuleOptions options;
    if (signal == SignalSource::RandomFeedback) options.feedback = RandomFeedback{.key = 1};
    const auto learner = compile(*model, ETraceConfig(RuleAxes{.learning_signal = signal}), row(xs, 0), options);
    EXPECT_EQ(learner->graph().hidden_groups.size(), 2u);
    set_states(*model, 21);
    return stepwise(*learner, xs, ones({3}, DType::F64));
  };
  const Gradients exact = run(SignalSource::Symmetric), random = run(SignalSource::RandomFeedback);
  for (const std::string group : {"a.Wh", "b.Wh"}) {
    const auto traced = [&](const std::string& leaf) { return leaf.rfind(group, 0) == 0; };
    EXPECT_GT(difference(exact, exact, traced).weakest, 1e-4) << group;
    EXPECT_GT(gap(random, exact, traced), 1e-2) << group;
  }
}

// h ← tanh(x w_in + h w_rec): w_in is read by a plain product.
struct Synthetic {
  std::shared_ptr<Module> model = make_model(layer("plain_etp_rnn", 2, 3));
  Tensor                  xs = normal({DType::F64, {5, 2}}, 5), m = ones({5}, DType::F64);
  State                   h = model->state_at(Path::dotted("h"));

  void                               start() { set_states(*model, 21); }
  std::shared_ptr<SyntheticGradient> synthesizer() const {
    return std::make_shared<SyntheticGradient>(std::vector<Shape>{{3, 1}}, 0, 0, DType::F64);
  }
  // h_t and ∂(losses after t)/∂h_t of every step, from the bare model.
  std::vector<std::pair<Tensor, Tensor>> futures() {
    start();
    std::vector<std::pair<Tensor, Tensor>> out;
    for (int64_t t = 0; t < 5; ++t) {
      (*model)(row(xs, t));
      const Tensor now    = h.value();
      Tensor       future = zeros({3}, DType::F64);
      if (t + 1 < 5) {
        const auto suffix = [&](Tensor rest) {
          Tensor loss(0.0);
          for (int64_t s = 0; s < rest.shape()[0]; ++s) loss = loss + loss_of((*model)(row(rest, s)));
          return loss;
        };
        future = grad(suffix, StateMap{{Path::dotted("h"), h}})(slice_axis(xs, 0, t + 1, 5))["h"];
      }
      h.set(now);
      out.emplace_back(now, future);
    }
    return out;
  }
  static bool plain(const std::string& leaf) { return leaf.find("w_in") != std::string::npos; }
};

TEST(Dni, WithoutAnEstimateIsDRtrl) {
  Synthetic r;
  D_RTRL    d_rtrl(*r.model, {.vjp_method = VjpMethod::MultiStep});
  DNI       dni(*r.model, r.synthesizer());
  for (OnlineLearner* l : {static_cast<OnlineLearner*>(&d_rtrl), static_cast<OnlineLearner*>(&dni)})
    l->compile_graph(row(r.xs, 0));
  r.start();
  const Gradients want = stepwise(d_rtrl, r.xs, r.m);
  r.start();
  EXPECT_EQ(gap(stepwise(dni, r.xs, r.m), want), 0);
}

TEST(Dni, TheTrueFutureRepairsPlainWeights) {
  Synthetic r;
  r.start();
  const Gradients exact = unrolled(*r.model, r.xs, r.m);
  const auto      synth = r.synthesizer();
  DNI             dni(*r.model, synth);
  D_RTRL          d_rtrl(*r.model, {.vjp_method = VjpMethod::MultiStep});
  dni.compile_graph(row(r.xs, 0));
  d_rtrl.compile_graph(row(r.xs, 0));
  r.start();
  const Gradients without = stepwise(d_rtrl, r.xs, r.m);

  const auto futures = r.futures();
  r.start();
  const auto step = jit(grad([&](Tensor x) { return loss_of(dni(x)); }, r.model->params()));
  Gradients  total;
  for (int64_t t = 0; t < 5; ++t) {
    synth->state_at(Path::dotted("bias0")).set(futures[static_cast<size_t>(t)].second);
    const Gradients g = step(row(r.xs, t));
    total             = t == 0 ? g : total + g;
  }
  EXPECT_LT(gap(total, exact, Synthetic::plain), 1e-11);
  EXPECT_GT(gap(without, exact, Synthetic::plain), 1e-2);
  // Weights with a trace do not use the estimate.
  EXPECT_EQ(gap(total, without, [](const std::string& leaf) { return !Synthetic::plain(leaf); }), 0);
}

TEST(Dni, TrainingFindsTheFuture) {
  Synthetic  r;
  const auto synth   = r.synthesizer();
  const auto futures = r.futures();
  DNI        dni(*r.model, synth);
  dni.compile_graph(row(r.xs, 0));
  const auto missing = [&] {
    double total = 0;
    for (const auto& [h, future] : futures)
      total += squared((*synth)({reshape(h, {3, 1})})[0] - reshape(future, {3, 1})).item();
    return total;
  };
  const double before = missing();
  ASSERT_GT(before, 1e-2);
  r.start();
  const auto untrained = train_synthetic_gradient(dni, *synth, r.xs, {.loss = loss_of, .lr = 0, .reset = false});
  EXPECT_GT(untrained.at(0), 0) << "the error of all steps, not that of the last one, which has no future";
  const auto run = [&] {
    r.start();  // the states of the futures
    dni.reset_state();
    const auto errors = train_synthetic_gradient(dni, *synth, r.xs, {.loss = loss_of, .lr = 0.1, .reset = false});
    EXPECT_EQ(errors.size(), 1u);
  };
  for (int epoch = 0; epoch < 60; ++epoch) run();
  EXPECT_LT(missing(), 0.5 * before);
  DNI bare(*r.model);
  bare.compile_graph(row(r.xs, 0));
  EXPECT_NE(error_of([&] {
              grad([&](Tensor x) { return loss_of(bare(x)); }, r.model->params())(row(r.xs, 0));
            }).find("no synthesizer"),
            std::string::npos);
}

}  // namespace

}  // namespace braintrace
