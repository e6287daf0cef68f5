// SPDX-License-Identifier: Apache-2.0
// Programs that are asked to stop: they end between two steps of a loop, and their states are as before.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "braintrace/base/long_run.h"
#include "braintrace/braintrace.h"
#include "braintrace/codegen/c/emit.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {
namespace {

// The flag of this test, which nobody looks at outside of the scope.
StopFlag asked = 0;
int      begun = 0;

class Asking {
 public:
  Asking() {
    asked = begun = 0;
    set_stop_source([]() -> const StopFlag* { return ++begun, &asked; });
  }
  ~Asking() { set_stop_source(nullptr); }
};

// Counts to n, in a state: too far to get there unless n is small.
struct Counter {
  LongTermState count{Tensor(Type{DType::F64, {}}, 0)};

  std::function<Tensor(Tensor)> to = [this](Tensor n) {
    while_loop([&](Tensor) { return count.value() < n; },
               [&](Tensor x) {
                 count.set(count.value() + 1);
                 return x;
               },
               n);
    return count.value();
  };
};

constexpr double far = 1e15;

class Stop : public ::testing::TestWithParam<const char*> {
 protected:
  BackendScope backend_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Backends, Stop, ::testing::Values("cpu", "reference"));

TEST_P(Stop, LeavesStatesAsTheyWere) {
  const Asking asking;
  Counter      c;
  auto         count = jit(c.to);
  EXPECT_EQ(count(3.0).item(), 3);
  auto        unknown = jit(c.to);  // nobody knows how long its first call takes
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    asked = 1;
  });
  EXPECT_THROW(unknown(far), Stopped);
  later.join();
  EXPECT_EQ(c.count.value().item(), 3);
  asked = 0;
  EXPECT_EQ(unknown(5.0).item(), 5);
  EXPECT_EQ(c.count.value().item(), 5);
}

TEST(StopRequest, OnlyProgramsThatTakeLong) {
  const BackendScope cpu("cpu");
  const Asking       asking;
  Counter            c;
  auto               count = jit(c.to);
  EXPECT_EQ(count(3.0).item(), 3);
  EXPECT_EQ(begun, 1);
  asked = 1;
  EXPECT_EQ(count(5.0).item(), 5);
  EXPECT_EQ(begun, 1);
}

// Each part of a batch runs through all steps on a thread of its own.
TEST(StopRequest, EndsLoopsOnAllThreads) {
  const BackendScope cpu("cpu");
  const Asking       asking;
  const auto         decay = [](Tensor x, Tensor drives) {
    return scan([](Tensor v, Tensor drive) { return std::pair(tanh(v * 0.5 + drive), sum(v)); }, x, drives).first;
  };
  const Tensor     x = zeros({64, 256}), drives = ones({1 << 10});
  const Program    p = trace_function(types_of({x, drives}), [&](const Tensors& in) -> Tensors {
                      return {decay(in[0], in[1])};
                    }).program;
  codegen::Options two;
  two.target.cores = 2;
  EXPECT_TRUE(codegen::any_kernel(*codegen::scheduled({p}, two).entries[0], [](const codegen::Kernel& k) {
    const auto* loop = std::get_if<codegen::TimeLoop>(&k.what);
    return loop && loop->part_bytes && k.grain > 0;
  }));
  auto run = jit(decay);
  asked    = 1;
  EXPECT_THROW(run(x, drives), Stopped);
  asked = 0;
  EXPECT_EQ(run(x, drives).shape(), x.shape());
}

// A loop in a loop looks at the flag too, and a program that the library exports has none.
TEST(StopRequest, IsLookedAtInEveryLoop) {
  const auto looks = [](const Program& p, codegen::Dialect dialect) {
    const std::string text = codegen::emit({p}, dialect).source;
    size_t            n    = 0;
    for (size_t at = text.find("*f->stop"); at != text.npos; at = text.find("*f->stop", at + 1)) ++n;
    return n;
  };
  const Program p =
      trace_function({{DType::F64, {6, 3, 2}}}, [](const Tensors& in) -> Tensors {
        return {for_loop([](Tensor rows) { return for_loop([](Tensor x) { return tanh(sum(x)); }, rows); }, in[0])};
      }).program;
  EXPECT_EQ(looks(p, codegen::Dialect::Native), 2u);
  EXPECT_EQ(looks(p, codegen::Dialect::Portable), 0u);
}

TEST(LongRun, InsideAnotherChangesNothing) {
  EXPECT_EQ(LongRun::flag(), &never_stop);
  const Asking asking;
  {
    const LongRun outer;
    EXPECT_EQ(LongRun::flag(), &asked);
    { const LongRun inner; }
    EXPECT_EQ(LongRun::flag(), &asked);
    EXPECT_EQ(begun, 1);
  }
  EXPECT_EQ(LongRun::flag(), &never_stop);
}

}  // namespace
}  // namespace braintrace
