// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/contract.h"

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

TEST(Contract, DotTakesTheLastAxisOfXAndTheOneBeforeTheLastOfW) {
  Rng          rng(3);
  const Tensor x = random_array(rng, {DType::F64, {2, 3, 4}});
  EXPECT_EQ(dot(x, zeros({4}, DType::F64)).shape(), (Shape{2, 3}));
  EXPECT_EQ(dot(x, zeros({4, 5}, DType::F64)).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(dot(x, zeros({6, 4, 5}, DType::F64)).shape(), (Shape{2, 3, 6, 5}));
  EXPECT_EQ(dot(Array::of<double>({1, 2}, {2}), Array::of<double>({3, 4}, {2})).item(), 11);
}

// Narrow and wide right operands take different loops; both are plain sums.
TEST(Contract, NarrowAndWideAgreeWithLoops) {
  Rng rng(4);
  for (int64_t n : {1, 7, 8, 20}) {
    const Array a = random_array(rng, {DType::F64, {3, 5}}), b = random_array(rng, {DType::F64, {n, 5}});
    const Array y = dot_general(a, b, {{1}, {1}, {}, {}}).array();
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double s = 0;
        for (int64_t k = 0; k < 5; ++k) s += at(a, i * 5 + k) * at(b, j * 5 + k);
        EXPECT_NEAR(at(y, i * n + j), s, 1e-13);
      }
  }
}

TEST(Contract, EmptySumIsZeroAndIntegersWrap) {
  EXPECT_EQ(at(dot(zeros({2, 0}), zeros({0, 3})).array(), 5), 0);
  const Tensor big = Array::of<int32_t>({INT32_MAX, 1}, {2}), one = Array::of<int32_t>({1, 1}, {2});
  EXPECT_EQ(dot(big, one).item(), INT32_MIN);
}

TEST(Contract, BadInputIsExplained) {
  auto says = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([] { dot(ones({2, 3}), ones({4, 5})); }), "Transpose one operand"));
  EXPECT_TRUE(says(error_of([] { dot(1.0, ones({4})); }), "at least one axis"));
  EXPECT_TRUE(says(error_of([] { dot_general(ones({2}), ones({2}), {{-1}, {0}, {}, {}}); }), "expected 0 to 0"));
  EXPECT_TRUE(says(error_of([] { dot_general(ones({2}), ones({2}), {{0}, {}, {}, {}}); }), "pairs"));
  EXPECT_TRUE(says(error_of([] { dot_general(ones({2}), ones({2}), {{0}, {0}, {0}, {0}}); }), "twice"));
}

}  // namespace
}  // namespace braintrace
