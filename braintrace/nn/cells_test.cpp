// SPDX-License-Identifier: Apache-2.0
// What every recurrent cell owes: states and results of the right shapes for any batch, first values that come back,
// initializers and activations that are used, weights fixed by the seed.
#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "braintrace/model/random_stream.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/random.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/special.h"
#include "tests/support/near.h"
#include "tests/support/values.h"

namespace braintrace::nn {

namespace {

template <class Cell>
class Cells : public testing::Test {};

using All =
    testing::Types<ValinaRNNCell, GRUCell, MGUCell, CFNCell, LSTMCell, URLSTMCell, MinimalRNNCell, MiniGRU, MiniLSTM>;
TYPED_TEST_SUITE(Cells, All);

bool same(const Tensor& a, const Tensor& b) { return identical(a.array(), b.array()); }

TYPED_TEST(Cells, ShapesForAnyBatchAndTenSteps) {
  TypeParam cell(3, 4);
  for (const BatchSize batch : {BatchSize(), BatchSize(1), BatchSize(5)}) {
    init_all_states(cell, {.batch_size = batch});
    const Shape states = batched({4}, batch);
    for (const auto& [path, state] : cell.template states<HiddenState>()) EXPECT_EQ(state.value().shape(), states);
    Tensor y;
    for (uint64_t t = 0; t < 10; ++t) y = cell(random::normal(random::key(t), batched({3}, batch)));
    EXPECT_EQ(y.shape(), states);
    EXPECT_TRUE(std::isfinite(sum(y).item()));
    EXPECT_GT(sum(abs(y)).item(), 0);
  }
}

TYPED_TEST(Cells, SizesMustBePositive) {
  for (const auto& [n_in, n_rec] : {std::pair(0, 2), std::pair(-1, 4), std::pair(2, 0), std::pair(4, -1)}) try {
      TypeParam cell(n_in, n_rec);
      ADD_FAILURE() << n_in << ", " << n_rec;
    } catch (const UserError& e) {
      const std::string expected = ": " + std::string(n_in < 1 ? "in" : "out") + "_size must be positive, got (";
      EXPECT_NE(std::string(e.what()).find(TypeParam(1, 1).type_name() + expected), std::string::npos) << e.what();
    }
}

TYPED_TEST(Cells, StatesStartAtTheirInitializerAndComeBackToIt) {
  TypeParam cell(3, 4, {.state_init = 0.25});
  init_all_states(cell, {.batch_size = 2});
  cell(ones({2, 3}));
  EXPECT_FALSE(same(cell.h.value(), full({2, 4}, 0.25)));
  reset_all_states(cell);
  for (const auto& [path, state] : cell.template states<HiddenState>())
    EXPECT_TRUE(same(state.value(), full({2, 4}, 0.25))) << path.str();
}

TYPED_TEST(Cells, WeightsFollowTheirInitializersAndTheSeed) {
  TypeParam given(3, 4, {.w_init = 0.125, .b_init = 0.5});
  int       biases = 0;
  for (const auto& [path, state] : given.params()) {
    if (state.has_leaf("weight")) {
      const Tensor weight = state.leaf("weight");
      EXPECT_TRUE(same(weight, full(weight.shape(), 0.125))) << path.str();
    }
    if (!state.has_leaf("bias")) continue;
    ++biases;
    EXPECT_TRUE(same(state.leaf("bias"), full({4}, 0.5))) << path.str();
  }
  EXPECT_EQ(biases, (std::is_same_v<TypeParam, URLSTMCell> ? 0 : static_cast<int>(given.params().size())));

  random::seed(3);
  TypeParam a(3, 4);
  TypeParam other(3, 4);
  random::seed(3);
  TypeParam b(3, 4);
  bool      differs = false;
  for (size_t i = 0; i < a.params().size(); ++i)
    for (const std::string& leaf : a.params()[i].second.leaf_names()) {
      EXPECT_TRUE(same(a.params()[i].second.leaf(leaf), b.params()[i].second.leaf(leaf))) << leaf;
      differs = differs || !same(a.params()[i].second.leaf(leaf), other.params()[i].second.leaf(leaf));
    }
  EXPECT_TRUE(differs);
}

template <class Cell>
Tensor two_steps(const CellOptions& o) {
  random::seed(5);
  Cell cell(3, 4, o);
  init_all_states(cell);
  cell(ones({3}));
  return cell(ones({3}));
}

// By name and as a function: the same; another one: not.
template <class Cell>
void expect_activation_is_used() {
  const Tensor named = two_steps<Cell>({.activation = "sigmoid"});
  EXPECT_TRUE(same(named, two_steps<Cell>({.activation = [](const Tensor& x) { return sigmoid(x); }})));
  EXPECT_FALSE(same(named, two_steps<Cell>({.activation = "tanh"})));
}
TEST(CellActivations, ByNameOrAsAFunction) {
  expect_activation_is_used<ValinaRNNCell>();
  expect_activation_is_used<GRUCell>();
  expect_activation_is_used<MGUCell>();
  expect_activation_is_used<CFNCell>();
  expect_activation_is_used<LSTMCell>();
  expect_activation_is_used<URLSTMCell>();
}

// What is left after a step of a state of one: u/(1+u) with u between 1 and T-1, another one for each unit.
template <class Cell>
void expect_slow_gates() {
  random::seed(4);
  Cell cell(2, 50, {.w_init = 0, .state_init = 1, .activation = "identity", .memory_steps = 100});
  init_all_states(cell);
  cell(zeros({2}));
  HiddenState kept = cell.h;
  if constexpr (requires { cell.c; }) kept = cell.c;
  EXPECT_GE(min(kept.value()).item(), 0.5);
  EXPECT_LE(max(kept.value()).item(), 0.99 + 1e-6);
  EXPECT_GT(max(kept.value()).item() - min(kept.value()).item(), 0.05);
  EXPECT_GT(mean(kept.value()).item(), 0.9);  // 0.5 without
}
TEST(CellGates, StartSlowForLongMemories) {
  expect_slow_gates<GRUCell>();
  expect_slow_gates<MGUCell>();
  expect_slow_gates<CFNCell>();
  expect_slow_gates<LSTMCell>();
  expect_slow_gates<MinimalRNNCell>();
  expect_slow_gates<MiniGRU>();
  expect_slow_gates<MiniLSTM>();
  const LSTMCell lstm(2, 5, {.memory_steps = 30});  // as much is written as is forgotten
  EXPECT_NEAR(max(abs(lstm.Wf.weight.leaf("bias") + 1 + lstm.Wi.weight.leaf("bias"))).item(), 0, 1e-6);
}
TEST(CellGates, SlowStartsThatCannotBe) {
  testing_support::expect_user_error([] { GRUCell(2, 3, {.memory_steps = 1}); }, {"from 2 to 1e9"});
  testing_support::expect_user_error([] { GRUCell(2, 3, {.memory_steps = std::nan("")}); }, {"from 2 to 1e9"});
  testing_support::expect_user_error([] { GRUCell(2, 3, {.b_init = no_bias, .memory_steps = 10}); }, {"no biases"});
  testing_support::expect_user_error([] { ValinaRNNCell(2, 3, {.memory_steps = 10}); }, {"no gate"});
}

TEST(LinearRecurrentUnit, SizesMustBePositive) {
  EXPECT_THROW(LRUCell(0, 2), UserError);
  EXPECT_THROW(LRUCell(2, -1), UserError);
}

// h = λ h + γ B x with λ = a e^{ib}, by complex numbers.
TEST(LinearRecurrentUnit, EqualsItsComplexForm) {
  random::seed(2);
  LRUCell cell(2, 1);
  init_all_states(cell);
  const auto number = [](const Tensor& t) { return at(t.array(), 0); };
  const auto row    = [](const Linear& l) {
    return std::pair(at(l.weight.leaf("weight").array(), 0), at(l.weight.leaf("weight").array(), 1));
  };
  const std::complex<double> lambda =
      std::polar(std::exp(-std::exp(number(cell.nu_log.value()))), std::exp(number(cell.theta_log.value())));
  const double gamma     = std::exp(number(cell.gamma_log.value()));
  const auto [br0, br1]  = row(cell.B_re);
  const auto [bi0, bi1]  = row(cell.B_im);
  std::complex<double> h = 0;
  for (const double x : {0.5, -1.0, 2.0}) {
    cell(Tensor(Array::of<float>({static_cast<float>(x), 1}, {2})));
    h = lambda * h + gamma * std::complex<double>(br0 * x + br1, bi0 * x + bi1);
    EXPECT_NEAR(number(cell.h_re.value()), h.real(), 1e-6);
    EXPECT_NEAR(number(cell.h_im.value()), h.imag(), 1e-6);
  }
  EXPECT_GT(std::abs(h), 1e-3);
}

}  // namespace

}  // namespace braintrace::nn
