// SPDX-License-Identifier: Apache-2.0
#include "braintrace/viz/band_layout.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/sample_views.h"

namespace braintrace {
namespace {

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
// Does the segment pass through the inside of the box?
bool crosses(Point p, Point q, const Box& b) {
  constexpr double eps = 0.5;
  return std::max(p.x, q.x) > b.x + eps && std::min(p.x, q.x) < b.x + b.w - eps && std::max(p.y, q.y) > b.y + eps &&
         std::min(p.y, q.y) < b.y + b.h - eps;
}
bool on_border(Point p, const Box& b) {
  const bool inside  = p.x >= b.x - 1e-9 && p.x <= b.x + b.w + 1e-9 && p.y >= b.y - 1e-9 && p.y <= b.y + b.h + 1e-9;
  const auto near    = [](double a, double c) { return std::abs(a - c) < 1e-9; };
  const bool at_edge = near(p.x, b.x) || near(p.x, b.x + b.w) || near(p.y, b.y) || near(p.y, b.y + b.h);
  return inside && at_edge;
}

std::string problem(const Picture& picture, const Layout& layout) {
  const auto& id = [&](size_t i) { return picture.nodes[i].id; };
  for (size_t i = 0; i < layout.boxes.size(); ++i) {
    const Box& b = layout.boxes[i];
    if (b.x < 0 || b.y < 0 || b.x + b.w > layout.width || b.y + b.h > layout.height) return id(i) + " leaves the paper";
    for (size_t j = 0; j < i; ++j)
      if (overlap(b, layout.boxes[j])) return id(i) + " overlaps " + id(j);
  }
  if (layout.routes.size() != picture.edges.size()) return "an edge has no route";
  for (size_t k = 0; k < layout.routes.size(); ++k) {
    const auto&        route = layout.routes[k];
    const PictureEdge& e     = picture.edges[k];
    const std::string  name  = id(e.from) + " → " + id(e.to);
    if (!on_border(route.front(), layout.boxes[e.from])) return name + " does not start at its source";
    if (!on_border(route.back(), layout.boxes[e.to])) return name + " does not end at its target";
    for (size_t i = 0; i + 1 < route.size(); ++i) {
      if (route[i].x != route[i + 1].x && route[i].y != route[i + 1].y) return name + " has a slanted piece";
      for (size_t b = 0; b < layout.boxes.size(); ++b)
        if (crosses(route[i], route[i + 1], layout.boxes[b])) return name + " runs through " + id(b);
    }
  }
  return "";
}

TEST(BandLayout, SamplesAreClean) {
  for (const GraphView& view : {samples::single_layer_rnn(), samples::two_gru_layers(), samples::lstm(),
                                samples::conv_rnn(), samples::deep(12)}) {
    const Picture picture = picture_of(view);
    EXPECT_EQ(problem(picture, band_layout(picture)), "") << view.model;
  }
}

TEST(BandLayout, RandomGraphsHaveNoOverlapsAndAttachedEdges) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Picture picture = picture_of(samples::random_view(seed, 60));
    EXPECT_EQ(problem(picture, band_layout(picture)), "") << "seed " << seed;
  }
}

TEST(BandLayout, TheCheckFindsDamage) {
  const Picture picture = picture_of(samples::two_gru_layers());
  Layout        moved = band_layout(picture), loose = moved, skewed = moved;
  moved.boxes[2].y = moved.boxes[1].y + 3;
  EXPECT_NE(problem(picture, moved), "");
  loose.routes[0].back().x -= 4;
  EXPECT_NE(problem(picture, loose), "");
  skewed.routes[0].front().y += 7;
  EXPECT_NE(problem(picture, skewed), "");
}

TEST(BandLayout, PiecesOfDifferentSourcesDoNotShareATrack) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Picture picture = picture_of(samples::random_view(seed, 40));
    const Layout  layout  = band_layout(picture);
    for (size_t a = 0; a < layout.routes.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        if (picture.edges[a].from == picture.edges[b].from) continue;
        // Middle pieces only: first and last pieces lie at ports.
        for (size_t i = 1; i + 2 < layout.routes[a].size(); ++i)
          for (size_t j = 1; j + 2 < layout.routes[b].size(); ++j) {
            const Point p = layout.routes[a][i], q = layout.routes[a][i + 1];
            const Point r = layout.routes[b][j], s = layout.routes[b][j + 1];
            if (p.x != q.x || r.x != s.x || p.x != r.x) continue;
            const double shared =
                std::min(std::max(p.y, q.y), std::max(r.y, s.y)) - std::max(std::min(p.y, q.y), std::min(r.y, s.y));
            EXPECT_LE(shared, 0) << "seed " << seed << ", edges " << a << " and " << b;
          }
      }
  }
}

TEST(BandLayout, BandsFollowTheData) {
  const Picture picture = picture_of(samples::deep(12));
  const Layout  layout  = band_layout(picture);
  ASSERT_EQ(layout.bands.size(), 12u);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(layout.bands[i].title, fmt::format("layers.{}", i));
  for (size_t i = 1; i < 12; ++i)
    EXPECT_GT(layout.bands[i].box.y, layout.bands[i - 1].box.y + layout.bands[i - 1].box.h);
}

TEST(TextWidth, GrowsWithTextAndShortensInTheMiddle) {
  EXPECT_LT(text_width("i", 12, false), text_width("W", 12, false));
  EXPECT_DOUBLE_EQ(text_width("é", 10, true), text_width("e", 10, true));
  EXPECT_EQ(shortened("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shortened("ééééé", 5), "ééééé");
}

}  // namespace
}  // namespace braintrace
