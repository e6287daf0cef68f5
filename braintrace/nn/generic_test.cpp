// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/generic.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/nn/conv.h"
#include "braintrace/nn/embedding.h"
#include "braintrace/nn/factored.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/error_of.h"
#include "tests/support/near.h"

namespace braintrace::nn {

namespace {

TEST(Generic, ActivationsPReLUAndGLU) {
  EXPECT_LT(distance(ActivationLayer("relu")(f64({-1, 2})), {0, 2}), 1e-15);
  EXPECT_LT(distance(PReLU()(f64({-1, 2})), {-0.25, 2}), 1e-15);
  EXPECT_NE(error_of([] { PReLU(-1); }).find("must not be negative"), std::string::npos);
  EXPECT_LT(distance(GLU()(f64({3, 0})), {1.5}), 1e-15);
  EXPECT_NE(error_of([] { Activation("tanhh"); }).find("tanh"), std::string::npos);
  for (const std::string& name : activation_names()) EXPECT_EQ(Activation(name)(f64({-1, 0.3})).size(), 2) << name;
}

TEST(Generic, DropoutKeepsTheMeanAndOnlyActsWhileTraining) {
  random::seed(1);
  const Tensor x    = full({20000}, 1, DType::F64);
  const Array  y    = Dropout(0.8)(x).array();
  double       mean = 0;
  for (int64_t i = 0; i < y.size(); ++i) {
    EXPECT_TRUE(at(y, i) == 0 || std::abs(at(y, i) - 1.25) < 1e-12);
    mean += at(y, i) / static_cast<double>(y.size());
  }
  EXPECT_NEAR(mean, 1, 0.02);
  const Array channels = Dropout(0.5, 1)(full({3, 50, 4}, 1, DType::F64)).array();
  for (int64_t i = 0; i < channels.size(); ++i)
    EXPECT_EQ(at(channels, i), at(channels, i / 200 * 200 + i % 4));  // all positions of a channel together
  Environment::Scope testing({.training = false});
  EXPECT_TRUE(identical(Dropout(0.8)(x).array(), x.array()));
  EXPECT_NE(error_of([] { Dropout(0); }), "");
}

TEST(Generic, Pooling) {
  const Tensor x = f64({1, 2, 3, 4}, {4, 1});
  PoolOptions  pairs;
  pairs.window = {2};
  EXPECT_LT(distance(Pool(PoolKind::Max, pairs)(x), {2, 4}), 1e-15);
  EXPECT_LT(distance(Pool(PoolKind::Mean, pairs)(expand_dims(x, 0)), {1.5, 3.5}), 1e-15);
  EXPECT_LT(distance(AdaptivePool(PoolKind::Mean, {2})(x), {1.5, 3.5}), 1e-15);
  EXPECT_LT(distance(AdaptivePool(PoolKind::Max, {1})(x), {4}), 1e-15);
  EXPECT_NE(error_of([&] { AdaptivePool(PoolKind::Max, {3})(x); }), "");
}

TEST(Generic, ShapesAndSequences) {
  EXPECT_EQ(Flatten({2, 3})(zeros({5, 2, 3})).shape(), (Shape{5, 6}));
  EXPECT_EQ(Flatten({2, 3})(zeros({2, 3})).shape(), (Shape{6}));
  EXPECT_EQ(Unflatten({2, 3})(zeros({5, 6})).shape(), (Shape{5, 2, 3}));
  Sequential net(
      {std::make_shared<Linear>(3, 4), std::make_shared<ActivationLayer>("tanh"), std::make_shared<Linear>(4, 2)});
  EXPECT_EQ(net(zeros({5, 3})).shape(), (Shape{5, 2}));
  EXPECT_EQ(net.params()[1].first.str(), "layers.2.weight");
}

TEST(Linears, MasksSignsAndShapes) {
  const Tensor mask = f64({1, 0, 1, 1}, {2, 2}), w = f64({1, 2, -3, 4}, {2, 2});
  EXPECT_LT(distance(Linear(2, 2, {.w_init = w, .b_init = no_bias, .w_mask = mask})(f64({1, 1})), {-2, 4}), 1e-15);
  EXPECT_LT(distance(SignedWLinear(2, 2, {.w_init = w, .w_sign = f64({1, -1}, {1, 2})})(f64({1, 1})), {4, -6}), 1e-15);
  EXPECT_EQ(Linear(3, 2)(zeros({4, 5, 3})).shape(), (Shape{4, 5, 2}));
  EXPECT_NE(error_of([] { Linear({2, 3}, {3, 3}); }), "");
  EXPECT_NE(error_of([] { Linear(2, 2)(zeros({3})); }).find("last axis"), std::string::npos);
  EXPECT_NE(error_of([] { Linear(2, 2, {.w_mask = zeros({3, 2})}); }).find("mask"), std::string::npos);
  EXPECT_NE(error_of([] { Linear(0, 2); }).find("positive"), std::string::npos);
}

// A mask may have fewer axes than the weight; what it hides has no gradient.
TEST(Linears, MaskedEntriesDoNotLearn) {
  for (const Tensor& mask : {f64({1, 0}, {2}), f64({1, 0, 1, 0}, {2, 2}), f64({1, 0}, {1, 2})}) {
    Linear          layer({4, 2}, {4, 2}, {.w_init = f64({1, 2, 3, 4}, {2, 2}), .b_init = f64({1, 1}), .w_mask = mask});
    const Tensor    x = f64({1, 2, 3, 4}, {2, 2});
    const Gradients g = grad([&] { return sum(layer(x)); }, layer.params())();
    EXPECT_LT(distance(g.at({"weight"}, "weight"), {4, 0, 6, 0}), 1e-15);
    EXPECT_LT(distance(g.at({"weight"}, "bias"), {2, 2}), 1e-15);
  }
}

TEST(Linears, MasksMayBeFunctionsOfTheShape) {
  const auto   lower = [](const Shape& s) { return tril(full(s, 1, DType::F64)); };
  const Tensor w = f64({1, 2, 3, 4}, {2, 2}), x = f64({1, 1});
  Linear       layer(2, 2, {.w_init = w, .b_init = no_bias, .w_mask = lower});
  EXPECT_LT(distance(layer(x), {4, 4}), 1e-15);
  const Gradients g = grad([&] { return sum(layer(x)); }, layer.params())();
  EXPECT_LT(distance(g.at({"weight"}, "weight"), {1, 0, 1, 1}), 1e-15);
  EXPECT_LT(distance(Linear(2, 2, {.w_init = w, .b_init = no_bias, .w_mask = init::identity()})(x), {1, 4}), 1e-15);
  EXPECT_EQ(Conv1d({3, 2}, 1, 3, {.w_mask = [](const Shape& s) { return zeros(s); }}).weight.leaf("weight").shape(),
            (Shape{3, 2, 1}));
  EXPECT_NE(error_of([] { Linear(2, 2, {.w_mask = [](const Shape&) {
                                   return zeros({3, 2});
                                 }}); }).find("mask"),
            std::string::npos);
}

TEST(Linears, SignsStayWhateverTheWeights) {
  const Tensor w = f64({1, -2}, {2, 1}), x = f64({1, 1});
  EXPECT_LT(distance(SignedWLinear(2, 1, {.w_init = w})(x), {3}), 1e-15);
  EXPECT_LT(distance(SignedWLinear(2, 1, {.w_init = w, .w_sign = f64({-1}, {})})(x), {-3}), 1e-15);
  SignedWLinear   mixed(2, 1, {.w_init = w, .w_sign = f64({1, -1}, {2, 1})});
  const Gradients g = grad([&] { return sum(mixed(x)); }, mixed.params())();
  EXPECT_LT(distance(mixed(f64({1, 1, 2, 2}, {1, 2, 2})), {-1, -2}), 1e-15);
  EXPECT_LT(distance(g["weight"], {1, 1}), 1e-15);  // d|w|/dw · sign: 1·1 and (-1)·(-1)
}

TEST(Linears, GainScalesTheProductAndNotTheBias) {
  ScaledWSLinear layer(2, 1, {.w_init = f64({1, 3}, {2, 1}), .b_init = f64({0.5})});
  const double   plain = at(layer(f64({1, 0})).array(), 0) - 0.5;
  layer.weight.set_leaf("gain", f64({3}, {1, 1}));
  EXPECT_LT(distance(layer(f64({1, 0})), {3 * plain + 0.5}), 1e-15);
  EXPECT_FALSE(ScaledWSLinear(2, 1, {.b_init = no_bias, .ws_gain = false}).weight.has_leaf("gain"));
}

TEST(Linears, LowRankScaleAndBase) {
  LoRA lora(
      2, 2, 1,
      {.base_module = std::make_shared<Linear>(2, 1, LinearOptions{.w_init = f64({1, 1}, {2, 1}), .b_init = no_bias})});
  lora.weight.set_leaf("lora_a", f64({1, 0, 0, 1}, {2, 2}));
  lora.weight.set_leaf("lora_b", f64({2, 4}, {2, 1}));
  EXPECT_LT(distance(lora(f64({1, 1})), {0.5 * 6 + 2}), 1e-15);  // α = 1/rank
  EXPECT_EQ(lora.params().size(), 2u);
}

TEST(Linears, ScaledWeightsAreStandardized) {
  const Tensor   w = f64({1, 2, 3, 6}, {2, 2});
  ScaledWSLinear layer(2, 2, {.w_init = w, .b_init = Initializer(f64({0, 0}))});
  // column (1,3): mean 2, var 1, scale 1/√2; column (2,6): mean 4, var 4, scale 1/√8
  EXPECT_LT(distance(layer(f64({1, 0})), {-1 / std::sqrt(2.0), -2 / std::sqrt(8.0)}), 1e-7);
}

TEST(Linears, LowRankSparseAndGrouped) {
  LoRA lora(2, 1, 2, {.alpha = 0.5});
  EXPECT_LT(distance(lora(f64({1, 2})), {0, 0}), 1e-15);  // B starts at zero
  lora.weight.set_leaf("lora_a", f64({1, 2}, {2, 1}));
  lora.weight.set_leaf("lora_b", f64({3, 4}, {1, 2}));
  EXPECT_LT(distance(lora(f64({1, 1})), {4.5, 6}), 1e-15);

  const Tensor rows = Array::of<int32_t>({0, 1}, {2}), cols = Array::of<int32_t>({2, 0}, {2});
  SparseLinear sparse(coo(rows, cols, 2, 3), f64({5, 7}));
  EXPECT_LT(distance(sparse(f64({1, 2})), {14, 0, 5}), 1e-15);
  EXPECT_EQ(sparse(zeros({4, 3, 2}, DType::F64)).shape(), (Shape{4, 3, 3}));

  GroupedLinear grouped(2, 1, 1, f64({2, 3}, {2, 1, 1}), no_bias);
  EXPECT_LT(distance(grouped(f64({1, 1}, {2, 1})), {2, 3}), 1e-15);
}

TEST(Convolutions, FormsShapesAndErrors) {
  Conv2d tutorial(1, 8, 3);  // in_channels alone: channels first, any size
  EXPECT_EQ(tutorial(zeros({1, 28, 28})).shape(), (Shape{8, 28, 28}));
  EXPECT_EQ(tutorial(zeros({2, 1, 5, 6})).shape(), (Shape{2, 8, 5, 6}));
  EXPECT_FALSE(tutorial.out_size());
  Conv2d last({28, 28, 1}, 8, 3, {.stride = {2}, .padding = "VALID", .b_init = 0});
  EXPECT_EQ(*last.out_size(), (Shape{13, 13, 8}));
  EXPECT_EQ(last(zeros({28, 28, 1})).shape(), (Shape{13, 13, 8}));
  EXPECT_EQ(last.weight.leaf("bias").shape(), (Shape{1, 1, 8}));
  EXPECT_EQ(Conv1d({6, 2}, 3, 3).weight.leaf("weight").shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(*Conv3d({4, 4, 4, 1}, 2, 2, {.padding = 1}).out_size(), (Shape{5, 5, 5, 2}));
  EXPECT_NE(error_of([] { Conv2d({28, 28}, 8, 3); }).find("in_size"), std::string::npos);
  EXPECT_NE(error_of([] { Conv2d({8, 8, 3}, 8, 3, {.groups = 2}); }).find("groups"), std::string::npos);
  EXPECT_NE(error_of([] { Conv2d({8, 8, 3}, 8, 3, {.padding = "SAMY"}); }).find("SAMY"), std::string::npos);
  EXPECT_NE(error_of([] { Conv2d({8, 8, 3}, 8, {3, 3, 3}); }).find("kernel_size"), std::string::npos);
  EXPECT_NE(error_of([&] { last(zeros({28, 27, 1})); }).find("in_size"), std::string::npos);
  EXPECT_NE(error_of([&] { tutorial(zeros({3, 28, 28})); }).find("channels"), std::string::npos);
}

TEST(Convolutions, StridesDilationGroupsAndMasks) {
  EXPECT_EQ(*Conv2d({9, 9, 1}, 2, 3, {.stride = {2, 3}, .padding = "VALID"}).out_size(), (Shape{4, 3, 2}));
  EXPECT_EQ(*Conv2d({9, 9, 1}, 2, 3, {.padding = ConvPadding({{0, 1}, {2, 0}})}).out_size(), (Shape{8, 9, 2}));
  EXPECT_EQ(*Conv2d({9, 9, 1}, 2, 3, {.padding = "VALID", .rhs_dilation = {2}}).out_size(), (Shape{5, 5, 2}));
  EXPECT_EQ(*Conv1d({4, 1}, 1, 3, {.padding = "VALID", .lhs_dilation = {2}}).out_size(), (Shape{5, 1}));
  const Conv2d depthwise({5, 5, 3}, 6, 3, {.groups = 3});
  EXPECT_EQ(depthwise.weight.leaf("weight").shape(), (Shape{3, 3, 1, 6}));
  EXPECT_FALSE(depthwise.weight.has_leaf("bias"));

  Conv1d masked({3, 1}, 1, 3, {.w_init = f64({1, 2, 3}, {3, 1, 1}), .w_mask = f64({1, 0, 1}, {3, 1, 1})});
  EXPECT_LT(distance(masked(f64({1, 1, 1}, {3, 1})), {3, 4, 1}), 1e-15);
  Conv1d second(*masked.out_size(), 2, 3);  // layers stack by out_size
  EXPECT_EQ(second(masked(zeros({2, 3, 1}, DType::F64))).shape(), (Shape{2, 3, 2}));
}

TEST(Embeddings, LookupAndRefusedOptions) {
  Embedding e(3, 2, {.w_init = f64({1, 2, 3, 4, 5, 6}, {3, 2})});
  EXPECT_LT(distance(e(Array::of<int32_t>({2, 0}, {2})), {5, 6, 1, 2}), 1e-15);
  EXPECT_EQ(e(Array(Type{DType::I32, {2, 3, 4}})).shape(), (Shape{2, 3, 4, 2}));
  EXPECT_EQ(e(Array::scalar(DType::I32, 1)).shape(), (Shape{2}));
  const std::string all = error_of([] { Embedding(3, 2, {.padding_idx = 1, .max_norm = 2, .freeze = true}); });
  EXPECT_NE(all.find("max_norm=2, freeze=true, padding_idx=1"), all.npos) << all;
  EXPECT_NE(error_of([] { Embedding(3, 2, {.padding_idx = 3}); }).find("padding_idx"), std::string::npos);
  EXPECT_NE(error_of([] { Embedding::from_pretrained(f64({1, 2}, {1, 2})); }).find("freeze"), std::string::npos);
  EXPECT_NO_THROW(Embedding::from_pretrained(f64({1, 2}, {1, 2}), false));
}

}  // namespace

}  // namespace braintrace::nn
