// SPDX-License-Identifier: Apache-2.0
#include "braintrace/ops/einsum.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/ir/builder.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/jvp.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

// The definition: loops over every letter.
std::vector<double> by_loops(const std::vector<std::string>& letters, const std::string& result, const Tensors& in) {
  std::map<char, int64_t> sizes;
  for (size_t k = 0; k < in.size(); ++k)
    for (size_t i = 0; i < letters[k].size(); ++i) sizes[letters[k][i]] = in[k].shape()[i];
  Shape                  all, out;
  std::map<char, size_t> place;
  for (auto [c, n] : sizes) {
    place[c] = all.size();
    all.push_back(n);
  }
  for (char c : result) out.push_back(sizes[c]);
  auto offset = [&](const Ints& index, const std::string& names) {
    int64_t at = 0;
    for (char c : names) at = at * sizes[c] + index[place[c]];
    return at;
  };
  std::vector<double> y(static_cast<size_t>(size_of(out)), 0);
  for (IndexWalk i(all); !i.done(); i.next()) {
    double term = 1;
    for (size_t k = 0; k < in.size(); ++k) term *= at(in[k].array(), offset(i.index(), letters[k]));
    y[offset(i.index(), result)] += term;
  }
  return y;
}

struct Case {
  std::vector<std::string> letters;
  std::string              result;
};

std::string text_of(const Case& c) {
  std::string s;
  for (const auto& l : c.letters) s += (s.empty() ? "" : ",") + l;
  return s + "->" + c.result;
}

TEST(Einsum, AgreesWithLoopsForManyEquations) {
  const std::map<char, int64_t> sizes = {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 2}, {'e', 1}, {'i', 3}, {'j', 5}};
  const std::vector<Case>       cases = {
            {{"ab", "bc"}, "ac"},
            {{"ab", "bc"}, "ca"},
            {{"ab", "cb"}, "abc"},
            {{"abc"}, "cab"},
            {{"abc"}, "b"},
            {{"abc"}, ""},
            {{"ii"}, "i"},
            {{"ii"}, ""},
            {{"iij"}, "ji"},
            {{"iji"}, "j"},
            {{"iii"}, "i"},
            {{"iijj"}, "ij"},
            {{"ai", "ii"}, "a"},
            {{"a", "b"}, "ab"},
            {{"a", "b"}, "ba"},
            {{"ab", "ab"}, "ab"},
            {{"ab", "ab"}, ""},
            {{"ab", "bc", "cd"}, "ad"},
            {{"ab", "bc", "cd"}, "bda"},
            {{"ab", "b", "b"}, "a"},
            {{"abc", "cb", "a"}, "b"},
            {{"a", "a", "a"}, "a"},
            {{"abj", "ajc", "cd", "d"}, "ab"},
            {{"ae", "be"}, "ab"},
            {{"ab", "c"}, "a"},
            {{"abi", "ij"}, "abj"},
            {{"abi", "bij"}, "abj"},
  };
  Rng rng(5);
  for (const Case& c : cases) {
    Tensors in;
    for (const auto& l : c.letters) {
      Shape s;
      for (char x : l) s.push_back(sizes.at(x));
      in.emplace_back(random_array(rng, {DType::F64, s}));
    }
    const auto  expected = by_loops(c.letters, c.result, in);
    const Array got      = einsum(text_of(c), in).array();
    ASSERT_EQ(got.size(), static_cast<int64_t>(expected.size())) << text_of(c);
    for (int64_t i = 0; i < got.size(); ++i) EXPECT_NEAR(at(got, i), expected[i], 1e-12) << text_of(c);
    if (c.result.size() == 2) {
      const std::string other = text_of({c.letters, {c.result[1], c.result[0]}});
      EXPECT_FALSE(identical(einsum(other, in).array(), got)) << "the order of the result must matter: " << other;
    }
  }
}

TEST(Einsum, ImplicitResultHasSingleLettersInAlphabeticalOrder) {
  Rng          rng(6);
  const Tensor a = random_array(rng, {DType::F64, {2, 3}}), b = random_array(rng, {DType::F64, {3, 4}});
  EXPECT_TRUE(identical(einsum("ij,jk", {a, b}).array(), einsum("ij,jk->ik", {a, b}).array()));
  EXPECT_TRUE(identical(einsum("zb,zb->", {a, a}).array(), einsum("zb,zb", {a, a}).array()));
  EXPECT_TRUE(identical(einsum("ba", {a}).array(), transpose(a).array()));
}

TEST(Einsum, DotsBroadcast) {
  Rng          rng(7);
  const Tensor a = random_array(rng, {DType::F64, {5, 1, 2, 3}}), b = random_array(rng, {DType::F64, {4, 3, 2}});
  const Tensor y = einsum("...ij,...jk", {a, b});
  ASSERT_EQ(y.shape(), (Shape{5, 4, 2, 2}));
  const Tensor one =
      einsum("ij,jk->ik", {reshape(slice_axis(a, 0, 2, 3), {2, 3}), reshape(slice_axis(b, 0, 1, 2), {3, 2})});
  const Tensor cut = reshape(slice(y, {2, 1, 0, 0}, {3, 2, 2, 2}), {2, 2});
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(at(one.array(), i), at(cut.array(), i), 1e-13);
  EXPECT_EQ(einsum("i...->...i", {a}).shape(), (Shape{1, 2, 3, 5}));
  // Axes of "..." may be summed: numbers equal the sum over explicit letters.
  const Tensor left = random_array(rng, {DType::F64, {3, 2}}), right = random_array(rng, {DType::F64, {1, 2}});
  const Tensor summed = einsum("...i,...i->i", {left, right}), plain = einsum("ai,i->i", {left, reshape(right, {2})});
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(at(summed.array(), i), at(plain.array(), i), 1e-13);
}

TEST(Einsum, DiagonalIgnoresTheRest) {
  const Tensor x = Array::of<double>({1, NAN, INFINITY, 4}, {2, 2});
  EXPECT_EQ(einsum("ii->", {x}).item(), 5);  // off-diagonal NaN does not leak
}

TEST(Einsum, DerivativeIsBilinear) {
  Rng           rng(8);
  const Tensors x = {random_array(rng, {DType::F64, {2, 2}}), random_array(rng, {DType::F64, {2, 3}})};
  const Tensors v = {random_array(rng, {DType::F64, {2, 2}}), random_array(rng, {DType::F64, {2, 3}})};
  auto          f = [](const Tensors& t) { return Tensors{einsum("ii,ij->j", t)}; };
  const auto    r = jvp(trace(types_of(x), f).program, x, v);
  const Array   a = f({v[0], x[1]})[0].array(), b = f({x[0], v[1]})[0].array();
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(at(r.tangents[0].array(), i), at(a, i) + at(b, i), 1e-12);
}

TEST(Einsum, BadInputIsExplained) {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  EXPECT_NE(error_of([&] { einsum("ij,jk->ik", {a, b}); }).find("size 3"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("ij->ik", {a}); }).find("not appear in any operand"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("ij->ii", {a}); }).find("twice"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("ij,jk", {a}); }).find("2 operands"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("ijk", {a}); }).find("'ijk'"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("i1->i", {a}); }).find("single letters"), std::string::npos);
  EXPECT_NE(error_of([&] { einsum("......i", {a}); }), "");
}

}  // namespace
}  // namespace braintrace
