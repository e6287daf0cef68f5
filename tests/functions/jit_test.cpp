// SPDX-License-Identifier: Apache-2.0
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Jit, TracesOncePerSignature) {
  int          runs = 0;
  auto         f    = jit([&](const Tensor& x, int power) {
    ++runs;
    Tensor y = x;
    for (int i = 1; i < power; ++i) y = y * x;
    return y;
  });
  const Tensor x    = tensor({1.0f, 2.0f, 3.0f});
  expect_close(f(x, 3), tensor({1.0f, 8.0f, 27.0f}));
  expect_close(f(x + x, 3), tensor({8.0f, 64.0f, 216.0f}));
  EXPECT_EQ(f.num_traces(), 1);
  f(x, 2);  // a static value
  EXPECT_EQ(f.num_traces(), 2);
  f(tensor({1.0f}), 2);  // a shape
  EXPECT_EQ(f.num_traces(), 3);
  f(tensor({1.0, 2.0, 3.0}), 2);  // a dtype
  EXPECT_EQ(f.num_traces(), 4);
  f(x, 3);
  const std::vector copies{f};
  copies[0](x, 3);
  EXPECT_EQ(f.num_traces(), 4);
  EXPECT_EQ(runs, 4);
}

TEST(Jit, ReferencesAndTemporariesShareASignature) {
  auto         f = jit([](Tensor x) { return x + x; });
  Tensor       a = tensor({1.0f});
  const Tensor b = a;
  f(a);
  f(b);
  f(tensor({2.0f}));
  EXPECT_EQ(f.num_traces(), 1);
}

TEST(Jit, TreesInAndOut) {
  struct Pair {
    Tensor a, b;
    int    tag = 7;
    auto   fields() { return std::tie(a, b, tag); }
  };
  auto f = jit([](const Pair& p, const std::map<std::string, Tensor>& m) {
    return std::tuple(Pair{p.b, p.a + m.at("x"), p.tag + 1}, std::vector<Tensor>{p.a, p.b}, p.tag);
  });
  const auto [q, list, tag] =
      f(Pair{tensor({1.0f}), tensor({2.0f})}, std::map<std::string, Tensor>{{"x", tensor({5.0f})}});
  EXPECT_EQ(q.a.item(), 2);
  EXPECT_EQ(q.b.item(), 6);
  EXPECT_EQ(q.tag, 8);
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(tag, 7);
}

TEST(Jit, StatesAreInputsAndOutputs) {
  Rnn  eager(2, 3), jitted(2, 3);
  auto step = jit([&](const Tensor& x) { return jitted(x); });
  for (int t = 0; t < 4; ++t) {
    const Tensor x = wave({2}, 0.2 * (t + 1));
    expect_close(step(x), eager(x));
    expect_close(jitted.h.value(), eager.h.value());
  }
  EXPECT_EQ(step.num_traces(), 1);
  jitted.W.set(jitted.W.value() * 2.0);  // a new value is seen without a new trace
  eager.W.set(eager.W.value() * 2.0);
  expect_close(step(wave({2})), eager(wave({2})));
  EXPECT_EQ(step.num_traces(), 1);
  init_all_states(jitted, {.batch_size = 5});  // a new type is not
  EXPECT_EQ(step(wave({5, 2})).shape(), (Shape{5, 3}));
  EXPECT_EQ(step.num_traces(), 2);
  init_all_states(jitted);  // the first program is still there
  step(wave({2}));
  EXPECT_EQ(step.num_traces(), 2);
}

TEST(Jit, StateTypesAloneRetrace) {
  ShortTermState s(tensor({1.0f}));
  auto           f = jit([&] { return s.value() + s.value(); });
  f();
  s.set(tensor({1.0f, 2.0f}));
  expect_close(f(), tensor({2.0f, 4.0f}));
  s.set(tensor({1.0}));
  EXPECT_EQ(f().dtype(), DType::F64);
  EXPECT_EQ(f.num_traces(), 3);
}

TEST(Jit, TheEnvironmentIsPartOfTheSignature) {
  auto               f = jit([](const Tensor& x) { return x * Environment::dt(); });
  const Tensor       x = tensor({10.0});
  Environment::Scope a({.dt = 0.5});
  EXPECT_EQ(f(x).item(), 5);
  {
    Environment::Scope b({.dt = 0.1});
    EXPECT_EQ(f(x).item(), 1);
  }
  EXPECT_EQ(f(x).item(), 5);
  EXPECT_EQ(f.num_traces(), 2);
}

TEST(Jit, InlinesInsideAnotherTrace) {
  Rnn          model(2, 3), twin(2, 3);
  auto         inner = jit([&](const Tensor& x) { return model(x); });
  auto         outer = jit([&](const Tensor& x) {
    const Tensor y = inner(x);
    return y + inner(x * 2.0);
  });
  const Tensor x = wave({2}), first = twin(x);
  const Tensor want = first + twin(x * 2.0);
  expect_close(outer(x), want);
  expect_close(model.h.value(), twin.h.value());
  EXPECT_EQ(inner.num_traces(), 0);  // it is a part of the outer trace
  EXPECT_EQ(outer.num_traces(), 1);
}

TEST(Jit, ProgramsThatCaptureAnOuterTensorAreNotKept) {
  auto use = [](double c) {
    return jit([c](const Tensor& x) {
      const Tensor scaled = x * c;
      auto         inner  = jit([&](const Tensor& y) { return y + scaled; });
      return inner(x) + inner(x * 2.0);
    })(tensor({1.0}));
  };
  EXPECT_EQ(use(10).item(), 23);
  EXPECT_EQ(use(20).item(), 43);
}

TEST(Jit, NumbersForTensorsAndVoidResults) {
  ShortTermState s(tensor({0.0}));
  auto           f = jit([&](const Tensor& x) { s.set(s.value() + x); });
  f(2.5);
  f(1.0);
  EXPECT_EQ(s.value().item(), 3.5);
  EXPECT_EQ(f.num_traces(), 1);  // C++ floats are traced where tensors are taken
}

// Borrowed memory of the caller is read, but not kept.
TEST(Jit, ResultsAndStatesDoNotChangeWithTheCallersMemory) {
  float                     memory[] = {1, 2};
  const Tensor              lent     = Array::borrow({DType::F32, {2}}, memory, nullptr);
  ShortTermState            made(lent), set(tensor({0.0f, 0.0f})), set_inside(tensor({0.0f, 0.0f}));
  const auto                same = jit([&](const Tensor& x) {
    set_inside.set(x);
    return x;
  });
  const std::vector<Tensor> results{same(lent), jit([](const Tensor& x) {
                                      return reshape(x, {2, 1});
                                    })(lent),
                                    reshape(lent, {2, 1})};
  set.set(lent);
  memory[0] = 7;
  EXPECT_EQ(at(lent.array(), 0), 7);
  for (const Tensor& r : results) EXPECT_EQ(at(r.array(), 0), 1);
  for (const State& s : {State(made), State(set), State(set_inside)}) EXPECT_EQ(at(s.leaf("").array(), 0), 1);
}

TEST(Jit, DoesNotSwallowErrors) {
  auto undefined = jit([](const Tensor&) { return Tensor(); });
  EXPECT_TRUE(mentions(error_of([&] { undefined(tensor({1.0f})); }), {"undefined"}));
  auto f = jit([](const Tensor& x) { return x; });
  EXPECT_TRUE(mentions(error_of([&] { f(Tensor()); }), {"jit", "undefined"}));
}

}  // namespace
}  // namespace braintrace
