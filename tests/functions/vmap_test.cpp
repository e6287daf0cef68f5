// SPDX-License-Identifier: Apache-2.0
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

TEST(Vmap, EqualsALoop) {
  auto         f  = [](const Tensor& x, const Tensor& w) { return std::pair(tanh(dot(x, w)), sum(x)); };
  const Tensor xs = wave({4, 2}), w = wave({2, 3});
  const auto [y, s] = vmap(f, {.in_axes = {0, {}}})(xs, w);
  ASSERT_EQ(y.shape(), (Shape{4, 3}));
  ASSERT_EQ(s.shape(), (Shape{4}));
  for (int64_t i = 0; i < 4; ++i) expect_close(row_of(y, i), f(row_of(xs, i), w).first);
}

TEST(Vmap, OtherAxes) {
  const Tensor xs = wave({2, 4});
  auto         f  = [](const Tensor& x) { return x * 2.0; };
  expect_close(vmap(f, {.in_axes = {1}})(xs), transpose(xs * 2.0));
  expect_close(vmap(f, {.in_axes = {-1}, .out_axis = 1})(xs), xs * 2.0);
  EXPECT_EQ(vmap([](const Tensor&) { return Tensor(1.0); })(xs).shape(), (Shape{2}));  // does not depend on the sample
  EXPECT_EQ(vmap([] { return Tensor(1.0); }, {.size = 3})().shape(), (Shape{3}));
}

TEST(Vmap, BatchedStatesHaveOneValuePerSample) {
  Rnn          model(2, 3), lone(2, 3);
  const Tensor xs = wave({4, 2}), ys = wave({4, 2}, 0.4);
  init_all_states(model, {.batch_size = 4});
  auto step = vmap([&](const Tensor& x) { return model(x); }, {.batched_states = model.states<HiddenState>()});
  step(xs);
  const Tensor out = step(ys);
  expect_close(out, model.h.value());
  for (int64_t i = 0; i < 4; ++i) {
    reset_all_states(lone);
    lone(row_of(xs, i));
    expect_close(row_of(out, i), lone(row_of(ys, i)));
  }
}

TEST(Vmap, ResetsTheStateOfEachSample) {
  Rnn model(2, 3);
  init_all_states(model, {.batch_size = 4});
  const Tensor fresh = model.h.value();
  auto         reset = vmap(
      [&] {
        reset_all_states(model);
        return model.h.value();
      },
      {.batched_states = model.states<HiddenState>()});
  for (const auto& again : {std::function<Tensor()>(reset), std::function<Tensor()>(jit(reset))}) {
    model(wave({4, 2}));
    EXPECT_EQ(again().shape(), (Shape{4, 3}));
    expect_close(model.h.value(), fresh);
  }
  model(wave({4, 2}));
  reset_all_states(model);  // the batch size is as before
  expect_close(model.h.value(), fresh);
}

TEST(Vmap, WritingASharedStateWithASampleValueIsRefused) {
  Rnn         model(2, 3);
  const Array before = model.h.value().array();
  auto        step   = vmap([&](const Tensor& x) { return model(x); });
  EXPECT_TRUE(mentions(error_of([&] {
                         step(wave({4, 2}));
                       }),
                       {"vmap", "'h'", "batched_states in C++", "batch_size = 4"}));
  EXPECT_TRUE(identical(model.h.value().array(), before));
  // A value that is the same for all samples may be written.
  LongTermState count(tensor({0.0}));
  vmap([&](const Tensor& x) {
    count.set(count.value() + 1.0);
    return x;
  })(wave({4, 2}));
  EXPECT_EQ(count.value().item(), 1);
}

TEST(Vmap, Errors) {
  auto f = [](const Tensor& x, const Tensor& y) { return x + y; };
  EXPECT_TRUE(mentions(error_of([&] { vmap(f)(wave({2}), wave({3})); }), {"argument 1", "3 samples", "argument 0"}));
  EXPECT_TRUE(mentions(error_of([&] { vmap(f, {.in_axes = {0}})(wave({2}), wave({2})); }), {"in_axes", "1", "2"}));
  EXPECT_TRUE(mentions(error_of([&] { vmap(f, {.in_axes = {{}, {}}})(wave({2}), wave({2})); }), {"nothing is mapped"}));
  EXPECT_TRUE(mentions(error_of([&] { vmap(f, {.in_axes = {3, 0}})(wave({2}), wave({2})); }), {"vmap", "axis"}));
  Rnn  model(2, 3);  // no batch axis: h is f64[3]
  auto step = vmap([&](const Tensor& x) { return model(x); }, {.batched_states = model.states<HiddenState>()});
  EXPECT_TRUE(mentions(error_of([&] { step(wave({4, 2})); }), {"state 'h'", "3", "4"}));
}

}  // namespace
}  // namespace braintrace
