// SPDX-License-Identifier: Apache-2.0
// A leaky integrator after any trainable operation, learned online, against the gradient of the unrolled program:
//
//   h_t = D_t h_{t-1} + op(x_t, w)        L = Σ_t ⟨c_t, h_t⟩        D_t differs by position
//
//   ε_t = D_t ε_{t-1} + ∂y_t/∂w           ∇ = Σ_t contract(c_t, ε_t)
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/etp/rules.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/linearize.h"
#include "braintrace/transforms/walk.h"

namespace braintrace {
namespace {

constexpr int    T     = 4;
constexpr double exact = 1e-11;  // the same sums in another order

struct Case {
  const Op* op;
  size_t    sample;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  Rng               rng(1);
  for (const Op* op : all_ops())
    if (op->etp)
      for (size_t i = 0; i < op->sample(*op, rng).size(); ++i) out.push_back({op, i});
  return out;
}

class Integrator : public testing::TestWithParam<Case> {
 protected:
  Rng       rng{7};
  const Op& op   = *GetParam().op;
  Sample    s    = op.sample(op, rng)[GetParam().sample];
  Types     in   = types_of(s.in);
  EtpCall   call = {&op, s.attrs, in, infer(op, in, s.attrs)[0]};
  Tensors   x_t, D_t, c_t;

  void SetUp() override {
    for (int t = 0; t < T; ++t) {
      if (op.etp->x >= 0) x_t.push_back(op.sample(op, rng)[GetParam().sample].in[op.etp->x]);
      D_t.emplace_back(random_array(rng, call.y));
      c_t.emplace_back(random_array(rng, call.y));
    }
  }
  Tensors at_step(Tensors operands, int t) const {
    if (op.etp->x >= 0) operands[op.etp->x] = x_t[t];
    return operands;
  }

  Array unrolled_gradient(int operand) const {
    const Traced loss = trace({in[operand]}, [&](const Tensors& w) -> Tensors {
      Tensors operands  = s.in;
      operands[operand] = w[0];
      Tensor h(call.y, 0), total;
      for (int t = 0; t < T; ++t) {
        h     = D_t[t] * h + apply1(op, at_step(operands, t), s.attrs);
        total = add_defined(total, sum(c_t[t] * h));
      }
      return {total};
    });
    Mask         active(loss.constants.size(), false);
    active.push_back(true);
    return vjp(loss.program, joined(loss.constants, {s.in[operand]}), active)
        .pullback({Tensor(Type{DType::F64, {}}, 1)})[0]
        .array();
  }

  // `keep_D` off forgets what earlier steps left in h: the negative control.
  Array online_gradient(int weight, bool keep_D = true) const {
    auto   states = [](const Tensor& t) { return expand_dims(t, -1); };
    Tensor eps, total;
    for (int t = 0; t < T; ++t) {
      const Tensors operands = at_step(s.in, t);
      const Tensor  now      = instant(call, weight, operands, Tensor(states(c_t[t]).type(), 1));
      eps                    = t > 0 && keep_D ? propagate(call, weight, states(states(D_t[t])), eps) + now : now;
      total                  = add_defined(total, contract(call, weight, operands, states(c_t[t]), eps));
    }
    return total.array();
  }
};

double difference(const Array& a, const Array& b) {
  EXPECT_EQ(a.type(), b.type());
  double d = 0, scale = 1;
  for (int64_t i = 0; i < b.size(); ++i) {
    d     = std::max(d, std::abs(at(a, i) - at(b, i)));
    scale = std::max(scale, std::abs(at(b, i)));
  }
  return d / scale;
}

TEST_P(Integrator, OnlineGradientIsTheUnrolledOne) {
  const auto weights = op.etp->weights(call);
  for (size_t k = 0; k < weights.size(); ++k) {
    const Array expected = unrolled_gradient(weights[k].operand);
    EXPECT_LT(difference(online_gradient(static_cast<int>(k)), expected), exact) << weights[k].key;
    EXPECT_GT(difference(online_gradient(static_cast<int>(k), false), expected), 1e-3) << "control " << weights[k].key;
  }
}

INSTANTIATE_TEST_SUITE_P(AllTrainable, Integrator, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.op->name) + "_" + std::to_string(info.param.sample);
});

}  // namespace
}  // namespace braintrace
