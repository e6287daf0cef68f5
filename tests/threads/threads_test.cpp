// SPDX-License-Identifier: Apache-2.0
// Independent programs on several threads at once: they share the registry of operations, concrete arrays and finished
// programs, and nothing else. Meant for the thread sanitizer; the values are checked as well.
#include <thread>

#include <gtest/gtest.h>

#include "braintrace/braintrace.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {
namespace {

constexpr int num_threads = 4, rounds = 8;

// Runs f(thread) on all threads at once; an exception becomes a failure.
template <class F>
void on_threads(F&& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; ++i)
    threads.emplace_back([&, i] {
      try {
        f(i);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    });
  for (auto& t : threads) t.join();
}

// Σ (tanh(x w) · scale)² with x and w captured from outside when not arguments.
Tensor loss(const Tensor& x, const Tensor& w, double scale) {
  const Tensor y = tanh(dot(x, w)) * scale;
  return sum(y * y);
}

const Tensor x = Array::of<double>({0.1, -0.4, 0.7, 0.2, 0.9, -1.1}, {2, 3});
const Tensor w = Array::of<double>({0.3, -0.2, 0.5, 0.8, -0.6, 0.4}, {3, 2});

double gradient_norm(double scale) {
  const Traced  t      = trace({w.type()}, [&](const Tensors& in) -> Tensors { return {loss(x, in[0], scale)}; });
  const Program both   = simplify(vjp_program(t.program, {false, true}));
  const Program again  = parse(print(both));
  const Tensors result = replay(again, {}, {t.constants[0], w, ones({}, DType::F64)});
  return sum(result[1] * result[1]).item();
}

TEST(Threads, TraceDifferentiateAndEvaluateIndependently) {
  std::vector<double> expected;
  for (int i = 0; i < num_threads; ++i) expected.push_back(gradient_norm(1 + i));
  on_threads([&](int i) {
    for (int k = 0; k < rounds; ++k) EXPECT_EQ(gradient_norm(1 + i), expected[i]);
  });
  EXPECT_NE(expected[0], expected[1]);
}

TEST(Threads, OneProgramServesAll) {
  const Traced  t       = trace(types_of({x, w}), [](const Tensors& in) -> Tensors { return {loss(in[0], in[1], 1)}; });
  const double  value   = loss(x, w, 1).item();
  const Program batched = vmap_program(t.program, {true, false}, 2);
  on_threads([&](int) {
    for (int k = 0; k < rounds; ++k) {
      EXPECT_EQ(evaluate(t.program, {}, {x.array(), w.array()})[0].data<double>()[0], value);
      EXPECT_EQ(replay(batched, {}, {stack({x, x}, 0), w})[0].array().data<double>()[1], value);
      EXPECT_TRUE(equal(t.program, parse(print(t.program))));
    }
  });
}

TEST(Threads, NotesStayOnTheirThread) {
  on_threads([&](int i) {
    for (int k = 0; k < rounds; ++k) {
      const std::string mine = "cell" + std::to_string(i);
      NoteScope         note(mine);
      const Traced      t = trace({x.type()}, [](const Tensors& in) -> Tensors { return {tanh(in[0])}; });
      EXPECT_EQ(t.program.notes[t.program.eqns[0].note], mine);
    }
  });
}

// Jitted functions keep states of their own side by side; a state that one of them holds may be read by many.
TEST(Threads, HoldDifferentStates) {
  const std::string before(default_backend().name());
  set_default_backend("cpu");
  const Tensor               half = full({3}, 0.5, DType::F64);
  std::vector<LongTermState> states;
  for (int i = 0; i < num_threads; ++i) states.emplace_back(full({3}, i, DType::F64));
  const auto rounds_of = [&](const LongTermState& s) {
    const auto halve = jit([s](Tensor factor) { s.set(s.value() * factor + 1.0); });
    for (int k = 0; k < rounds; ++k) halve(half);
    return halve;
  };
  on_threads([&](int i) { rounds_of(states[static_cast<size_t>(i)]); });
  EXPECT_FALSE(allclose(states[0].value(), states[1].value()));

  const LongTermState shared(full({3}, 0, DType::F64));
  const auto          holder = rounds_of(shared);
  on_threads([&](int) { EXPECT_TRUE(identical(shared.value().array(), states[0].value().array())); });
  set_default_backend(before);
}

}  // namespace
}  // namespace braintrace
