// SPDX-License-Identifier: Apache-2.0
#include "braintrace/backends/cpu/thread_choice.h"

#include <atomic>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "braintrace/backends/cpu/thread_pool.h"

namespace braintrace::cpu {
namespace {

using Time = ThreadChoice::Time;

// Simulates calls whose duration depends only on the number of threads.
struct Machine {
  std::function<double(int)> cost;  // microseconds
  int                        most;
  ThreadChoice               choice;
  double                     total = 0;
  int                        last  = 0;

  Machine(std::function<double(int)> c, int threads) : cost(std::move(c)), most(threads) {}

  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      last           = choice.threads(most);
      const double t = cost(last);
      total += t;
      choice.took(Time(static_cast<int64_t>(t * 1e3)));
    }
  }
};

double shared(int threads) { return 100.0 / threads; }
double far_apart(int threads) { return 100.0 * threads; }

TEST(ThreadChoice, TakesAllThreadsThatPay) {
  Machine m(shared, 16);
  m.run(20000);
  EXPECT_LT(m.total, 20000 * shared(16) * 1.03);
  m.total = 0;
  m.run(20000);
  EXPECT_LT(m.total, 20000 * shared(16) * 1.02);
  EXPECT_GT(m.total, 20000 * shared(16) * 1.001);  // negative control: it does try
}

TEST(ThreadChoice, GivesUpThreadsThatCost) {
  Machine m(far_apart, 16);
  m.run(400);
  EXPECT_EQ(m.last, 1);
  m.total = 0;
  m.run(20000);
  EXPECT_LT(m.total, 20000 * far_apart(1) * 1.03);
}

TEST(ThreadChoice, FindsTheBestBetween) {
  Machine m([](int threads) { return 100.0 / threads + 6.0 * threads; }, 16);
  m.run(2000);
  int there = 0;
  for (int i = 0; i < 1000; ++i) {
    m.run(1);
    there += m.last == 4;
  }
  EXPECT_GT(there, 850);
}

TEST(ThreadChoice, FollowsCoresThatChangePlaces) {
  Machine m(shared, 2);
  m.run(1000);
  m.cost = far_apart;
  m.run(3000);
  EXPECT_EQ(m.last, 1);
  m.cost = shared;
  m.run(3000);
  EXPECT_EQ(m.last, 2);
}

TEST(ThreadChoice, LeavesLongCallsAlone) {
  Machine m([](int threads) { return 1e6 / threads; }, 16);
  for (int i = 0; i < 300; ++i) {
    m.run(1);
    EXPECT_EQ(m.last, 16);
  }
}

TEST(ThreadChoice, HoldsOneThreadAndNewLimits) {
  Machine m(shared, 1);
  m.run(1000);
  EXPECT_EQ(m.last, 1);
  m.most = 3;
  m.run(1);
  EXPECT_EQ(m.last, 3);
  m.run(31);
  EXPECT_EQ(m.last, 3);
  m.run(1);
  EXPECT_EQ(m.last, 2);  // a trial
}

std::atomic<int> pieces = 0;

int32_t count_piece(const codegen::bt_frame*, int64_t, int64_t) {
  ++pieces;
  return 0;
}
int pieces_of_a_kernel() {
  pieces = 0;
  run_parallel(count_piece, nullptr, 1000, 1, 0, 1000);
  return pieces;
}

TEST(ThreadLimit, HoldsWhileItLives) {
  const int before = num_threads();
  set_num_threads(2);
  EXPECT_GT(pieces_of_a_kernel(), 1);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(pieces_of_a_kernel(), 1);
  }
  EXPECT_GT(pieces_of_a_kernel(), 1);
  set_num_threads(before);
}

}  // namespace
}  // namespace braintrace::cpu
