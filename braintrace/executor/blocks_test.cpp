// SPDX-License-Identifier: Apache-2.0
#include "braintrace/executor/blocks.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/executor/step.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {

namespace {

constexpr int64_t K = 5, V = 4;

double apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

// Σ_n remains[n] v[K-N+n]
Tensor left_of(const Remains& r, const Tensor& v) {
  return sum(applied(r.of_steps, slice_axis(v, 0, K - r.of_steps.shape()[0], K)), Ints{0});
}

// Non-commuting blocks with some zero entries: step by step and all at once.
TEST(WindowProducts, AreWhatStepsLeave) {
  for (const int64_t W : {1, 2, 3})
    for (const double kappa : {0.0, 0.6})
      for (const bool forgets : {false, true}) {
        Rng          rng(static_cast<uint64_t>(W));
        const auto   r = [&](Shape s) { return Tensor(random_array(rng, {DType::F64, std::move(s)})); };
        const Tensor u = r({K, V, W, W}), v = r({K, V, W});
        const Tensor D  = u * convert(greater(abs(u), 0.1), DType::F64);
        const Tensor e0 = r({V, W}), f0 = r({V, W});
        Tensor       e = e0, f = f0;
        for (int64_t t = 0; t < K; ++t) {
          e = forgets ? row(v, t) : applied(row(D, t), e) + row(v, t);
          f = kappa * f + e;
        }
        const WindowProducts w     = window_products(forgets ? Tensor() : D, K, {DType::F64, {V, W, W}}, kappa);
        Tensor               plain = left_of(w.plain, v);
        EXPECT_EQ(w.plain.of_start.defined(), !forgets);
        if (!forgets) plain = plain + applied(w.plain.of_start, e0);
        EXPECT_LT(apart(plain, e), 1e-12) << W;
        EXPECT_GT(apart(e, row(v, K - 1)) + forgets, 1e-2) << W;  // negative control: the past contributes
        if (kappa == 0) continue;
        Tensor filtered = std::pow(kappa, K) * f0 + left_of(w.filtered, v);
        if (!forgets) filtered = filtered + applied(w.filtered.of_start, e0);
        EXPECT_LT(apart(filtered, f), 1e-12) << W;
        EXPECT_GT(apart(f, e), 1e-2) << W;
      }
}

}  // namespace

}  // namespace braintrace
