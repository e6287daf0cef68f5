// SPDX-License-Identifier: Apache-2.0
// Operations made at run time from functions: the scaled product of docs/custom_operation.md once more, with its scale
// held by the functions.
#include "braintrace/etp/function_op.h"

#include <gtest/gtest.h>

#include "braintrace/algorithms/d_rtrl.h"
#include "braintrace/base/rng.h"
#include "braintrace/control/check_trainable.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/operands.h"
#include "braintrace/functions/functions.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/runtime/values.h"
#include "tests/support/error_of.h"

namespace braintrace {
namespace {

FunctionOp scaled(const std::string& name, double s) {
  FunctionOp op{.name = name, .doc = "trainable product s x W", .operands = "x weight"};
  op.expand = [s](const Tensors& in, const Attrs&) -> Tensors { return {dot(in[0], in[1]) * s}; };
  op.batch  = [](const BatchArgs& a) { return batch_over_x(a, 1); };
  op.sample = [](Rng& rng) -> std::vector<Sample> {
    auto r = [&](Shape shape) { return Tensor(random_array(rng, {DType::F64, std::move(shape)})); };
    return {{{r({3}), r({3, 2})}, {}}, {{r({4, 3}), r({3, 2})}, {}}};
  };
  op.trace = FunctionOp::Trace{
      .weights     = {{"weight", 1}},
      .coefficient = [s](const EtpCall&, int, const Tensors& in) { return expand_dims(in[0] * s, -1); },
      .spread      = [](const EtpCall& c, int, const Tensor& t) { return expand_dims(t, c.y.rank() - 1); },
      .fold        = [](const EtpCall& c, int, const Tensors&, const Tensor& t) { return sum_to(t, c.in[1].shape); }};
  return op;
}

const Op& twice() {
  static const Op& op = register_op(scaled("twice_matmul", 2));
  return op;
}

// h ← tanh(x·W + h·R), the second product by `product`
struct Net : Module {
  std::function<Tensor(const Tensor&, const Tensor&)> product;

  ParamState  W = state("W", ParamState(full({2, 3}, 0.1, DType::F64))), R;
  HiddenState h = state("h", HiddenState(full({3}, 0.5, DType::F64)));
  Net(std::function<Tensor(const Tensor&, const Tensor&)> p, double r)
      : product(std::move(p)), R(state("R", ParamState(full({3, 3}, r, DType::F64)))) {}
  Tensor update(const Tensor& x) override {
    h.set(tanh(matmul(x, W.value()) + product(h.value(), R.value())));
    return h.value();
  }
};

TEST(FunctionOp, KeepsTheLawsAndReadsBack) {
  EXPECT_NO_THROW(check_trainable(twice()));
  EXPECT_EQ(find_op("twice_matmul"), &twice());
  const Program p = trace({{DType::F64, {2}}, {DType::F64, {2, 3}}}, [](const Tensors& in) -> Tensors {
                      return {apply1(twice(), in)};
                    }).program;
  EXPECT_TRUE(equal(p, parse(print(p))));
}

TEST(FunctionOp, LearnsOnline) {
  Net    own([](const Tensor& x, const Tensor& w) { return apply1(twice(), {x, w}); }, 0.2);
  Net    plain([](const Tensor& x, const Tensor& w) { return matmul(x, w); }, 0.4);
  D_RTRL of_own(own), of_plain(plain);
  of_own.compile_graph(zeros({2}, DType::F64));
  of_plain.compile_graph(zeros({2}, DType::F64));
  ASSERT_EQ(of_own.graph().hidden_param_op_relations.size(), 2u);
  EXPECT_NE(of_own.show_graph().find("twice_matmul"), std::string::npos) << of_own.show_graph();
  const auto gradient = [](auto& learner, Net& net) {
    return grad([&](Tensor x) { return sum(square(learner(x))); }, net.params());
  };
  for (int step = 0; step < 3; ++step) {
    const Tensor x = full({2}, 1.0 - step, DType::F64);
    const auto   a = gradient(of_own, own)(x), b = gradient(of_plain, plain)(x);
    EXPECT_LT(max_difference(a.at(Path{"W"}, ""), b.at(Path{"W"}, "")), 1e-12);
    EXPECT_LT(max_difference(a.at(Path{"R"}, ""), 2.0 * b.at(Path{"R"}, "")), 1e-12);  // R = 0.4 is 2 · 0.2
  }
}

TEST(FunctionOp, NeedsNoTrace) {
  FunctionOp square_plus{.name = "square_plus"};
  square_plus.expand = [shift = 3.0](const Tensors& in, const Attrs&) -> Tensors { return {square(in[0]) + shift}; };
  const Op& op       = register_op(std::move(square_plus));
  EXPECT_EQ(grad([&](Tensor x) { return apply1(op, {x}); })(2.0).item(), 4);
}

TEST(FunctionOp, GivesItsNameToAnother) {
  const auto times = [](double factor) -> const Op& {
    FunctionOp op{.name = "times"};
    op.expand = [factor](const Tensors& in, const Attrs&) -> Tensors { return {factor * in[0]}; };
    return register_op(std::move(op));
  };
  const Op&    first = times(2);
  const auto   call  = jit([&](Tensor x) { return apply1(first, {x}); });
  const size_t count = all_ops().size();
  EXPECT_EQ(call(1.0).item(), 2);
  const Op& second = times(3);
  EXPECT_EQ(find_op("times"), &second);
  EXPECT_EQ(all_ops().size(), count);
  EXPECT_EQ(apply1(second, {Tensor(1.0)}).item(), 3);
  EXPECT_EQ(call(1.0).item(), 2) << "what was traced keeps the operation that it was traced with";
}

TEST(FunctionOp, IncompleteOnesAreExplained) {
  const auto error = [](const std::function<void(FunctionOp&)>& spoil) {
    FunctionOp op = scaled("incomplete", 1);
    spoil(op);
    return error_of([&] { register_op(op); });
  };
  const auto says = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(error([](FunctionOp& op) { op.name = "a b"; }), "cannot be the name");
  says(error([](FunctionOp& op) { op.expand = nullptr; }), "needs `expand`");
  says(error([](FunctionOp& op) { op.trace->fold = nullptr; }), "needs weights, coefficient, spread and fold");
  says(error([](FunctionOp& op) { op.trace->weights = {{"weight", 5}}; }), "is operand 5");
  says(error([](FunctionOp& op) { op.name = "matmul"; }), "exists already");
}

}  // namespace
}  // namespace braintrace
