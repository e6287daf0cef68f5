// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/pool.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/linearize.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

// The definition over one spatial axis of [N, W, C].
double direct(const Array& x, int64_t n, int64_t p, int64_t c, const PoolOptions& o, int64_t lo, bool mean) {
  const int64_t W = x.shape()[1], C = x.shape()[2];
  double        best = -INFINITY, total = 0;
  int           count = 0;
  for (int64_t k = 0; k < o.window[0]; ++k) {
    const int64_t q = p * o.stride[0] + k - lo;
    if (q < 0 || q >= W) continue;
    const double v = at(x, (n * W + q) * C + c);
    best           = std::max(best, v);
    total += v;
    ++count;
  }
  return mean ? total / count : best;
}

TEST(Pool, AgreesWithLoops) {
  Rng         rng(9);
  const Array x = random_array(rng, {DType::F64, {2, 7, 3}});
  for (int64_t window = 1; window <= 4; ++window)
    for (int64_t stride = 1; stride <= 3; ++stride)
      for (bool same : {false, true}) {
        PoolOptions   o{{window}, {stride}, same ? Padding::same() : Padding::valid(), ""};
        const Array   largest = max_pool(x, o).array(), mean = mean_pool(x, o).array();
        const int64_t P = largest.shape()[1];
        EXPECT_EQ(P, same ? (7 + stride - 1) / stride : (7 - window) / stride + 1);
        const int64_t lo = same ? std::max<int64_t>((P - 1) * stride + window - 7, 0) / 2 : 0;
        for (IndexWalk i(largest.shape()); !i.done(); i.next()) {
          const auto& d = i.index();
          EXPECT_EQ(at(largest, i.flat()), direct(x, d[0], d[1], d[2], o, lo, false));
          EXPECT_NEAR(at(mean, i.flat()), direct(x, d[0], d[1], d[2], o, lo, true), 1e-14);
        }
      }
}

TEST(Pool, LayoutsAgree) {
  Rng          rng(10);
  const Tensor x = random_array(rng, {DType::F64, {2, 4, 6, 3}});
  const Tensor y = max_pool(x, {{2, 3}, {}, {}, ""});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2, 3}));
  const Tensor first = max_pool(transpose(x, {0, 3, 1, 2}), {{2, 3}, {}, {}, "NCHW"});
  EXPECT_TRUE(identical(transpose(first, {0, 2, 3, 1}).array(), y.array()));
}

TEST(Pool, DerivativeGoesToTheFirstOfEqualMaxima) {
  const Tensor  x = Array::of<double>({1, 3, 3, 2}, {1, 4, 1});
  const Program p = trace({x.type()}, [](const Tensors& t) {
                      return Tensors{max_pool(t[0], {{4}, {}, {}, ""})};
                    }).program;
  const Tensor  g = vjp(p, {x}, {true}).pullback({ones({1, 1, 1}, DType::F64)})[0];
  EXPECT_TRUE(identical(g.array(), Array::of<double>({0, 1, 0, 0}, {1, 4, 1})));
}

TEST(Pool, NanIsTheMaximumAndPaddingNeverIs) {
  const Tensor x = Array::of<double>({-5, NAN, -7, -8}, {1, 4, 1});
  const Array  y = max_pool(x, {{2}, {2}, Padding::of({1}, {1}), ""}).array();
  EXPECT_EQ(at(y, 0), -5);
  EXPECT_TRUE(std::isnan(at(y, 1)));
  EXPECT_EQ(at(y, 2), -8);
  const Array i = max_pool(Array::of<int32_t>({-5, -6}, {1, 2, 1}), {{2}, {2}, Padding::of({1}, {1}), ""}).array();
  EXPECT_EQ(at(i, 1), -6);
}

TEST(Pool, BadInputIsExplained) {
  const Tensor x = ones({1, 4, 4, 2});
  auto says      = [](const std::string& message, const char* word) { return message.find(word) != std::string::npos; };
  EXPECT_TRUE(says(error_of([&] { max_pool(x, {{2}, {}, {}, ""}); }), "one size per spatial axis"));
  EXPECT_TRUE(says(error_of([&] { max_pool(x, {{2, 0}, {}, {}, ""}); }), "at least 1"));
  EXPECT_TRUE(says(error_of([&] { max_pool(x, {{2, 2}, {1}, {}, ""}); }), "stride"));
  EXPECT_TRUE(says(error_of([&] { max_pool(x, {{2, 2}, {}, {}, "NHC"}); }), "'NHC'"));
  EXPECT_TRUE(says(error_of([&] { mean_pool(ones({1, 4, 1}, DType::I32), {{2}, {}, {}, ""}); }), "floating-point"));
}

}  // namespace
}  // namespace braintrace
