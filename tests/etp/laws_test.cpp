// SPDX-License-Identifier: Apache-2.0
// Every trainable operation in the registry obeys the law of its rules; broken rules are detected.
#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/control/check_trainable.h"
#include "braintrace/etp/factored.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/families.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"

namespace braintrace {
namespace {

constexpr double exact = 1e-11;  // the same sums in another order

std::vector<const Op*> trainable_ops() {
  std::vector<const Op*> out;
  for (const Op* op : all_ops())
    if (op->etp) out.push_back(op);
  return out;
}

class TrainableLaw : public testing::TestWithParam<const Op*> {};

TEST_P(TrainableLaw, RulesAreTheVjp) {
  for (uint64_t seed : {1, 2, 3}) {
    const TrainableErrors e = measure_trainable(*GetParam(), seed);
    EXPECT_LT(e.pull_back, exact);
    EXPECT_LT(e.contract, exact);
    EXPECT_LT(e.propagate, exact);
    EXPECT_LT(e.batched, exact);
  }
  EXPECT_NO_THROW(check_trainable(*GetParam()));
}

// With one diagonal D per position, every trace entry is scaled by the D of its own output position.
TEST_P(TrainableLaw, PropagateActsPerPosition) {
  Rng rng(5);
  for (const Sample& s : GetParam()->sample(*GetParam(), rng)) {
    const Types   in = types_of(s.in);
    const EtpCall call{GetParam(), s.attrs, in, infer(*GetParam(), in, s.attrs)[0]};
    const auto    weights = GetParam()->etp->weights(call);
    for (int k = 0; k < static_cast<int>(weights.size()); ++k) {
      Type d_type = call.y, eps_type{DType::F64, trace_shape(call, k)};
      d_type.shape.push_back(2);
      eps_type.shape.push_back(2);
      const Tensor d = random_array(rng, d_type), eps = random_array(rng, eps_type);
      const Tensor eye      = Array::of<double>({1, 0, 0, 1}, {2, 2});
      const Array  got      = propagate(call, k, expand_dims(d, -1) * eye, eps).array();
      const Array  expected = (GetParam()->etp->spread(call, k, d) * eps).array();
      ASSERT_EQ(got.type(), expected.type());
      for (int64_t i = 0; i < got.size(); ++i) EXPECT_NEAR(at(got, i), at(expected, i), exact);
    }
  }
}

// Several steps at once: what their instantaneous terms sum to.
TEST_P(TrainableLaw, StepsSumAsOneProduct) {
  Rng          rng(6);
  const size_t n = GetParam()->sample(*GetParam(), rng).size();
  for (size_t i = 0; i < n; ++i) {
    const Sample  s  = GetParam()->sample(*GetParam(), rng)[i];
    const Types   in = types_of(s.in);
    const EtpCall call{GetParam(), s.attrs, in, infer(*GetParam(), in, s.attrs)[0]};
    for (int k = 0; k < static_cast<int>(GetParam()->etp->weights(call).size()); ++k) {
      Type   d_type = call.y, eps_type{DType::F64, trace_shape(call, k)};
      Tensor want;
      d_type.shape.push_back(2);
      eps_type.shape.push_back(2);
      Tensors coefficients, tails;
      for (int t = 0; t < 3; ++t) {
        Tensors operands = s.in;
        if (const int x = GetParam()->etp->x; x >= 0) operands[x] = GetParam()->sample(*GetParam(), rng)[i].in[x];
        tails.emplace_back(random_array(rng, d_type));
        coefficients.push_back(GetParam()->etp->coefficient(call, k, operands));
        want = add_defined(want, broadcast_to(instant(call, k, operands, tails.back()), eps_type.shape));
      }
      EXPECT_EQ(coefficients[0].shape(), coefficient_shape(call, k));
      const Tensor got = broadcast_to(instants(call, k, stack(coefficients, 0), stack(tails, -1)), eps_type.shape);
      EXPECT_LT(max(abs(got - want)).item(), exact);
      EXPECT_GT(max(abs(want)).item(), 0.1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTrainable, TrainableLaw, testing::ValuesIn(trainable_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

// Negative controls: y = 2 x W with one rule wrong at a time.
constexpr EtpRules doubled = {
    .primitive = [](const EtpCall&) -> std::string_view { return "doubled"; },
    .weights =
        [](const EtpCall&) {
          return std::vector<EtpWeight>{{"weight", 1}};
        },
    .coefficient = [](const EtpCall&, int, const Tensors& in) -> Tensor { return expand_dims(in[0] * 2., -1); },
    .spread      = [](const EtpCall& c, int, const Tensor& t) -> Tensor { return expand_dims(t, c.y.rank() - 1); },
    .fold        = [](const EtpCall& c, int, const Tensors&, const Tensor& t) -> Tensor {
      return c.y.rank() == 2 ? sum(t, Ints{0}) : t;
    },
};

consteval Op doubled_matmul(std::string_view name, const EtpRules* rules) {
  return composite({
      .name     = name,
      .doc      = "2 x W",
      .operands = "x weight",
      .expand   = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {dot(in[0], in[1]) * 2.}; },
      .batch    = [](const BatchArgs& a) -> Tensors { return a.batched[1] ? Tensors{} : apply(a.op, a.in, a.attrs); },
      .sample   = [](const Op&, Rng& rng) -> std::vector<Sample> {
        return {{{random_array(rng, {DType::F64, {3}}), random_array(rng, {DType::F64, {3, 2}})}, {}}};
      },
      .etp = rules,
  });
}

template <class Change>
consteval EtpRules changed(Change change) {
  EtpRules r = doubled;
  change(r);
  return r;
}

TEST(TrainableLawControl, TheUnchangedRulesPass) {
  static constinit const Op good = doubled_matmul("good_doubled", &doubled);
  EXPECT_LT(measure_trainable(good).largest(), exact);
}

TEST(TrainableLawControl, WrongCoefficientIsSeen) {
  static constexpr EtpRules r   = changed([](EtpRules& e) {
    e.coefficient = [](const EtpCall&, int, const Tensors& in) -> Tensor { return expand_dims(in[0], -1); };
  });
  static constinit const Op bad = doubled_matmul("bad_coefficient", &r);
  EXPECT_GT(measure_trainable(bad).pull_back, 1e-2);
  EXPECT_THROW(check_trainable(bad), UserError);
}

// The factor of the operation moved into spread passes the single-step law and fails as soon as D acts.
TEST(TrainableLawControl, FactorInSpreadIsSeen) {
  static constexpr EtpRules r   = changed([](EtpRules& e) {
    e.coefficient = [](const EtpCall&, int, const Tensors& in) -> Tensor { return expand_dims(in[0], -1); };
    e.spread = [](const EtpCall& c, int, const Tensor& t) -> Tensor { return expand_dims(t * 2., c.y.rank() - 1); };
  });
  static constinit const Op bad = doubled_matmul("bad_spread", &r);
  const TrainableErrors     e   = measure_trainable(bad);
  EXPECT_LT(e.pull_back, exact);
  EXPECT_GT(e.propagate, 1e-2);
  EXPECT_THROW(check_trainable(bad), UserError);
}

TEST(TrainableLawControl, WrongFoldIsSeen) {
  static constexpr EtpRules r   = changed([](EtpRules& e) {
    e.fold = [](const EtpCall& c, int, const Tensors&, const Tensor& t) -> Tensor {
      return c.y.rank() == 2 ? sum(t, Ints{0}) * .5 : t;
    };
  });
  static constinit const Op bad = doubled_matmul("bad_fold", &r);
  EXPECT_LT(measure_trainable(bad).pull_back, exact);
  EXPECT_GT(measure_trainable(bad).batched, 1e-2);
}

TEST(TrainableLawControl, AnIncompleteRecordIsNamed) {
  static constexpr EtpRules r   = changed([](EtpRules& e) { e.fold = nullptr; });
  static constinit const Op bad = doubled_matmul("no_fold", &r);
  try {
    check_trainable(bad);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("'no_fold' needs"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace braintrace
