// SPDX-License-Identifier: Apache-2.0
#include "braintrace/base/parallel.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(InParallel, DoesEverythingOnce) {
  for (const int64_t count : {0, 1, 7, 1000}) {
    std::vector<int> done(static_cast<size_t>(count));
    in_parallel(count, 3, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++done[static_cast<size_t>(i)];
    });
    EXPECT_EQ(done, std::vector<int>(static_cast<size_t>(count), 1));
  }
}

TEST(InParallel, HandsAnExceptionToTheCaller) {
  const auto fails = [](int64_t, int64_t end) {
    if (end == 100) throw std::runtime_error("the last one");
  };
  EXPECT_THROW(in_parallel(100, 1, fails), std::runtime_error);
}

}  // namespace
}  // namespace braintrace
