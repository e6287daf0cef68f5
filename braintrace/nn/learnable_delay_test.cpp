// SPDX-License-Identifier: Apache-2.0
// Delays: what they give, the gradient of delays and of weights before them, online and through time.
#include "braintrace/nn/learnable_delay.h"

#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/functions/functions.h"
#include "braintrace/model/environment.h"
#include "braintrace/model/random_stream.h"
#include "braintrace/nn/integrators.h"
#include "braintrace/nn/linear.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "tests/support/error_of.h"
#include "tests/support/online.h"

namespace braintrace::nn {

namespace {

Tensor list(const std::vector<double>& v) { return Array::of<double>(v, {static_cast<int64_t>(v.size())}); }

TEST(LearnableDelay, GivesThePastBetweenSteps) {
  const Environment::Scope scope({.precision = DType::F64});
  LearnableDelay           layer(4, units::Time(3), {.delay = Initializer(list({0, 1, 1.5, 9})), .dt = 0.5});
  init_all_states(layer);
  const auto x = [](double t) { return t < 0 ? 0 : t * t + 1; };
  for (int t = 0; t < 12; ++t) {
    const Array y = layer(full({4}, x(t), DType::F64)).array();
    EXPECT_DOUBLE_EQ(at(y, 0), x(t));
    EXPECT_DOUBLE_EQ(at(y, 1), x(t - 2));
    EXPECT_DOUBLE_EQ(at(y, 2), x(t - 3));
    EXPECT_DOUBLE_EQ(at(y, 3), x(t - 6)) << "a delay beyond the longest stays there";
  }
  layer.delay.set(list({0.125, 0, 0, 0}));
  reset_all_states(layer);
  layer(full({4}, 2, DType::F64));
  EXPECT_DOUBLE_EQ(at(layer(full({4}, 6, DType::F64)).array(), 0), 0.75 * 6 + 0.25 * 2);
  EXPECT_NE(error_of([] { LearnableDelay(2, units::Time(-1), {.delay = {}, .dt = 1.0}); }).find("max"),
            std::string::npos);
}

struct Net : Module {
  Linear         in;
  LearnableDelay delay;
  LI             out;
  explicit Net(int64_t width)
      : in(3, 4),
        delay(4, units::Time(3), {.delay = Initializer(list({0.3, 1, 1.7, 2.6})), .dt = 1.0, .width = width}),
        out(4, {.dt = 1.0}) {
    children({{"in", in}, {"delay", delay}, {"out", out}});
  }
  Tensor update(const Tensor& x) override { return out(delay(in(x))); }
};

// Through time: the loss of all steps, differentiated at once.
Gradients through_time(Module& model, const Type& input, int steps) {
  return grad(
      [&] {
        Tensor total;
        for (int t = 0; t < steps; ++t) {
          const Tensor loss = sum(square(model(wave(input, t))));
          total             = total.defined() ? total + loss : loss;
        }
        return total;
      },
      model.params())();
}

// Position by position the states of delay and neuron depend on themselves alone, so that D-RTRL is exact: for the
// weight before the delay and for the delay.
TEST(LearnableDelay, OnlineGradientIsExactUnderDRtrl) {
  const Environment::Scope scope({.precision = DType::F64});
  for (const int64_t width : {1, 2}) {
    random::seed(1);
    Net        net(width);
    const Type input{DType::F64, {3}};
    init_all_states(net);
    const Gradients exact = through_time(net, input, 12);
    init_all_states(net);
    D_RTRL learner(net);
    learner.compile_graph(wave(input, 0));
    const Gradients online = online_gradient(learner, input, 12);
    EXPECT_LT(distance(online, exact), 1e-10) << "width " << width;
    EXPECT_GT(exact.squared_norm().item(), 0.01);
  }
}

TEST(LearnableDelay, GradientOfDelaysAgreesWithDifferences) {
  const Environment::Scope scope({.precision = DType::F64});
  random::seed(1);
  Net        net(1);
  const Type input{DType::F64, {3}};
  const auto loss = [&](const std::vector<double>& delays) {
    net.delay.delay.set(list(delays));
    init_all_states(net);
    double total = 0;
    for (int t = 0; t < 12; ++t) total += sum(square(net(wave(input, t)))).item();
    return total;
  };
  const std::vector<double> at_first = {0.3, 1.2, 1.7, 2.6};
  loss(at_first);
  init_all_states(net);
  const auto  grads  = through_time(net, input, 12);
  const Array online = grads["delay.delay"].array();
  for (size_t i = 0; i < 4; ++i) {
    auto up = at_first, down = at_first;
    up[i] += 1e-6, down[i] -= 1e-6;
    EXPECT_NEAR(at(online, static_cast<int64_t>(i)), (loss(up) - loss(down)) / 2e-6, 1e-4) << "unit " << i;
  }
}

}  // namespace

}  // namespace braintrace::nn
