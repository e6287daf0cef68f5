// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "braintrace/backends/cpu/thread_pool.h"
#include "braintrace/base/error.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/runtime/backend.h"

namespace braintrace {
namespace {

// Results that become each other's arguments, one that is always zero, one for the caller.
TEST(ManyRuns, EveryRunIsWhatItWouldBeAlone) {
  const Type   t{DType::F32, {5}};
  const Traced p = trace({t, t, t, t}, [](const Tensors& in) -> Tensors {
    return {in[1] + in[3], in[0] * 2, Tensor(in[2].type(), 0), in[0] - in[1]};
  });
  ASSERT_TRUE(p.constants.empty());
  const std::vector<Feed> feeds   = {{0, 0}, {1, 1}, {2, 2}};
  const int               usual   = cpu::num_threads();
  constexpr size_t        count   = 50;
  const auto              outcome = [&](const char* backend, int threads) {
    cpu::set_num_threads(threads);
    const auto         runs = find_backend(backend).many(p.program, {}, feeds);
    std::vector<float> memory(count * 25);
    std::vector<void*> args, results;
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = 0; i < 20; ++i) memory[k * 25 + i] = static_cast<float>(k + 3 * i);
      for (size_t i = 0; i < 4; ++i) args.push_back(&memory[k * 25 + 5 * i]);
      results.push_back(&memory[k * 25 + 20]);
    }
    for (int turn = 0; turn < 3; ++turn) runs->run(count, args.data(), results.data());
    cpu::set_num_threads(usual);
    return memory;
  };
  const std::vector<float> want = outcome("reference", 1);
  EXPECT_EQ(want[10], 0);  // what is always zero
  EXPECT_NE(want[20], want[25 + 20]);
  for (int threads : {1, 3}) EXPECT_EQ(outcome("cpu", threads), want) << threads;
}

TEST(ManyRuns, WhatGoesWrongIsTold) {
  const Type           t{DType::F32, {5}}, i{DType::I32, {}};
  const Traced         p = trace({t, i}, [](const Tensors& in) -> Tensors { return {take(in[0], in[1], 0)}; });
  std::vector<float>   x(5), y(40);
  std::vector<int32_t> at(40);
  std::vector<void*>   args, results;
  for (size_t k = 0; k < 40; ++k) {
    at[k] = k == 33 ? 9 : 1;
    args.insert(args.end(), {x.data(), &at[k]});
    results.push_back(&y[k]);
  }
  for (const char* backend : {"reference", "cpu"})
    EXPECT_THROW(find_backend(backend).many(p.program, {}, {})->run(40, args.data(), results.data()), UserError)
        << backend;
}

}  // namespace
}  // namespace braintrace
