// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/layered_layout.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace braintrace {
namespace {

TEST(LayeredLayout, RandomGraphsPointDownAndDoNotOverlap) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937                           rng(seed);
    const size_t                           n = 2 + rng() % 59;
    std::vector<Box>                       sizes;
    std::vector<std::pair<size_t, size_t>> edges;
    for (size_t i = 0; i < n; ++i) sizes.push_back({0, 0, 40.0 + rng() % 120, 40});
    for (size_t k = 0; k < 2 * n; ++k) {
      const size_t a = rng() % n, b = rng() % n;
      if (a != b) edges.emplace_back(std::min(a, b), std::max(a, b));
    }
    const LayeredLayout layout = layered_layout(sizes, edges);
    for (size_t i = 0; i < n; ++i) {
      const Box& a = layout.boxes[i];
      EXPECT_GE(a.x, 0);
      EXPECT_LE(a.x + a.w, layout.width);
      EXPECT_LE(a.y + a.h, layout.height);
      for (size_t j = 0; j < i; ++j) {
        const Box& b = layout.boxes[j];
        EXPECT_TRUE(a.x >= b.x + b.w || b.x >= a.x + a.w || a.y >= b.y + b.h || b.y >= a.y + a.h)
            << "seed " << seed << ": boxes " << i << " and " << j;
      }
    }
    ASSERT_EQ(layout.routes.size(), edges.size());
    for (size_t k = 0; k < edges.size(); ++k) {
      const Box &u = layout.boxes[edges[k].first], &v = layout.boxes[edges[k].second];
      EXPECT_LT(u.y + u.h, v.y);
      EXPECT_NEAR(layout.routes[k].front().y, u.y + u.h, 1e-9);
      EXPECT_NEAR(layout.routes[k].back().y, v.y, 1e-9);
      EXPECT_NEAR(layout.routes[k].front().x, u.x + u.w / 2, 1e-9);
      EXPECT_NEAR(layout.routes[k].back().x, v.x + v.w / 2, 1e-9);
    }
  }
}

TEST(LayeredLayout, AChainIsStraight) {
  const LayeredLayout layout = layered_layout({{0, 0, 50, 40}, {0, 0, 90, 40}, {0, 0, 50, 40}}, {{0, 1}, {1, 2}});
  for (const auto& route : layout.routes) EXPECT_NEAR(route.front().x, route.back().x, 1e-9);
}

TEST(LayeredLayout, BackwardEdgesAreRefused) {
  EXPECT_THROW(layered_layout({{0, 0, 50, 40}, {0, 0, 50, 40}}, {{1, 0}}), InternalError);
}

}  // namespace
}  // namespace braintrace
