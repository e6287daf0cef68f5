// SPDX-License-Identifier: Apache-2.0
// A window is the sum of its steps, for weights that reach their states directly: random chains of layers, rules,
// cuts, masks, states, and traces to start from.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/e_prop.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/algorithms/three_factor.h"
#include "braintrace/compiler/canonicalize.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/executor/window_program.h"
#include "braintrace/ops/activation.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/support.h"

namespace braintrace {

namespace {

// A fixed seed makes failures repeatable; RC_PARAMS in the environment takes precedence.
const int configured = setenv("RC_PARAMS", "seed=3 max_success=35 max_size=60", 0);

constexpr int64_t T = 6;

json random_cell(int kind, int64_t n_in, int64_t n) {
  switch (kind) {
    case 0:
      return layer("gru", n_in, n);
    case 1:
      return layer("lstm", n_in, n);
    case 2:
      return layer("leaky_rnn", n_in, n, {{"leak", 0.8}});
    case 3:
      return layer("learn_decay_rnn", n_in, n);
    case 4:
      return layer("snn_expcu", n_in, n, {{"neuron", "alif"}, {"surrogate", "sigmoid"}});
    case 5:
      return layer("stacked_pair", n_in, n, {{"recurrent", true}});
    case 6:
      return layer("mini_lstm", n_in, n);
    case 7:
      return layer("skip_out_rnn", n_in, n, {{"leak", 0.7}, {"recurrent", true}});
    case 8:
      return layer("vanilla_rnn", n_in, n, {{"activation", "tanh"}});
    default:
      return layer("mgu", n_in, n);
  }
}

std::unique_ptr<OnlineLearner> random_rule(int kind, Module& model) {
  switch (kind) {
    case 0:
      return std::make_unique<D_RTRL>(model);
    case 1:
      return std::make_unique<ES_D_RTRL>(model, TraceDecay{0.9, 0.6});
    case 2:
      return std::make_unique<EProp>(model, 0.7);
    case 3:
      return std::make_unique<EProp>(model, 0.5, RandomFeedback{.key = 4});
    case 4:
      return std::make_unique<OSTLRecurrent>(model);
    case 5:
      return std::make_unique<SnAp>(model, 2);
    case 6:  // a leak in place of D
      return std::make_unique<OnlineLearner>(
          model, std::make_shared<ParamDimRule>("leaky", ParamDimOptions{.kappa = 0.4, .leak = 0.6}));
    case 7:  // and none at all
      return std::make_unique<OnlineLearner>(
          model, std::make_shared<ParamDimRule>("forgetful", ParamDimOptions{.kappa = 0.4, .leak = 0.0}));
    default:
      return std::make_unique<ThreeFactor>(model, f64(0.3));
  }
}
constexpr int num_cells = 10, num_rules = 9;

// Traces as after some steps; counts of steps are whole and positive.
void set_memory(OnlineLearner& learner, uint64_t seed) {
  Tensors values;
  for (const Tensor& t : learner.memory())
    values.push_back(is_float(t.dtype()) ? normal(t.type(), seed++, 0.7) : Tensor(t.type(), 3));
  learner.set_memory(values);
}

struct Draw {
  std::vector<int>     cells;
  int                  rule;
  BatchSize            batch;
  std::vector<int64_t> cuts;
  std::vector<double>  mask;
  uint64_t             seed;
};
Draw draw() {
  Draw d;
  d.cells = *rc::gen::container<std::vector<int>>(*rc::gen::inRange<size_t>(1, 3), rc::gen::inRange(0, num_cells));
  d.rule  = *rc::gen::inRange(0, num_rules);
  if (*rc::gen::arbitrary<bool>()) d.batch = 2;
  for (int64_t left = T; left > 0; left -= d.cuts.back()) d.cuts.push_back(*rc::gen::inRange<int64_t>(1, left + 1));
  d.mask = *rc::gen::container<std::vector<double>>(T, rc::gen::element(0.0, 1.0, 0.5, 2.0));
  if (d.mask.back() == 0) d.mask.back() = 1;
  d.seed = *rc::gen::inRange<uint64_t>(1, 1000);
  return d;
}
json model_of(const Draw& d) {
  std::vector<json> layers;
  for (int kind : d.cells) layers.push_back(random_cell(kind, layers.empty() ? 2 : 3, 3));
  layers.push_back(linear(3, 2));
  return chain(layers);
}

struct Outcome {
  Gradients grads;
  Tensors   memory;
  bool      factored;
};
Outcome run(const Draw& d, bool in_windows, LeafFilter& invariant) {
  auto       model   = make_model(model_of(d), d.batch, d.seed);
  const auto learner = random_rule(d.rule, *model);
  Shape      shape   = {T, 2};
  if (d.batch) shape.insert(shape.begin() + 1, *d.batch);
  const Tensor xs = normal({DType::F64, shape}, d.seed + 1), m(Array::of<double>(d.mask, {T}));
  learner->compile_graph(row(xs, 0));
  set_states(*model, d.seed + 2);
  set_memory(*learner, d.seed + 3);
  const bool factored = d.rule == 1;  // its windows are sums of steps for every weight
  invariant           = factored ? LeafFilter() : window_free(learner->graph());
  Gradients g         = in_windows ? windowed(*learner, xs, m, d.cuts) : stepwise(*learner, xs, m);
  return {std::move(g), learner->memory(), factored};
}

TEST(Windows, AreSumsOfTheirSteps) {
  EXPECT_TRUE(rc::check("windows are sums of their steps", [] {
    const Draw d = draw();
    RC_LOG() << model_of(d).dump() << " rule " << d.rule << " seed " << d.seed << "\n";
    LeafFilter       invariant;
    const Outcome    steps = run(d, false, invariant), windows = run(d, true, invariant);
    const Difference apart = difference(windows.grads, steps.grads, invariant);
    RC_LOG() << apart.leaf << " differs by " << apart.worst << "\n";
    RC_ASSERT(apart.worst < 1e-12);
    RC_ASSERT(steps.grads.squared_norm().item() > 1e-6);
    for (size_t i = 0; i < steps.memory.size(); ++i) {
      const double size = std::max(1.0, max(abs(steps.memory[i])).item());
      RC_ASSERT(max(abs(convert(windows.memory[i] - steps.memory[i], DType::F64))).item() < 1e-12 * size);
    }
  }));
}

// An output that is the new value of a state is also found as the state.
TEST(Windows, AModelMayReturnAState) {
  const Tensor xs = normal({DType::F64, {T, 2}}, 5), m = ones({T}, DType::F64);
  auto         model = make_model(layer("lstm", 2, 3));
  const auto   run   = [&](const std::vector<int64_t>& lengths) {
    D_RTRL learner(*model);
    learner.compile_graph(row(xs, 0));
    set_states(*model, 7);
    return lengths.empty() ? stepwise(learner, xs, m) : windowed(learner, xs, m, lengths);
  };
  const Gradients steps = run({});
  EXPECT_GT(steps.squared_norm().item(), 1e-6);
  EXPECT_LT(gap(run({2, 4}), steps), 1e-12);
}

// h ← 0.7 h + tanh(x W) with W = w ∘ σ(a) and a itself trainable: in a window credit passes the product to both.
TEST(Windows, WeightsMadeByTrainableOperationsGetTheirCredit) {
  random::seed(3);
  auto             cell = zoo::make_cell();
  const ParamState w = cell->param("w", {2, 3}), a = cell->param("a", {2, 3});
  const auto       h = cell->keep("h", HiddenState(zeros({3}, DType::F64)));
  cell->step         = [=](const Tensor& x) {
    h.set(0.7 * h.value() + tanh(matmul(x, w.value() * sigmoid(element_wise(a.value())))));
    return h.value();
  };
  const Tensor xs = normal({DType::F64, {T, 2}}, 5), m = ones({T}, DType::F64);
  D_RTRL       learner(*cell);
  learner.compile_graph(row(xs, 0));
  const Gradients window = windowed(learner, xs, m, {T});
  h.set(zeros({3}, DType::F64));
  const Difference apart = difference(window, unrolled(*cell, xs, m));
  EXPECT_LT(apart.worst, 1e-12) << apart.leaf;
  EXPECT_GT(apart.weakest, 1e-3);
}

// Exceptions from the property: weights that reach a state through another product, and traces that are not the
// ones carried.
TEST(Windows, TheLawCanFail) {
  Draw          d{{0}, 0, {}, {2, 4}, std::vector<double>(T, 1.0), 7};
  LeafFilter    invariant;
  const Outcome steps = run(d, false, invariant), windows = run(d, true, invariant);
  EXPECT_FALSE(invariant("a.Wr.weight.weight"));
  EXPECT_GT(gap(windows.grads, steps.grads), 1e-3);

  auto         model = make_model(model_of(d), d.batch, d.seed);
  D_RTRL       learner(*model);
  const Tensor xs = normal({DType::F64, {T, 2}}, d.seed + 1), m = ones({T}, DType::F64);
  learner.compile_graph(row(xs, 0));
  set_states(*model, d.seed + 2);
  EXPECT_GT(gap(windowed(learner, xs, m, {2, 4}), steps.grads, invariant), 1e-3);  // from zero traces
}

// Arrays of this shape, axes in any order, that loops of a program carry or compute.
int in_loops(const Program& p, const Shape& shape, bool inside = false) {
  const auto sorted = [](Shape s) {
    std::sort(s.begin(), s.end());
    return s;
  };
  int n = 0;
  if (inside)
    for (const Type& t : p.types) n += sorted(t.shape) == sorted(shape);
  for (const Eqn& e : p.eqns)
    for (const ProgramPtr& body : nested_programs(e.attrs)) n += in_loops(*body, shape, true);
  return n;
}

// A carried trace is read before the loop over a window's steps and written after it.
TEST(Windows, TracesStayOutOfTheLoop) {
  constexpr int64_t B = 7;
  for (const int rule : {0, 2, 4, 5}) {
    auto       model   = make_model(chain({layer("lstm", 2, 3), linear(3, 2)}), B);
    const auto learner = random_rule(rule, *model);
    learner->compile_graph(zeros({B, 2}, DType::F64));
    const auto program = [&](bool step_by_step) {
      return build_window_program(learner->graph(), learner->rule(), {.length = T, .check_finite = step_by_step});
    };
    const WindowProgram window = program(false), rolled = program(true);
    int                 traces = 0;
    for (const MemorySlot& slot : learner->memory_slots()) {
      if (slot.type.rank() < 4) continue;  // [B,I,O,W]; that of a bias is as small as a state
      ++traces;
      EXPECT_EQ(in_loops(window.forward, slot.type.shape), 0) << rule << " " << to_string(slot.type);
      EXPECT_EQ(in_loops(window.backward, slot.type.shape), 0) << rule << " " << to_string(slot.type);
      EXPECT_GT(in_loops(rolled.forward, slot.type.shape), 0) << rule << " " << to_string(slot.type);
    }
    EXPECT_GE(traces, 4) << rule;
  }
}

}  // namespace

}  // namespace braintrace
