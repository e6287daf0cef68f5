// SPDX-License-Identifier: Apache-2.0
// Complete lessons inside one jitted function: states are initialized, a learner is created and compiled, and learns
// from a sequence. Every call gives the same results as outside the function.
#include "braintrace/algorithms/compile.h"
#include "braintrace/algorithms/drivers.h"
#include "braintrace/etp/dense.h"
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

// h ← tanh(x·W + h·R) by trainable operations, in f64; its own init_state sets h to a tenth.
struct Online : Module {
  ParamState  W = state("W", ParamState(wave({2, 3}, 0.3))), R = state("R", ParamState(wave({3, 3}, 0.5)));
  HiddenState h = state("h", HiddenState(zeros({3}, DType::F64)));
  Tensor      update(const Tensor& x) override {
    h.set(tanh(matmul(x, W.value()) + matmul(h.value(), R.value())));
    return h.value();
  }
  void init_state(BatchSize) override { h.set(h.value() + 0.1); }
};

const Tensor xs = wave({4, 2}), ys = wave({4, 3}, 0.5);

std::pair<Gradients, Tensor> lesson(Online& model, const std::string& rule, const Tensor& x, const Tensor& y) {
  const RuleOptions options = rule == "pp_prop" ? RuleOptions{.decay_or_rank = TraceDecay::decay(0.9)} : RuleOptions{};
  const auto        learner = compile(model, rule, x[0], options);
  const auto        step    = [&](Tensor a, Tensor b) { return sum(square((*learner)(a)-b)); };
  const auto        r       = etrace_grad(step, *learner, {.window = Window::of(1)})(x, y);
  return {r.grads, r.losses};
}

void follow(const Online& model, const Gradients& g, double rate) {
  for (const auto& [path, state] : model.params()) state.set(state.value() - rate * g.at(path, ""));
}

TEST(BornLearners, LearnAsThoseMadeOutside) {
  for (const char* rule : {"d_rtrl", "pp_prop", "bptt"}) {
    Online     inside, outside;
    const auto jitted = jit([&](Tensor x, Tensor y) {
      const auto r = lesson(inside, rule, x, y);
      follow(inside, r.first, 0.1);
      return r;
    });
    for (int call = 0; call < 3; ++call) {
      const auto got = jitted(xs, ys), want = lesson(outside, rule, xs, ys);
      follow(outside, want.first, 0.1);
      expect_close(got.second, want.second);
      for (const char* name : {"W", "R"}) expect_close(got.first.at(Path{name}, ""), want.first.at(Path{name}, ""));
      expect_close(inside.h.value(), outside.h.value());
    }
    EXPECT_EQ(jitted.num_traces(), 1) << rule;
  }
}

TEST(BornLearners, TogetherWithTheirModel) {
  const auto once = [](Tensor x, Tensor y) {
    Online model;
    return lesson(model, "d_rtrl", x, y).second;
  };
  const auto jitted = jit(once);
  for (int call = 0; call < 2; ++call) expect_close(jitted(xs, ys), once(xs, ys));
  const auto by_sample = vmap(once)(stack({xs, 2.0 * xs}, 0), stack({ys, ys}, 0));
  expect_close(by_sample[1], once(2.0 * xs, ys));
}

// A model that creates its states again in init_state, as users of other languages do.
struct Remade : Module {
  ParamState                 w = state("w", ParamState(wave({2}, 0.3)));
  std::optional<HiddenState> h;
  void                       init_state(BatchSize) override {
    h.emplace(zeros({2}, DType::F64));
    set_state("h", *h);
  }
  Tensor update(const Tensor& x) override {
    h->set(h->value() + w.value() * x);
    return h->value();
  }
};

TEST(BornLearners, StatesMadeByInitStateEndWithTheFunction) {
  Remade     model;
  const auto f = jit([&](Tensor x) {
    init_all_states(model);
    for_loop([&](Tensor t) { return model(t); }, x);
    return model.h->value();
  });
  for (int call = 0; call < 3; ++call) expect_close(f(ones({3, 2}, DType::F64)), 3.0 * model.w.value());
  EXPECT_NE(error_of([&] { model.h->value(); }).find("was created inside a traced function"), std::string::npos);
  init_all_states(model);
  expect_close(model(ones({2}, DType::F64)), model.w.value());
}

}  // namespace
}  // namespace braintrace
