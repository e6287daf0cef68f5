// SPDX-License-Identifier: Apache-2.0
// A user's check of a model: correct models pass, wrong ones are detected and named, and the report says what finite
// differences cannot show.
#include "braintrace/fidelity/check_grad.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "braintrace/control/custom.h"
#include "braintrace/etp/dense.h"
#include "braintrace/fidelity/finite_difference.h"
#include "braintrace/ops/activation.h"
#include "braintrace/ops/contract.h"
#include "tests/algorithms/support.h"
#include "tests/support/error_of.h"

namespace braintrace {

namespace {

const ParameterCheck& found(const GradCheck& check, const std::string& name) {
  for (const ParameterCheck& p : check.parameters)
    if (p.name == name) return p;
  throw UserError("no such parameter: " + name);
}
GradCheck checked(const json& description, const CheckGradOptions& options = {}, int64_t steps = 4) {
  auto model = make_model(description);
  return check_grad(*model, Type{DType::F64, {2}}, steps, options);
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CheckGrad, ARightModelPasses) {
  const GradCheck check = checked(chain({layer("gru", 2, 3), linear(3, 2)}));
  EXPECT_TRUE(check.passed()) << check.text();
  EXPECT_EQ(check.parameters.size(), 8u);
  EXPECT_TRUE(check.left_out.empty());
  for (const ParameterCheck& p : check.parameters) {
    EXPECT_GE(p.finite_differences->digits, 8) << p.name;
    EXPECT_GE(p.rtrl->digits, 10) << p.name;
    EXPECT_GT(p.norm, 0);
  }
  // The rule is close for what it traces, and the report says why it is not exact.
  const Agreement& windowed = found(check, "a.Wr.weight.weight").rules[0];
  EXPECT_FALSE(windowed.holds);
  EXPECT_FALSE(windowed.must_hold);
  EXPECT_TRUE(contains(windowed.words, "learns in windows")) << windowed.words;
  EXPECT_TRUE(contains(found(check, "a.Wh.weight.weight").rules[0].words, "approximation"));
  EXPECT_GE(found(check, "out.weight.weight").rules[0].digits, 10);
  EXPECT_TRUE(contains(check.text(), "passed"));
}

// h ← tanh(x W + f(h R)): a plain product, and an arbitrary function of it.
struct Cell : Module {
  ParamState  w, r;
  HiddenState h;
  Function    f;
  bool        plain;
  Cell(Function fn, bool is_plain = false)
      : w(state("w", ParamState(normal({DType::F64, {2, 3}}, 1)))),
        r(state("r", ParamState(normal({DType::F64, {3, 3}}, 2)))),
        h(state("h", HiddenState(normal({DType::F64, {3}}, 3)))),
        f(std::move(fn)),
        plain(is_plain) {}
  Tensor update(const Tensor& x) override {
    const Tensor back = plain ? dot(h.value(), r.value()) : matmul(h.value(), r.value());
    h.set(tanh(matmul(x, w.value()) + f({back})[0]));
    return h.value();
  }
};
GradCheck checked(Cell& cell, const CheckGradOptions& options = {}) {
  return check_grad(cell, {DType::F64, {2}}, 3, options);
}

// Negative control: d(x²) = 2x dx, and this rule omits the two.
TEST(CheckGrad, AWrongDerivativeIsCaught) {
  const auto squared = [](double factor) {
    return custom_jvp([](const Tensors& x) { return Tensors{square(x[0])}; },
                      [=](const Tensors& x, const Tensors& dx) { return Tensors{factor * x[0] * dx[0]}; });
  };
  Cell right(squared(2)), wrong(squared(1));
  EXPECT_TRUE(checked(right).passed()) << checked(right).text();
  const GradCheck check = checked(wrong);
  EXPECT_FALSE(check.passed());
  for (const char* name : {"r", "w"}) {
    const Agreement& a = *found(check, name).finite_differences;
    EXPECT_FALSE(a.holds);
    EXPECT_TRUE(contains(a.words, "% off") && contains(a.words, "custom_jvp")) << a.words;
    EXPECT_TRUE(found(check, name).rtrl->holds);  // it uses the same wrong derivative
  }
  EXPECT_TRUE(contains(check.text(), "FAILS") && contains(check.text(), "failed: 2 of 2 parameters"));
  EXPECT_FALSE(json::parse(check.json())["passed"]);
}

TEST(CheckGrad, APlainWeightIsNamed) {
  Cell            cell([](const Tensors& x) { return x; }, true);
  const GradCheck check = checked(cell);
  EXPECT_TRUE(check.passed());
  EXPECT_TRUE(contains(found(check, "r").rules[0].words, "plain weight")) << check.text();
}

// Surrogates are not derivatives of spikes, and finite differences do not hold stopped values constant.
TEST(CheckGrad, SaysWhereDifferencesMeanNothing) {
  Environment::Scope time({.dt = 1.0});
  const GradCheck    spiking = checked(chain({layer("snn_delta", 2, 3), linear(3, 2)}));
  EXPECT_TRUE(spiking.passed());
  const ParameterCheck& behind = found(spiking, "out.weight.weight");
  EXPECT_TRUE(behind.finite_differences && behind.finite_differences->holds);  // the readout sees numbers
  int on_the_way = 0;
  for (const ParameterCheck& p : spiking.parameters) {
    EXPECT_TRUE(p.rtrl->holds) << p.name;
    if (!p.finite_differences) on_the_way += contains(p.why_no_differences, "surrogate");
  }
  EXPECT_GT(on_the_way, 0) << spiking.text();

  Cell holding([](const Tensors& x) { return Tensors{x[0] * stop_gradient(x[0])}; });
  EXPECT_TRUE(contains(found(checked(holding), "r").why_no_differences, "stop_gradient"));
}

TEST(CheckGrad, TakesAModelInSinglePrecisionAndLeavesItAlone) {
  Environment::Scope narrow({.precision = DType::F32});
  auto               model = make_model(chain({layer("mini_gru", 2, 3), linear(3, 1)}));
  (*model)(zeros({2}, DType::F32));
  std::vector<Array> before;
  for (const auto& [path, state] : model->states())
    for (const std::string& leaf : state.leaf_names()) before.push_back(state.leaf(leaf).array());
  const Tensor    xs    = convert(normal({DType::F64, {3, 2}}, 5), DType::F32);
  const GradCheck check = check_grad(
      *model, [](const Tensor& y, int64_t t) { return static_cast<double>(t) * sum(square(y)); }, xs);
  EXPECT_TRUE(check.passed()) << check.text();
  for (const ParameterCheck& p : check.parameters) EXPECT_GE(p.finite_differences->digits, 8) << p.name;
  size_t i = 0;
  for (const auto& [path, state] : model->states())
    for (const std::string& leaf : state.leaf_names())
      EXPECT_TRUE(identical(before[i++], state.leaf(leaf).array())) << path.str();

  // A step that rounds to f32 inside is compared with the precision of f32.
  Cell rounding([](const Tensors& x) { return Tensors{convert(convert(x[0], DType::F32), DType::F64)}; });
  EXPECT_TRUE(contains(found(checked(rounding), "r").finite_differences->words, "f32")) << checked(rounding).text();
}

TEST(CheckGrad, SlopesOfHardFunctions) {
  const auto slope = [](auto f) { return slope_at_zero(f, 0.02, 0).value; };
  EXPECT_NEAR(slope([](double x) { return std::exp(3 * x); }), 3, 1e-11);
  EXPECT_NEAR(slope([](double x) { return std::max(x - 1e-4, 0.0) + 2 * x; }), 2, 1e-8);  // a kink nearby
  EXPECT_NEAR(slope([](double x) { return 1e6 + x; }), 1, 1e-6);
}

TEST(CheckGrad, BadInput) {
  Cell       cell([](const Tensors& x) { return x; });
  const auto error = [&](const StepLoss& loss, const Tensor& xs, const CheckGradOptions& o = {}) {
    return error_of([&] { check_grad(cell, loss, xs, o); });
  };
  const Tensor xs   = zeros({3, 2}, DType::F64);
  const auto   fine = [](const Tensor& y, int64_t) { return sum(y); };
  EXPECT_TRUE(contains(error([](const Tensor& y, int64_t) { return y; }, xs), "scalar, got f64[3]"));
  EXPECT_TRUE(contains(error(fine, zeros({0, 2}, DType::F64)), "at least one step"));
  EXPECT_TRUE(contains(error(fine, xs, {.digits = 20}), "from 1 to 12"));
  EXPECT_TRUE(contains(error(fine, xs, {.rules = {"d_rtlr"}}), "did you mean 'D_RTRL'"));
  const GradCheck small = check_grad(cell, fine, xs, {.rules = {"dni"}, .memory_limit = 8});
  EXPECT_EQ(small.left_out.size(), 2u);
  EXPECT_FALSE(small.parameters[0].rtrl);
}

}  // namespace

}  // namespace braintrace
