// SPDX-License-Identifier: Apache-2.0
// The backend on the emulated device, or on a GPU if BRAINTRACE_BACKEND is cuda: inputs and outputs, resident values,
// host calls.
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/control/cond.h"
#include "braintrace/control/scan.h"
#include "braintrace/control/while.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/host_call.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/backend.h"
#include "braintrace/runtime/values.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

Backend& on_device() { return default_backend().name() == "cuda" ? default_backend() : find_backend("cuda-emulation"); }

Array drawn(const Type& type, uint64_t seed) {
  Rng   rng(seed);
  Array a(type);
  for (int64_t i = 0; i < a.size(); ++i)
    if (type.dtype == DType::F32)
      a.mutable_data<float>()[i] = static_cast<float>(0.5 * rng.normal());
    else
      a.mutable_data<int32_t>()[i] = static_cast<int32_t>(rng.uniform() * 4);
  return a;
}
Arrays drawn(const Types& types) {
  Arrays out;
  for (const Type& t : types) out.push_back(drawn(t, 1 + out.size()));
  return out;
}
Arrays constants_of(const Traced& t) {
  Arrays out;
  for (const Tensor& c : t.constants) out.push_back(c.array());
  return out;
}

// Three calls: the first queues kernels, the second records them, the third replays the recording.
void expect_agreement(const Types& types, const std::function<Tensors(const Tensors&)>& f) {
  const Traced t    = trace(types, f);
  const Arrays args = drawn(types), constants = constants_of(t);
  const Arrays want = find_backend("reference").compile(t.program, constants)->run(args);
  const auto   ours = on_device().compile(t.program, constants);
  for (int call = 0; call < 3; ++call) {
    const Arrays got = ours->run(args);
    ASSERT_EQ(got.size(), want.size());
    for (size_t k = 0; k < got.size(); ++k)
      EXPECT_TRUE(allclose(got[k], want[k], {1e-5, 1e-6})) << call << ": " << max_difference(got[k], want[k]);
  }
}

const Type vector{DType::F32, {4}}, large{DType::F32, {100, 100}};

Tensor halved_by_host(const Tensor& x) {
  return host_call(
      [](const Arrays& in) -> Arrays {
        Array out(in[0].type());
        for (int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] = in[0].data<float>()[i] / 2;
        return {out};
      },
      {x}, {x.type()})[0];
}

TEST(CudaBackend, SmallAndLargeArraysGoInAndOut) {
  expect_agreement({vector, large, vector}, [](const Tensors& x) -> Tensors {
    return {x[0] + x[2], tanh(x[1]), sum(x[1]), dot(x[1], x[1]), x[0], zeros({7}), x[1]};
  });
}

TEST(CudaBackend, TheHostEvaluatesWhatHasNoKernel) {
  expect_agreement({vector}, [](const Tensors& x) -> Tensors { return {square(halved_by_host(x[0] + 1.0)) - x[0]}; });
}

TEST(CudaBackend, TheHostWalksThroughLoopsThatCallIt) {
  for (const bool reverse : {false, true})
    for (const int64_t steps : {0, 5}) {
      SCOPED_TRACE(fmt::format("{} steps, reverse {}", steps, reverse));
      expect_agreement({vector, {DType::F32, {steps, 4}}, {DType::F32, {4, 4}}}, [&](const Tensors& in) -> Tensors {
        const auto r = scan(
            [&](const Tensors& h, const Tensors& x) -> ScanResult {
              const Tensor next = tanh(dot(halved_by_host(h[0]), in[2]) + x[0]);
              return {{next, h[1] + 1.0}, {next * 2.0, h[0]}};
            },
            {in[0], in[0]}, {in[1]}, {steps, reverse});
        return {r.carry[0], r.carry[1], r.ys[0], r.ys[1]};
      });
    }
}

TEST(CudaBackend, TheHostWalksThroughBranchesAndWhileLoopsThatCallIt) {
  for (const double limit : {-1.0, 0.5, 100.0}) {
    SCOPED_TRACE(limit);
    expect_agreement({vector}, [&](const Tensors& x) -> Tensors {
      const Tensors chosen = cond(
          less(sum(x[0]), limit), [](const Tensors& y) { return Tensors{halved_by_host(y[0]) + 1.0}; },
          [](const Tensors& y) { return Tensors{y[0] * 3.0}; }, {x[0]});
      const Tensors looped =
          while_loop([&](const Tensors& c) { return less(sum(c[0]), limit); },
                     [](const Tensors& c) { return Tensors{halved_by_host(c[0]) + 1.0 + c[0]}; }, {x[0] * x[0]});
      return {chosen[0], looped[0]};
    });
  }
}

TEST(CudaBackend, AFunctionOfTheHostMayRunAnotherProgram) {
  const Traced inner = trace({vector}, [](const Tensors& x) { return Tensors{x[0] * 3.0}; });
  const auto   times = on_device().compile(inner.program, constants_of(inner));
  expect_agreement({vector}, [&](const Tensors& x) -> Tensors {
    return {1.0 + host_call([&](const Arrays& in) { return times->run(in); }, {x[0] + 1.0}, {vector})[0]};
  });
}

TEST(CudaBackend, WhileLoopsAndBranchesRunOnTheDevice) {
  for (const double limit : {-1.0, 0.5, 100.0}) {
    SCOPED_TRACE(limit);
    expect_agreement({vector, {DType::F32, {4, 4}}}, [&](const Tensors& x) -> Tensors {
      const Tensors looped = while_loop([&](const Tensors& c) { return less(sum(c[0]), limit); },
                                        [&](const Tensors& c) {
                                          return Tensors{c[1] + 1.0 + c[0], tanh(dot(c[0], x[1])), c[2] + 1.0};
                                        },
                                        {x[0] * x[0], x[0], zeros({})});
      const Tensors chosen = cond(
          less(sum(x[0]), limit), [](const Tensors& y) { return Tensors{tanh(y[0]) + 1.0}; },
          [](const Tensors& y) { return Tensors{y[0] * 3.0}; }, {looped[0]});
      return {chosen[0], looped[0], looped[1], looped[2]};
    });
  }
}

TEST(CudaBackend, AnErrorOfTheHostComesThrough) {
  const Traced t = trace({vector}, [](const Tensors& x) {
    return host_call([](const Arrays&) -> Arrays { fail("the table has no such row."); }, {x[0]}, {vector});
  });
  const auto   f = on_device().compile(t.program, {});
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(error_of([&] { f->run({drawn(vector, 1)}); }), "the table has no such row.");
}

TEST(CudaBackend, AnIndexOutsideItsAxisHasTheWordsOfTheInterpreter) {
  const Traced t = trace({vector, {DType::I32, {1}}}, [](const Tensors& in) { return Tensors{take(in[0], in[1], 0)}; });
  const auto   f = on_device().compile(t.program, {});
  const Array  x = drawn(vector, 1);
  const Array  good = Array::of<int32_t>({2}, {1}), bad = Array::of<int32_t>({9}, {1});
  const auto   words = error_of([&] { find_backend("reference").compile(t.program, {})->run({x, bad}); });
  EXPECT_NE(words, "");
  for (int call = 0; call < 4; ++call) {
    EXPECT_EQ(error_of([&] { f->run({x, bad}); }), words);
    EXPECT_EQ(at(f->run({x, good})[0], 0), at(x, 2));
  }
}

TEST(CudaBackend, ProgramsStayOnTheDeviceWithWhatTheyAreFed) {
  // h can be overwritten; a and b swap, so each is double-buffered.
  const Traced            t     = trace({large, vector, vector, vector}, [](const Tensors& in) -> Tensors {
    return {sum(in[0]), 0.9 * in[0] + sum(in[1]), in[3] + in[1], in[2] * 0.5, zeros({3})};
  });
  const std::vector<Feed> feeds = {{1, 0}, {2, 2}, {3, 3}};
  const auto              want  = find_backend("cpu").resident(t.program, constants_of(t), feeds);
  const auto              got   = on_device().resident(t.program, constants_of(t), feeds);
  for (int round = 0; round < 2; ++round) {
    Arrays values = drawn({large, vector, vector});
    got->hold(Arrays(values));
    want->hold(Arrays(values));
    for (int step = 0; step < 5; ++step) {
      const Array  x = drawn(vector, 10 + static_cast<uint64_t>(step));
      const Arrays a = got->run({x}), b = want->run({x});
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(allclose(a[k], b[k], {1e-4, 1e-4})) << step;
    }
    const Arrays a = got->settle(), b = want->settle();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(allclose(a[k], b[k], {1e-4, 1e-4})) << round;
  }
}

TEST(CudaBackend, ResultsThatAreLeftThereAreReadOnRequest) {
  const Traced t = trace({large, vector}, [](const Tensors& in) -> Tensors {
    return {in[0] + sum(in[1]), in[0] * 2.0, in[1] * 3.0, zeros({3}), sum(in[0])};
  });
  const auto   f = on_device().resident(t.program, constants_of(t), {{0, 0}});
  f->hold({drawn(large, 1)});
  const Array x = drawn(vector, 2);
  EXPECT_EQ(f->run({x}).size(), 4U);
  ASSERT_TRUE(f->leave({1, 2, 3}));
  Array large_one;
  for (int step = 0; step < 4; ++step) {
    const Arrays given = f->run({x});
    ASSERT_EQ(given.size(), 1U);
    if (step == 1) large_one = f->left(0);
  }
  const Array then = large_one.copy();
  EXPECT_TRUE(allclose(f->left(0), Tensor(f->settle()[0]) * 2.0 - 2.0 * sum(Tensor(x)), {1e-4, 1e-4}));
  EXPECT_TRUE(allclose(f->left(1), Tensor(x) * 3.0));
  EXPECT_TRUE(identical(f->left(2), Array({DType::F32, {3}})));
  EXPECT_TRUE(identical(large_one, then));
  // A step that can fail halfway would have overwritten them.
  const Traced stops = trace({vector, {DType::I32, {1}}}, [](const Tensors& in) -> Tensors {
    return {in[0] * 2.0, take(in[0], in[1], 0)};
  });
  EXPECT_FALSE(on_device().resident(stops.program, constants_of(stops), {{0, 0}})->leave({1}));
}

// h ← h A for small matrices A: every element of a row reads the whole row, so none may be overwritten early.
TEST(CudaBackend, RowsAreNotOverwrittenWhileOthersReadThem) {
  const Type   rows{DType::F32, {40, 3}}, matrices{DType::F32, {40, 3, 3}};
  const Traced t    = trace({rows, matrices}, [](const Tensors& in) {
    return Tensors{sum(reshape(in[0], {40, 3, 1}) * in[1], {1}) + 0.5 * in[0]};
  });
  const auto   want = find_backend("cpu").resident(t.program, constants_of(t), {{0, 0}});
  const auto   got  = on_device().resident(t.program, constants_of(t), {{0, 0}});
  for (ResidentProgram* f : {want.get(), got.get()}) {
    f->hold({drawn(rows, 1)});
    for (int step = 0; step < 3; ++step) f->run({drawn(matrices, 2)});
  }
  EXPECT_TRUE(allclose(got->settle()[0], want->settle()[0], {1e-5, 1e-5}));
}

TEST(CudaBackend, AStepThatFailsLeavesTheStates) {
  const Traced t = trace({vector, {DType::I32, {1}}},
                         [](const Tensors& in) { return Tensors{in[0] * 2.0 + take(in[0], in[1], 0)}; });
  const auto   f = on_device().resident(t.program, constants_of(t), {{0, 0}});
  const Array  h = drawn(vector, 1);
  f->hold({h});
  for (int call = 0; call < 3; ++call) EXPECT_NE(error_of([&] { f->run({Array::of<int32_t>({7}, {1})}); }), "");
  EXPECT_TRUE(identical(f->settle()[0], h));
}

TEST(CudaBackend, ValuesThatWereGivenOutNeverChange) {
  const Traced t = trace({large}, [](const Tensors& x) { return Tensors{x[0] + 1.0, x[0] * 2.0}; });
  const auto   f = on_device().resident(t.program, constants_of(t), {{1, 0}});
  const Array  h = drawn(large, 1);
  f->hold({h});
  const Array first = f->run({})[0], kept = first.copy();
  for (int step = 0; step < 4; ++step) f->run({});
  EXPECT_TRUE(identical(first, kept));
  EXPECT_TRUE(identical(h, drawn(large, 1)));
}

TEST(CudaBackend, MemoryOfOthersIsReadAgain) {
  const Traced       t = trace({large}, [](const Tensors& x) { return Tensors{x[0] + 1.0}; });
  const auto         f = on_device().compile(t.program, constants_of(t));
  std::vector<float> memory(10000, 1);
  const Array        x = Array::borrow(large, memory.data(), nullptr);
  EXPECT_EQ(at(f->run({x})[0], 5), 2);
  memory[5] = 7;
  EXPECT_EQ(at(f->run({x})[0], 5), 8);
}

TEST(CudaBackend, ThreadsTakeTurns) {
  const Traced             t = trace({vector}, [](const Tensors& x) { return Tensors{tanh(x[0]) + 1.0}; });
  const auto               f = on_device().compile(t.program, constants_of(t));
  std::vector<std::thread> threads;
  std::vector<int>         wrong(4);
  for (size_t i = 0; i < wrong.size(); ++i)
    threads.emplace_back([&, i] {
      const Array x = drawn(vector, i);
      for (int call = 0; call < 20; ++call)
        if (std::abs(at(f->run({x})[0], 0) - (std::tanh(at(x, 0)) + 1)) > 1e-5) ++wrong[i];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(CudaBackend, KnowsItsNames) {
  EXPECT_EQ(find_backend("cuda").name(), "cuda");
  EXPECT_EQ(find_backend("cuda:0").name(), "cuda");
  EXPECT_EQ(find_backend("cuda:1").name(), "cuda:1");
  for (const char* wrong : {"cuda:", "cuda:x", "cuda:-1", "cuda1", "cuda:1x"})
    EXPECT_NE(error_of([&] { find_backend(wrong); }), "") << wrong;
}

TEST(CudaBackend, PrecisionIsOneOfThree) {
  EXPECT_EQ(product_precision(), "f32");
  EXPECT_NE(error_of([] { set_product_precision("fp8"); }), "");
  set_product_precision("tf32");
  EXPECT_EQ(product_precision(), "tf32");
  expect_agreement({large}, [](const Tensors& x) { return Tensors{sum(x[0])}; });
  set_product_precision("f32");
}

TEST(CudaBackend, FunctionsAreCompiledAgainForAnotherPrecision) {
  const BackendScope device("cuda-emulation");
  const auto         product = jit([](Tensor x, Tensor y) { return x.dot(y); });
  const Tensor       x = Tensor(drawn({DType::F32, {3, 40}}, 1)), y = Tensor(drawn({DType::F32, {40, 5}}, 2));
  const Tensor       exact = product(x, y);
  set_product_precision("tf32");
  const Tensor rounded = product(x, y);
  set_product_precision("f32");
  EXPECT_FALSE(identical(rounded.array(), exact.array()));
  EXPECT_TRUE(allclose(rounded, exact, {1e-2, 1e-2}));
  EXPECT_TRUE(identical(product(x, y).array(), exact.array()));
  EXPECT_EQ(product.num_traces(), 2);
}

}  // namespace
}  // namespace braintrace
