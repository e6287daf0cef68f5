// SPDX-License-Identifier: Apache-2.0
// States that a jitted function reads and writes stay with it; other code must not notice.
#include "braintrace/functions/held_states.h"

#include <cstdlib>
#include <functional>

#include "braintrace/ops/index.h"
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

// h ← tanh(x + h·W),  W ← 0.9 W + h hᵀ, count ← count + 1; the sum of h.
struct Net : Module {
  ParamState    W;
  HiddenState   h;
  LongTermState count;
  Net()
      : W(wave({3, 3}, 0.5)),
        h([](BatchSize b) {
          return Leaves{{"", zeros(b ? Shape{*b, 3} : Shape{3}, DType::F64)}};
        }),
        count(tensor({int64_t{0}})) {
    state("W", W);
    state("h", h);
    state("count", count);
    init_all_states(*this);
  }
  Tensor move(const Tensor& x) {
    const Tensor v = h.value(), w = W.value();  // in this order
    h.set(tanh(x + dot(v, w)));
    return sum(h.value());
  }
  Tensor learn(const Tensor& x) {
    const Tensor out = move(x), v = h.value();
    W.set(W.value() * 0.9 + reshape(v, {3, 1}) * reshape(v, {1, 3}));
    count.set(count.value() + 1);
    return out;
  }
};

Tensor input(int t) { return wave({3}, 0.1 * (t + 1)); }

bool same(const Tensor& a, const Tensor& b) { return identical(a.array(), b.array()); }

const void* place_of(const State& s) { return s.value().array().raw(); }

class HeldStates : public ::testing::TestWithParam<const char*> {
 protected:
  HeldStates() : before_(default_backend().name()) {
    setenv("BRAINTRACE_CFLAGS", "-O0", 1);  // these programs run a few times
    set_default_backend(GetParam());
  }
  ~HeldStates() override {
    set_default_backend(before_);
    unsetenv("BRAINTRACE_CFLAGS");
  }

  // The steps one by one, on states passed in and out as arrays.
  static void step_outside(Net& net, const Tensor& x) {
    static const StatefulProgram p = [&] {
      Net any;
      return trace_function({x.type()}, [&](const Tensors& in) -> Tensors { return {any.learn(in[0])}; });
    }();
    static const auto run   = default_backend().compile(p.program, {});
    const State       all[] = {net.h, net.W, net.count};
    Arrays            in    = {x.array()};
    ASSERT_EQ(p.reads.size(), 3u);
    ASSERT_TRUE(p.reads == p.writes);
    for (const State& s : all) in.push_back(s.value().array());
    const Arrays out = run->run(in);
    for (size_t i = 0; i < 3; ++i) all[i].set(out[p.num_results + i]);
  }

  Net net, judge;
  // The same programs in all tests, so that they are compiled once.
  Jitted<std::function<Tensor(Tensor)>> learn{[this](Tensor x) { return net.learn(x); }};
  Jitted<std::function<Tensor(Tensor)>> predict{[this](Tensor x) { return net.move(x); }};

  void expect_equal_states() {
    EXPECT_TRUE(same(net.W.value(), judge.W.value()));
    EXPECT_TRUE(same(net.h.value(), judge.h.value()));
    EXPECT_TRUE(same(net.count.value(), judge.count.value()));
  }

 private:
  std::string before_;
};

TEST_P(HeldStates, HaveTheBitsOfStepsOneByOne) {
  Tensor last = net.W.value();
  for (int t = 0; t < 5; ++t) {
    learn(input(t));
    step_outside(judge, input(t));
    if (t % 2) expect_equal_states();  // between other calls they stay where they are
    EXPECT_FALSE(same(judge.W.value(), last)) << "nothing was learned";
    last = judge.W.value();
  }
  expect_equal_states();
  EXPECT_EQ(net.count.value().item(), 5);
  EXPECT_EQ(learn.num_traces(), 1);
}

TEST_P(HeldStates, AreWrittenWhereTheyAre) {
  if (GetParam() != std::string("cpu")) GTEST_SKIP() << "on a device they have no place here";
  learn(input(0));
  const void *W = place_of(net.W), *count = place_of(net.count);
  for (int t = 1; t < 4; ++t) {
    learn(input(t));
    EXPECT_EQ(place_of(net.W), W);
    EXPECT_EQ(place_of(net.count), count);
  }
}

// The test before this one shows that the memory would have been written.
TEST_P(HeldStates, ValuesGivenOutDoNotChange) {
  learn(input(0));
  const Tensor W = net.W.value(), count = net.count.value();
  const Array  then = W.array().copy();
  learn(input(1));
  learn(input(2));
  EXPECT_TRUE(identical(W.array(), then));
  EXPECT_EQ(count.item(), 1);
  EXPECT_FALSE(same(net.W.value(), W));
}

TEST_P(HeldStates, ValuesTakenInDoNotChange) {
  std::vector<double> memory(9, 0.25);
  auto                owner = std::make_shared<int>(0);
  net.W.set(from_buffer(memory.data(), {3, 3}, std::move(owner)));  // nobody else holds the owner
  const Tensor given = tensor({int64_t{7}});
  net.count.set(given);
  learn(input(0));
  EXPECT_EQ(memory, std::vector<double>(9, 0.25));
  EXPECT_EQ(given.item(), 7);
  EXPECT_EQ(net.count.value().item(), 8);

  Net            other;
  ShortTermState a(tensor({1.0, 2.0})), b(a.value());  // one memory
  const auto     f = jit([=] {
    a.set(a.value() + 1.0);
    b.set(b.value() * 3.0);
  });
  f();
  EXPECT_TRUE(same(a.value(), tensor({2.0, 3.0})));
  EXPECT_TRUE(same(b.value(), tensor({3.0, 6.0})));
}

TEST_P(HeldStates, SeeWhatOthersWrite) {
  learn(input(0));
  learn(input(1));
  net.W.set(wave({3, 3}, 0.2));
  reset_all_states(net);
  EXPECT_TRUE(same(net.h.value(), zeros({3}, DType::F64)));
  EXPECT_EQ(net.count.value().item(), 2);
  learn(input(2));
  judge.W.set(wave({3, 3}, 0.2));
  judge.count.set(tensor({int64_t{2}}));
  step_outside(judge, input(2));
  expect_equal_states();
}

// Such states stay with the program (on a device, if it runs there) until they are read.
TEST_P(HeldStates, WrittenAloneAreWhatTheLastCallLeft) {
  ShortTermState doubled(zeros({3}, DType::F64)), other(zeros({3}, DType::F64)), never(tensor({5.0}));
  const auto     f = jit([&](Tensor x) {
    net.count.set(net.count.value() + int64_t{1});
    doubled.set(x * 2.0);
    other.set(x * 3.0);
    never.set(tensor({0.0}));
  });
  f(input(0));
  f(input(1));
  const Tensor given = doubled.value();
  EXPECT_TRUE(same(given, input(1) * 2.0));
  doubled.set(input(7));
  EXPECT_TRUE(same(doubled.value(), input(7)));
  f(input(2));
  EXPECT_TRUE(same(given, input(1) * 2.0));
  EXPECT_TRUE(same(doubled.value(), input(2) * 2.0));
  EXPECT_TRUE(same(other.value(), input(2) * 3.0));
  EXPECT_TRUE(same(never.value(), tensor({0.0})));
  // Another function writes one of them.
  const auto g = jit([&](Tensor x) {
    net.count.set(net.count.value() + int64_t{1});
    other.set(x * 5.0);
  });
  f(input(3));
  g(input(4));
  EXPECT_TRUE(same(other.value(), input(4) * 5.0));
  EXPECT_TRUE(same(doubled.value(), input(3) * 2.0));
  EXPECT_EQ(net.count.value().item(), 5);
}

TEST_P(HeldStates, WrittenAloneOutliveTheFunction) {
  ShortTermState last(zeros({3}, DType::F64));
  {
    const auto f = jit([&](Tensor x) {
      net.count.set(net.count.value() + int64_t{1});
      last.set(x * 2.0);
    });
    f(input(1));
  }
  EXPECT_TRUE(same(last.value(), input(1) * 2.0));
}

TEST_P(HeldStates, MayChangeTheirType) {
  predict(input(0));
  predict(input(0));
  EXPECT_NE(to_string(net).find("float64[3]"), std::string::npos) << "a held state is printed";
  init_all_states(net, {.batch_size = 2});
  predict(wave({2, 3}));
  EXPECT_EQ(net.h.value().shape(), (Shape{2, 3}));
  EXPECT_EQ(predict.num_traces(), 2);
  init_all_states(net);
  predict(input(0));
  EXPECT_EQ(predict.num_traces(), 2);
  judge.move(input(0));
  expect_close(net.h.value(), judge.h.value());
}

TEST_P(HeldStates, AreNotHeldWhereTheFunctionChangesTheirType) {
  ShortTermState grows(tensor({1.0}));
  const auto     f = jit([&] { grows.set(concat({grows.value(), grows.value() + 1.0}, 0)); });
  f();
  f();
  EXPECT_TRUE(same(grows.value(), tensor({1.0, 2.0, 2.0, 3.0})));
  EXPECT_EQ(f.num_traces(), 2);
}

TEST_P(HeldStates, GoFromFunctionToFunction) {
  for (int t = 0; t < 4; ++t) {
    learn(input(t));
    predict(input(t));
    predict(input(t + 1));
    judge.learn(input(t));
    judge.move(input(t));
    judge.move(input(t + 1));
    if (t % 2) expect_close(net.h.value(), judge.h.value());
  }
  expect_close(net.W.value(), judge.W.value());
  expect_close(net.h.value(), judge.h.value());
  EXPECT_EQ(net.count.value().item(), 4);
}

TEST_P(HeldStates, OutliveTheirFunction) {
  {
    auto copy = [&] {
      const auto first = jit([this](Tensor x) { return net.learn(x); });
      first(input(0));
      return first;
    }();
    copy(input(1));
    EXPECT_EQ(copy.num_traces(), 1);
  }
  for (int t = 0; t < 2; ++t) step_outside(judge, input(t));
  expect_equal_states();
}

TEST_P(HeldStates, OutliveTheirModule) {
  auto          gone = std::make_unique<Net>();
  const State   W    = gone->W;
  LongTermState n(tensor({0.0}));
  const auto    f = jit([W, n] {
    W.set(W.value() * 2.0);
    n.set(n.value() + 1.0);
    return n.value();
  });
  f();
  gone.reset();
  EXPECT_EQ(f().item(), 2);
  EXPECT_TRUE(same(W.value(), judge.W.value() * 4.0));
}

TEST_P(HeldStates, SurviveWhatFails) {
  learn(input(0));
  const auto thrower = jit([this](Tensor x) {
    net.learn(x);
    if (x.defined()) throw std::runtime_error("no");
    return x;
  });
  EXPECT_THROW(thrower(input(1)), std::runtime_error);
  step_outside(judge, input(0));
  expect_equal_states();

  // The sum is written before the wrong index is reached.
  LongTermState total(tensor({0.0, 0.0}));
  const auto    pick  = jit([&](Tensor i) {
    total.set(total.value() + 1.0);
    return take(total.value(), i, 0);
  });
  const auto    index = [](int32_t i) { return tensor({i}); };
  EXPECT_EQ(pick(index(1)).item(), 1);
  const void* place = place_of(total);
  EXPECT_THROW(pick(index(2)), UserError);
  EXPECT_EQ(place_of(total), place);
  EXPECT_TRUE(same(total.value(), tensor({1.0, 1.0})));
  EXPECT_EQ(pick(index(0)).item(), 2);
  EXPECT_TRUE(same(total.value(), tensor({2.0, 2.0})));
}

TEST_P(HeldStates, AreInputsOfATrace) {
  const auto   twice = jit([this](Tensor x) {
    const Tensor first = learn(x);
    return first + learn(x * 2.0);
  });
  const Tensor x     = input(1);
  learn(x);
  judge.learn(x);
  const Tensor slope = grad([this](Tensor y) { return predict(y); })(x);
  judge.move(x);
  EXPECT_GT(max(abs(slope)).item(), 0);
  const Tensor first = judge.learn(x), second = judge.learn(x * 2.0);
  expect_close(twice(x), first + second);
  learn(x);
  judge.learn(x);
  expect_close(net.W.value(), judge.W.value());
  EXPECT_EQ(net.count.value().item(), 4);
}

// What is exchanged, returned as it was, reset to zero, only read, only written, one leaf of several.
TEST_P(HeldStates, OfManyKinds) {
  ShortTermState a(tensor({1.0, 2.0})), b(tensor({3.0, 4.0})), trace(tensor({5.0, 6.0})), read(tensor({0.5, 0.5})),
      written(tensor({0.0, 0.0}));
  ParamState pair(Leaves{{"fixed", tensor({2.0, 2.0})}, {"free", tensor({1.0, 1.0})}, {"out", tensor({0.0, 0.0})}});
  const auto f = jit([&] {
    const Tensor then = a.value(), sum_of_trace = sum(trace.value());
    a.set(b.value());
    b.set(then);
    trace.set(zeros({2}, DType::F64));
    written.set(then + read.value());
    pair.set_leaf("free", pair.leaf("free") * pair.leaf("fixed"));
    pair.set_leaf("out", pair.leaf("free") + 1.0);
    return std::tuple(then, sum_of_trace, a.value());
  });
  for (int t = 0; t < 3; ++t) {
    const Tensor was = a.value().array().copy(), other = b.value().array().copy();
    const double total                   = sum(trace.value()).item();
    const auto [then, sum_of_trace, now] = f();
    EXPECT_TRUE(same(then, was)) << t;
    EXPECT_TRUE(same(now, other)) << t;
    EXPECT_EQ(sum_of_trace.item(), total);
    f();
    f();
    EXPECT_TRUE(same(a.value(), other)) << t;
    EXPECT_TRUE(same(b.value(), was)) << t;
    EXPECT_TRUE(same(written.value(), was + 0.5)) << t;
    EXPECT_TRUE(same(trace.value(), zeros({2}, DType::F64)));
    EXPECT_TRUE(same(pair.leaf("free"), full({2}, 8.0 * (1 << 3 * t), DType::F64))) << t;
    EXPECT_TRUE(same(pair.leaf("out"), full({2}, 8.0 * (1 << 3 * t) + 1, DType::F64))) << t;
    trace.set(full({2}, t + 1.0, DType::F64));
  }
}

TEST_P(HeldStates, GoFromBackendToBackend) {
  for (int t = 0; t < 4; ++t) {
    set_default_backend(t % 2 ? "reference" : "cpu");
    learn(input(t));
    judge.learn(input(t));
  }
  expect_close(net.W.value(), judge.W.value());
  EXPECT_EQ(net.count.value().item(), 4);
}

INSTANTIATE_TEST_SUITE_P(, HeldStates, ::testing::Values("cpu", "cuda-emulation"));

}  // namespace
}  // namespace braintrace
