// SPDX-License-Identifier: Apache-2.0
// The learner as an object: values that are not finite, resets, and what it reports about its states.
#include <limits>

#include <gtest/gtest.h>

#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/etrace_vmap.h"
#include "braintrace/etp/dense.h"
#include "braintrace/ops/elementary.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/zoo/cell.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

const Type   input{DType::F64, {2}};
const Tensor nan_input(Array::of<double>({1, std::numeric_limits<double>::quiet_NaN()}, {2}));

// A learner with checks, and everything that a failing call must not change.
struct Watched {
  std::shared_ptr<Module>        model = make_model(chain({layer("gru", 2, 3), linear(3, 2)}));
  std::unique_ptr<OnlineLearner> learner;

  explicit Watched(const std::string& rule = "d_rtrl", bool check = true) {
    learner = compile(*model, rule, zeros({2}, DType::F64), {.check_finite = check});
    set_states(*model, 21);
    (*learner)(normal(input, 5));
  }
  Tensors everything() const {
    Tensors out;
    for (const StateMap& map : {model->states(), learner->own_states()})
      for (const auto& [path, state] : map)
        for (const std::string& leaf : state.leaf_names()) out.push_back(state.leaf(leaf));
    return out;
  }
  // The message of a failing call; states, traces and counters are as they were.
  std::string message(const std::function<void()>& call) const {
    const Tensors     before = everything();
    const std::string text   = error_of(call);
    const Tensors     after  = everything();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(max(abs(after[i] - before[i])).item(), 0);
    return text;
  }
};

void expect_phrases(const std::string& message, const std::vector<std::string>& phrases) {
  for (const std::string& p : phrases) EXPECT_NE(message.find(p), std::string::npos) << p << "\n  in: " << message;
}

TEST(CheckFinite, NamesInputAndStep) {
  for (const char* rule : {"d_rtrl", "ostl_feedforward", "uoro"}) {
    Watched    r(rule);
    const auto loss = [&](Tensor x) { return squared((*r.learner)(x)); };
    const auto step = jit(grad(loss, r.model->params()));
    step(normal(input, 6));
    const std::vector<std::string> says = {"check_finite: input 0 is not finite", "element 1 of f64[2] is nan",
                                           "In call 2 "};
    expect_phrases(r.message([&] { step(nan_input); }), says);
    expect_phrases(r.message([&] { grad(loss, r.model->params())(nan_input); }), says);
    expect_phrases(r.message([&] { (*r.learner)(nan_input); }), says);
    step(normal(input, 7));  // and it goes on
    EXPECT_EQ(r.learner->running_index(), 3);
  }
}

TEST(CheckFinite, NamesStateParameterAndTrace) {
  Watched      r;
  const State  h = r.model->state_at(Path::dotted("a.h")), W = r.model->state_at(Path::dotted("a.Wz.weight"));
  const Tensor good = h.value(), infinite = full({3}, std::numeric_limits<double>::infinity(), DType::F64);
  h.set(infinite);
  const auto step = [&] { (*r.learner)(normal(input, 6)); };
  expect_phrases(error_of(step), {"state 'a.h'", "is not finite", "inf", "In call 1 "});
  h.set(good);
  W.set_leaf("bias", infinite);
  expect_phrases(error_of(step), {"a.Wz.weight", "bias", "is not finite"});
  W.set_leaf("bias", zeros({3}, DType::F64));
  Tensors memory = r.learner->memory();
  memory[0]      = Tensor(memory[0].type(), std::numeric_limits<double>::infinity());
  r.learner->set_memory(memory);
  expect_phrases(error_of(step), {"the trace of a.W", "is not finite"});
}

TEST(CheckFinite, NamesEquationAndStatesInside) {
  // h ← 0.5 h + log(x w): finite inputs, a logarithm of something negative.
  random::seed(3);
  auto       cell = zoo::make_cell();
  const auto w    = cell->param("w", {2, 2}, 1);
  const auto h    = cell->hidden("h", {2});
  cell->step      = [=](const Tensor& x) {
    h.set(0.5 * h.value() + log(matmul(x, w.value())));
    return h.value();
  };
  init_all_states(*cell);
  D_RTRL learner(*cell, {.check_finite = true});
  learner.compile_graph(ones({2}, DType::F64));
  learner(ones({2}, DType::F64));
  Tensor xs = ones({4, 2}, DType::F64) * Tensor(Array::of<double>({1, 1, -1, 1}, {4, 1}));
  expect_phrases(error_of([&] { learner(MultiStepData{{xs}}); }),
                 {"the result of equation", "= log", "which goes into h", "In call 1 ", "step 2 of its window"});
  EXPECT_EQ(learner.running_index(), 1);
  expect_phrases(error_of([&] { etrace_grad([&](Tensor x) { return squared(learner(x)); }, learner)(xs); }), {"= log"});
}

TEST(CheckFinite, HoldsForCompiledPrograms) {
  struct OnCpu {
    std::string before{default_backend().name()};
    OnCpu() { set_default_backend("cpu"); }
    ~OnCpu() { set_default_backend(before); }
  } compiled;
  Watched    r;
  const auto step = jit(grad([&](Tensor x) { return squared((*r.learner)(x)); }, r.model->params()));
  step(normal(input, 6));
  expect_phrases(r.message([&] { step(nan_input); }),
                 {"check_finite: input 0 is not finite", "element 1 of f64[2] is nan", "In call 2 "});
  step(normal(input, 7));
  EXPECT_EQ(r.learner->running_index(), 3);
}

TEST(CheckFinite, ChangesNoNumberAndIsOffByDefault) {
  Watched      on, off("d_rtrl", false);
  const Tensor xs = normal({DType::F64, {4, 2}}, 6), m = ones({4}, DType::F64);
  EXPECT_EQ(gap(stepwise(*on.learner, xs, m), stepwise(*off.learner, xs, m)), 0);
  EXPECT_LT(gap(windowed(*on.learner, xs, m, {1, 3}), windowed(*off.learner, xs, m, {1, 3})), 1e-13);
  const Tensor y = (*off.learner)(nan_input);
  EXPECT_TRUE(std::isnan(sum(y).item()));
}

TEST(Learner, ResetsKeepTypesAndModelStates) {
  auto       model   = make_model(layer("gru", 2, 3));
  const auto learner = compile(*model, "d_rtrl", zeros({2}, DType::F64), {.trace_dtype = DType::BF16});
  (*learner)(normal(input, 5));
  const Tensor h    = model->state_at(Path::dotted("h")).value();
  const auto   size = [&](const char* path) {
    double total = 0;
    for (const auto& e : learner->get_etrace_of(Path::dotted(path)))
      total += squared(convert(e.value, DType::F64)).item();
    return total;
  };
  ASSERT_GT(size("Wz.weight"), 0);
  learner->reset_state(Path::dotted("Wz.weight"));
  EXPECT_EQ(size("Wz.weight"), 0);
  EXPECT_GT(size("Wh.weight"), 0);
  EXPECT_EQ(learner->running_index(), 1);
  learner->reset_state(Path::dotted("Wh.weight.bias"));
  EXPECT_GT(size("Wh.weight"), 0);
  EXPECT_EQ(size("Wh.weight.bias"), 0);
  learner->reset_state();
  EXPECT_EQ(size("Wh.weight"), 0);
  EXPECT_EQ(learner->running_index(), 0);
  for (const Tensor& t : learner->memory()) EXPECT_EQ(t.dtype(), DType::BF16);
  EXPECT_EQ(max(abs(model->state_at(Path::dotted("h")).value() - h)).item(), 0);
  EXPECT_NE(error_of([&] { learner->reset_state(Path::dotted("nothing")); }).find("carries no trace"),
            std::string::npos);
  (*learner)(normal(input, 5));
  learner->init_etrace_state();
  EXPECT_EQ(size("Wh.weight"), 0);
  EXPECT_EQ(learner->running_index(), 0);
}

TEST(Learner, EveryRuleTellsAndForgetsWhatItKnowsOfAParameter) {
  for (const char* rule : {"d_rtrl", "es_d_rtrl", "eprop", "ostl_recurrent", "snap", "uoro", "rtrl"}) {
    RuleOptions options;
    if (rule == std::string("es_d_rtrl")) options.decay_or_rank = TraceDecay::decay(0.5);
    if (rule == std::string("snap")) options.n = 2;
    auto       model   = make_model(chain({layer("gru", 2, 3), linear(3, 2)}));
    const auto learner = compile(*model, rule, zeros({2}, DType::F64), options);
    set_states(*model, 21);
    (*learner)(normal(input, 5));
    const auto size = [&](const char* path) {
      double total = 0;
      for (const auto& e : learner->get_etrace_of(Path::dotted(path))) total += squared(e.value).item();
      return total;
    };
    EXPECT_GT(size("a.Wz.weight"), 0) << rule;
    EXPECT_GT(size("a.Wh.weight.weight"), 0) << rule;
    if (rule == std::string("es_d_rtrl") || rule == std::string("uoro")) {  // they keep what they tell, counter first
      const auto told = learner->remembered();
      ASSERT_EQ(told.size(), learner->memory().size()) << rule;
      EXPECT_EQ(told[0].value.item(), learner->memory()[0].item()) << rule;
    }
    learner->reset_state(Path::dotted("a.Wz.weight"));
    EXPECT_EQ(size("a.Wz.weight"), 0) << rule;
    EXPECT_GT(size("a.Wh.weight.weight"), 0) << rule;
    EXPECT_NE(error_of([&] { learner->get_etrace_of(Path::dotted("nothing")); }).find("carries no trace"),
              std::string::npos)
        << rule;
  }
}

// Windows carry ε^x back as an adjoint of the output, so that one product with the weights serves all steps; not if
// the weight is made of something that changes from step to step.
TEST(Learner, FactorizedWindowsCarryOneAdjointPerProduct) {
  const auto adjoints = [](bool changing) {
    auto       cell = zoo::make_cell();
    const auto w    = cell->param("w", {2, 3});
    const auto h    = cell->hidden("h", {3});
    cell->step      = [=](const Tensor& x) {
      h.set(tanh(matmul(x, changing ? w.value() * sum(h.value()) : w.value()) + 0.5 * h.value()));
      return h.value();
    };
    init_all_states(*cell);
    ES_D_RTRL learner(*cell, TraceDecay::decay(0.5));
    learner.compile_graph(zeros({2}, DType::F64));
    return learner.rule().adjoint(learner.graph()).size();
  };
  EXPECT_EQ(adjoints(false), 1u);
  EXPECT_EQ(adjoints(true), 0u);
}

// D = 0: the trace is D_f ⊗ x of the last step. Its factors are stored; the trace is computed on request.
TEST(Learner, StatesThatForgetAtOnceKeepFactors) {
  constexpr int64_t n_in = 2, n = 6;
  auto              model = make_model(layer("vanilla_rnn", n_in, n, {{"activation", "tanh"}}));
  D_RTRL            learner(*model, {.vjp_method = VjpMethod::MultiStep});
  learner.compile_graph(zeros({n_in}, DType::F64));
  int64_t kept = 0;
  for (const Tensor& t : learner.memory()) kept += t.size();
  EXPECT_EQ(kept, (n_in + n) + n + n);  // x and D_f of the weight, the trace of the bias

  const Path   W = Path::dotted("W.weight"), h = Path::dotted("h");
  const Tensor first  = normal(input, 5);
  const auto   second = [&](bool forget) {
    set_states(*model, 21);
    learner.reset_state();
    learner(first);
    if (forget) learner.reset_state();
    return grad([&](Tensor x) { return loss_of(learner(x)); }, model->params())(normal(input, 6));
  };
  // A multi-step window contracts the trace with the credit that comes back through the recurrent weights.
  EXPECT_GT(gap(second(true), second(false)), 1e-3);

  set_states(*model, 21);
  const Tensor x = concat({first, model->state_at(h).value()}, 0);
  learner(first);
  const auto entries = learner.get_etrace_of(W);
  ASSERT_EQ(entries.size(), 2u);
  const Tensor D_f = 1 - square(model->state_at(h).value());
  for (const auto& e : entries) {
    EXPECT_EQ(e.kind, "trace");
    const Tensor want = e.key == "bias" ? expand_dims(D_f, -1) : expand_dims(expand_dims(x, -1) * D_f, -1);
    ASSERT_EQ(e.value.shape(), want.shape());
    EXPECT_LT(max(abs(e.value - want)).item(), 1e-14);
  }
  learner.reset_state(W);
  for (const Tensor& t : learner.memory()) EXPECT_EQ(max(abs(t)).item(), 0);

  // The same in lanes.
  D_RTRL one(*model);
  one.compile_graph(zeros({n_in}, DType::F64));
  set_states(*model, 21);
  ETraceVmap lanes(one, 2);
  lanes(stack({first, 2 * first}, 0));
  for (const auto& e : one.get_etrace_of(W))
    for (const auto& of_one : entries)
      if (e.key == of_one.key) {
        EXPECT_LT(max(abs(row(e.value, 0) - of_one.value)).item(), 1e-14);
        EXPECT_GT(max(abs(row(e.value, 1) - of_one.value)).item(), 1e-3);
      }
}

TEST(Learner, KnowsItsStates) {
  auto   model = make_model(layer("lstm", 2, 3));
  D_RTRL learner(*model);
  EXPECT_FALSE(learner.is_compiled());
  EXPECT_EQ(learner.path_to_states().size(), model->states().size());
  EXPECT_EQ(learner.param_states().size() + learner.hidden_states().size() + learner.other_states().size(),
            model->states().size());
  for (const auto& [path, state] : learner.path_to_states()) EXPECT_EQ(learner.state_id_to_path(state), path);
  EXPECT_NE(error_of([&] { learner.state_id_to_path(ParamState(Tensor(1.0))); }).find("not a state of the model"),
            std::string::npos);
  // h of an LSTM is not read again at its position; its traces are stored next to those of c.
  learner.compile_graph(zeros({2}, DType::F64));
  for (const MemorySlot& slot : learner.memory_slots()) EXPECT_EQ(slot.type.shape.back(), 2);
}

}  // namespace

}  // namespace braintrace
