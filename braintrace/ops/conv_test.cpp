// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/conv.h"

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ops/axes.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

// The definition, element by element, in any layout: loops over result positions and kernel positions.
struct Direct {
  const Tensor &     x, &w;
  const ConvOptions& o;
  std::string        lx, lw, ly, space;
  Ints               stride, lo, hi, ld, rd;

  int64_t size(const Tensor& t, const std::string& layout, char c) const { return t.shape()[layout.find(c)]; }

  Tensor run() const {
    Shape ys(ly.size());
    for (size_t i = 0; i < ly.size(); ++i) {
      if (ly[i] == 'N') ys[i] = size(x, lx, 'N');
      if (ly[i] == 'C') ys[i] = size(w, lw, 'O');
      const auto d = space.find(ly[i]);
      if (d == std::string::npos) continue;
      const int64_t padded = (size(x, lx, ly[i]) - 1) * ld[d] + 1 + lo[d] + hi[d];
      const int64_t extent = (size(w, lw, ly[i]) - 1) * rd[d] + 1;
      ys[i]                = padded < extent ? 0 : (padded - extent) / stride[d] + 1;
    }
    const Array         xa = x.array(), wa = w.array();
    const Ints          xs = strides_of(x.shape());
    std::vector<double> y(static_cast<size_t>(size_of(ys)), 0);
    const int64_t       per_group_out = size(w, lw, 'O') / o.groups, per_group_in = size(w, lw, 'I');
    for (IndexWalk p(ys); !p.done(); p.next())
      for (IndexWalk k(w.shape()); !k.done(); k.next()) {
        const int64_t out = p.index()[ly.find('C')];
        if (k.index()[lw.find('O')] != out) continue;
        int64_t from = p.index()[ly.find('N')] * xs[lx.find('N')] +
                       (out / per_group_out * per_group_in + k.index()[lw.find('I')]) * xs[lx.find('C')];
        bool inside = true;
        for (size_t d = 0; d < space.size(); ++d) {
          const char    c = space[d];
          const int64_t q = p.index()[ly.find(c)] * stride[d] + k.index()[lw.find(c)] * rd[d] - lo[d];
          inside          = inside && q >= 0 && q % ld[d] == 0 && q / ld[d] < size(x, lx, c);
          if (inside) from += q / ld[d] * xs[lx.find(c)];
        }
        if (inside) y[p.flat()] += at(xa, from) * at(wa, k.flat());
      }
    return from_doubles({DType::F64, ys}, y);
  }
};

std::string shuffled(std::string s, Rng& rng) {
  for (size_t i = s.size(); i > 1; --i)
    std::swap(s[i - 1], s[static_cast<size_t>(rng.integer(static_cast<int64_t>(i)))]);
  return s;
}

TEST(Conv, AgreesWithNestedLoopsForRandomConfigurations) {
  Rng rng(41);
  int live = 0;
  for (int trial = 0; trial < 150; ++trial) {
    const int         dims  = 1 + trial % 3;
    const std::string space = std::string("DHW").substr(0, static_cast<size_t>(dims));
    const std::string lx = shuffled("NC" + space, rng), lw = shuffled("IO" + space, rng),
                      ly = shuffled("NC" + space, rng);
    std::string order;
    for (char c : lx)
      if (c != 'N' && c != 'C') order += c;
    ConvOptions   o;
    const int64_t in = 1 + rng.integer(2), out = 1 + rng.integer(2);
    o.groups = 1 + rng.integer(3);
    o.layout = lx + "," + lw + "->" + ly;
    Ints lo, hi, xsize, wsize;
    for (int d = 0; d < dims; ++d) {
      o.stride.push_back(1 + rng.integer(3));
      o.lhs_dilation.push_back(1 + rng.integer(3));
      o.rhs_dilation.push_back(1 + rng.integer(3));
      lo.push_back(rng.integer(4) - 1);
      hi.push_back(rng.integer(4) - 1);
      xsize.push_back(2 + rng.integer(5));
      wsize.push_back(1 + rng.integer(3));
    }
    o.padding  = Padding::of(lo, hi);
    auto shape = [&](const std::string& layout, auto other) {
      Shape s;
      for (char c : layout) s.push_back(other(c));
      return s;
    };
    const Shape  xs = shape(lx, [&](char c) { return c == 'N' ? 2 : c == 'C' ? o.groups * in : xsize[order.find(c)]; });
    const Shape  ws = shape(lw, [&](char c) {
      return c == 'I' ? in : c == 'O' ? o.groups * out : wsize[order.find(c)];
    });
    const Tensor x = random_array(rng, {DType::F64, xs}), w = random_array(rng, {DType::F64, ws});
    const Array  expected =
        Direct{x, w, o, lx, lw, ly, order, o.stride, lo, hi, o.lhs_dilation, o.rhs_dilation}.run().array();
    const Array got = convolve(x, w, o).array();
    ASSERT_EQ(got.type(), expected.type()) << o.layout;
    live += got.size() > 0;
    for (int64_t i = 0; i < got.size(); ++i) ASSERT_NEAR(at(got, i), at(expected, i), 1e-12) << o.layout;
  }
  EXPECT_GT(live, 100) << "most configurations must have a result";
}

TEST(Conv, SameKeepsTheSizeAndPutsTheOddElementAfter) {
  const Tensor x = Array::of<double>({1, 2, 3, 4}, {1, 4, 1}), w = Array::of<double>({1, 10}, {2, 1, 1});
  ConvOptions  o;
  o.padding = Padding::same();
  EXPECT_TRUE(identical(convolve(x, w, o).array(), Array::of<double>({21, 32, 43, 4}, {1, 4, 1})));
  o.stride = {2};
  EXPECT_TRUE(identical(convolve(x, w, o).array(), Array::of<double>({21, 43}, {1, 2, 1})));
  o.padding = Padding::valid();
  o.stride  = {};
  EXPECT_EQ(convolve(x, w, o).shape(), (Shape{1, 3, 1}));
}

TEST(Conv, SameAddsNothingWhereTheWindowIsSmallerThanTheStride) {
  ConvOptions o;
  o.padding = Padding::same();
  o.stride  = {3, 2};
  EXPECT_EQ(convolve(ones({1, 7, 4, 1}), ones({2, 1, 1, 1}), o).shape(), (Shape{1, 3, 2, 1}));
}

TEST(Conv, IntegersWrap) {
  const Tensor x = Array::of<int32_t>({INT32_MAX, 1}, {1, 2, 1}), w = Array::of<int32_t>({1, 1}, {2, 1, 1});
  EXPECT_EQ(convolve(x, w).item(), INT32_MIN);
}

TEST(Conv, BadInputIsExplained) {
  const Tensor x = ones({2, 5, 5, 3}), w = ones({3, 3, 3, 4});
  auto         with = [&](auto change) {
    ConvOptions o;
    change(o);
    return error_of([&] { convolve(x, w, o); });
  };
  EXPECT_EQ(with([](ConvOptions&) {}), "");
  EXPECT_NE(with([](ConvOptions& o) { o.stride = {1}; }).find("stride"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.stride = {0, 1}; }).find("at least 1"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.groups = 3; }).find("channels"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.groups = 0; }).find("channels"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.layout = "NHWC"; }).find("NHWC,HWIO->NHWC"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.layout = "NHHC,HWIO->NHWC"; }).find("each once"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.layout = "NWC,WIO->NWC"; }).find("f32[2,5,5,3]"), std::string::npos);
  EXPECT_NE(with([](ConvOptions& o) { o.padding = Padding::of({1}, {1, 2}); }).find("padding"), std::string::npos);
  EXPECT_NE(error_of([&] { convolve(ones({2, 3}), ones({3, 3})); }), "");
  EXPECT_NE(error_of([&] { convolve(x, ones({3, 3, 2, 4})); }).find("f32[2,3,5,5]"), std::string::npos);
}

}  // namespace
}  // namespace braintrace
