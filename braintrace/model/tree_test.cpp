// SPDX-License-Identifier: Apache-2.0
#include "braintrace/model/tree.h"

#include <gtest/gtest.h>

#include "braintrace/functions/gradients.h"
#include "braintrace/runtime/values.h"

namespace braintrace {
namespace {

struct Layer {
  Tensor      w, b;
  int         steps = 3;
  std::string mode  = "fast";
  auto        fields() { return std::tie(w, b, steps, mode); }
};
using Big = std::tuple<Layer, std::vector<Tensor>, std::map<std::string, Tensor>, std::optional<Tensor>,
                       std::array<Tensor, 2>, std::pair<Tensor, int>>;

Big example() {
  auto t = [](float v) { return tensor({v}); };
  return {{t(1), t(2)}, {t(3), t(4)}, {{"x", t(5)}, {"y", t(6)}}, t(7), {t(8), t(9)}, {t(10), 4}};
}

TEST(Tree, FlattenVisitsTensorsInOrder) {
  const Tensors leaves = tree::flatten(example());
  ASSERT_EQ(leaves.size(), 10u);
  for (size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(leaves[i].item(), static_cast<double>(i + 1));
  EXPECT_EQ(tree::num_leaves(example()), 10u);
}

TEST(Tree, UnflattenReplacesTensorsAndKeepsTheRest) {
  Tensors doubled = tree::flatten(example());
  for (Tensor& t : doubled) t = tensor({static_cast<float>(2 * t.item())});
  const Big b = tree::unflatten(example(), doubled);
  EXPECT_EQ(std::get<0>(b).b.item(), 4);
  EXPECT_EQ(std::get<0>(b).mode, "fast");
  EXPECT_EQ(std::get<2>(b).at("y").item(), 12);
  EXPECT_EQ(std::get<5>(b).second, 4);
}

TEST(Tree, SignatureSeesStructureTypesAndStaticValuesButNotElements) {
  const std::string base = tree::signature(example());
  Big               same = example();
  std::get<0>(same).w    = tensor({99.0f});
  EXPECT_EQ(tree::signature(same), base);

  std::vector<Big> different(6, example());
  std::get<0>(different[0]).steps = 4;
  std::get<0>(different[1]).mode  = "slow";
  std::get<1>(different[2]).pop_back();
  std::get<2>(different[3]) = {{"x", tensor({5.0f})}, {"z", tensor({6.0f})}};
  std::get<3>(different[4]).reset();
  std::get<0>(different[5]).w = tensor({1.0}, DType::F64);
  for (const Big& d : different) EXPECT_NE(tree::signature(d), base);
  EXPECT_EQ(tree::structure(different[5]), tree::structure(example()));
  EXPECT_NE(tree::structure(different[4]), tree::structure(example()));
}

TEST(Tree, GradientsAreATree) {
  Gradients::Map map;
  map[Path{"a", "w"}] = {{"bias", tensor({1.0f})}, {"weight", tensor({2.0f})}};
  const Gradients g(map);
  const Gradients h = tree::map([](const Tensor& t) { return tensor({static_cast<float>(t.item()) + 1}); }, g);
  EXPECT_EQ(h.at(Path{"a", "w"}, "weight").item(), 3);
  EXPECT_EQ((g + h).at(Path{"a", "w"}, "bias").item(), 3);
  EXPECT_EQ((g * 4.0).squared_norm().item(), 16 + 64);
  EXPECT_THROW(g.at(Path{"b"}), UserError);
  EXPECT_THROW(g["a.w"], UserError);  // it has named leaves
}

}  // namespace
}  // namespace braintrace
