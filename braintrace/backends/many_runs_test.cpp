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

// Results that become each other's arguments, one that is always zero, and one for the caller.
TEST(ManyRuns, EveryRunIsWhatItWouldBeAlone) {
  const Type   t{DType::F32, {5}};
  const Traced p = trace({t, t, t, t}, [](const Tensors& in) -> Tensors {
    return {in[1] + in[3], in[0] * 2, Tensor(in[2].type(), 0), in[0] - in[1]};
  });
  ASSERT_TRUE(p.constants.empty());
  const std::vector<Feed> feeds   = {{0, 0}, {1, 1}, {2, 2}};
  const int               usual   = cpu::num_threads();
  constexpr size_t        count   = 50;
  const auto              outcome = [&](const char* backend, int threads, bool at_once) {
    cpu::set_num_threads(threads);
    const auto runs = find_backend(backend).many(p.program, {}, feeds);
    // A set: three fed arguments, and one argument and one result per turn.
    constexpr size_t   turns = 3, size = 5 * (3 + turns + turns);
    std::vector<float> memory(count * size);
    for (size_t k = 0; k < count; ++k)
      for (size_t i = 0; i < 5 * (3 + turns); ++i) memory[k * size + i] = static_cast<float>(k + 3 * i);
    const auto sets = [&](size_t first, size_t in_turn) {
      return ArgumentSets{count,
                          in_turn,
                          [&, first](size_t k, void** args, void** results) {
                            float* set = &memory[k * size];
                            for (size_t i = 0; i < 3; ++i) args[i] = set + 5 * i;
                            args[3]    = set + 5 * (3 + first);
                            results[0] = set + 5 * (3 + turns + first);
                          },
                          {0, 0, 0, 5 * sizeof(float)},
                          {5 * sizeof(float)}};
    };
    if (at_once) runs->run(sets(0, turns));
    if (!at_once)
      for (size_t turn = 0; turn < turns; ++turn) runs->run(sets(turn, 1));
    runs->run(sets(0, 0));  // an empty call
    cpu::set_num_threads(usual);
    return memory;
  };
  const std::vector<float> want = outcome("reference", 1, false);
  EXPECT_EQ(want[10], 0);              // the result that is always zero
  EXPECT_NE(want[40], want[45 + 40]);  // of the last turn
  EXPECT_EQ(outcome("reference", 1, true), want);
  for (int threads : {1, 3})
    for (bool at_once : {false, true}) EXPECT_EQ(outcome("cpu", threads, at_once), want) << threads << at_once;
}

TEST(ManyRuns, WhatGoesWrongIsTold) {
  const Type           t{DType::F32, {5}}, i{DType::I32, {}};
  const Traced         p = trace({t, i}, [](const Tensors& in) -> Tensors { return {take(in[0], in[1], 0)}; });
  std::vector<float>   x(5), y(40);
  std::vector<int32_t> at(40);
  for (size_t k = 0; k < 40; ++k) at[k] = k == 33 ? 9 : 1;
  const ArgumentSets sets{40,
                          1,
                          [&](size_t k, void** args, void** results) {
                            args[0] = x.data(), args[1] = &at[k];
                            results[0] = &y[k];
                          },
                          {0, 0},
                          {0}};
  for (const char* backend : {"reference", "cpu"})
    EXPECT_THROW(find_backend(backend).many(p.program, {}, {})->run(sets), UserError) << backend;
}

}  // namespace
}  // namespace braintrace
