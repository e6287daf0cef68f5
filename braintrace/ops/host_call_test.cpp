// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/host_call.h"

#include <gtest/gtest.h>

#include "braintrace/ir/builder.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jvp.h"
#include "braintrace/transforms/vmap.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

const Type three{DType::F64, {3}};

Tensor reversed(const Tensor& x) {
  return host_call(
      [](const Arrays& in) -> Arrays {
        return {Array::of<double>({at(in[0], 2), at(in[0], 1), at(in[0], 0)}, {3})};
      },
      {x}, {three})[0];
}

TEST(HostCall, RunsAtOnceAndWheneverAProgramRuns) {
  const Tensor x = Array::of<double>({1, 2, 3}, {3});
  EXPECT_EQ(at(reversed(x).array(), 0), 3);
  int          calls = 0;
  const Traced t     = trace({three}, [&](const Tensors& in) {
    return host_call([&calls](const Arrays& a) { return ++calls, a; }, in, {three});
  });
  EXPECT_EQ(calls, 0);
  for (int run = 1; run <= 2; ++run) {
    EXPECT_EQ(at(evaluate(t.program, {}, {x.array()})[0], 2), 3);
    EXPECT_EQ(calls, run);
  }
}

TEST(HostCall, KeepsItsFunctionAsLongAsAProgramCallsIt) {
  auto                     held  = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = held;
  std::string              text;
  {
    const Traced t = trace(
        {three}, [&](const Tensors& in) { return host_call([held](const Arrays& a) { return a; }, in, {three}); });
    held.reset();
    EXPECT_FALSE(watch.expired());
    text = print(t.program);
    EXPECT_EQ(at(evaluate(parse(text), {}, {Array::of<double>({1, 2, 3}, {3})})[0], 1), 2);
  }
  EXPECT_TRUE(watch.expired());
  const std::string error = error_of([&] { evaluate(parse(text), {}, {Array(three)}); });
  EXPECT_NE(error.find("host_call: its function belongs to a program that has ended"), std::string::npos) << error;
}

TEST(HostCall, SeesOneSampleUnderVmap) {
  const Traced  t  = trace({three}, [](const Tensors& in) -> Tensors { return {reversed(in[0])}; });
  const Tensor  xs = Array::of<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensors y  = vmap(t.program, {xs}, {true}, 2, {true});
  EXPECT_TRUE(identical(y[0].array(), Array::of<double>({3, 2, 1, 6, 5, 4}, {2, 3})));
}

TEST(HostCall, GivesAwayMemoryOfItsOwn) {
  std::vector<Array> kept;
  double             memory[] = {1, 2, 3};
  host_call([&](const Arrays& in) { return kept = in; }, {Array::borrow(three, memory, nullptr)}, {three});
  memory[0] = 9;
  EXPECT_EQ(at(kept[0], 0), 1);
}

TEST(HostCall, BadUseIsExplained) {
  const Tensor x    = zeros({3}, DType::F64);
  const auto   says = [](const std::string& message, const char* words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  says(error_of([&] { host_call([](const Arrays&) { return Arrays{}; }, {x}, {three}); }),
       "returned 0 result(s), expected 1");
  says(error_of([&] {
         host_call([](const Arrays&) { return Arrays{Array({DType::F64, {2}})}; }, {x}, {three});
       }),
       "result 0 of the function is f64[2], expected f64[3]");
  says(error_of([&] { host_call({}, {x}, {three}); }), "there is no function");
  says(error_of([&] { host_call([](const Arrays& a) { return a; }, {x}, {}); }), "must return a result");
  const Traced t = trace({three}, [](const Tensors& in) -> Tensors { return {reversed(in[0])}; });
  says(error_of([&] { jvp(t.program, {x}, {x}); }), "functions of the host have no derivative");
}

}  // namespace
}  // namespace braintrace
