// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/machine.h"

#include <thread>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

// A thread has its own affinity, so this leaves the others alone.
TEST(Processors, AreThoseOfTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(count_processors(), 1);
  EXPECT_LE(count_processors(), CPU_COUNT(&before));
  int on_one = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    on_one = count_processors();
  }).join();
  EXPECT_EQ(on_one, 1);
}

}  // namespace
}  // namespace braintrace
