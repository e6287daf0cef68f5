// SPDX-License-Identifier: Apache-2.0
// The transforms on lists of tensors, as bindings of other languages call them, with structure that C++ types cannot
// express.
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

// (a, b) → (a·b, a + b)
Tensors       product_and_sum(const Tensors& in) { return {in[0] * in[1], in[0] + in[1]}; }
const Tensors two_and_three = {tensor({2.0, 2.0}), tensor({3.0, 3.0})};

TEST(Flat, JitTracesOncePerSignatureAndKeepsTheStructureOfTheResult) {
  const auto cache = flat::make_jit_cache();
  const auto call  = [&](std::string signature, const std::string& structure) {
    return flat::call_jitted(*cache, std::move(signature), two_and_three, product_and_sum,
                              [&] { return std::make_shared<const std::string>(structure); });
  };
  const auto structure_of = [](const flat::JitResult& r) { return *static_cast<const std::string*>(r.like.get()); };
  EXPECT_EQ(structure_of(call("static=1", "{'a': 0, 'b': 1}")), "{'a': 0, 'b': 1}");
  const auto again = call("static=1", "not asked");
  EXPECT_EQ(structure_of(again), "{'a': 0, 'b': 1}");
  expect_close(again.out.at(0), tensor({6.0, 6.0}), 0);
  EXPECT_EQ(flat::num_traces(*cache), 1);
  EXPECT_EQ(structure_of(call("static=2", "(0, 1)")), "(0, 1)");
  EXPECT_EQ(flat::num_traces(*cache), 2);
}

TEST(Flat, JitCarriesStates) {
  Rnn        model(2, 3), same(2, 3);
  const auto cache = flat::make_jit_cache();
  const auto like  = [] { return std::shared_ptr<const void>(); };
  for (int step = 0; step < 3; ++step) {
    const Tensors x = {wave({2}, 0.1 * step)};
    const auto    r = flat::call_jitted(
           *cache, "", x, [&](const Tensors& in) { return model.call(in); }, like);
    expect_close(r.out.at(0), same(x[0]));
  }
  EXPECT_EQ(flat::num_traces(*cache), 1);
}

TEST(Flat, DifferentiateGivesWhatWasAskedFor) {
  Rnn        model(2, 3);
  const auto loss   = [&](const Tensors& in) -> Tensors { return {sum(square(model(in[0]) * in[1])), in[0]}; };
  const auto before = model.h.value();
  const auto r      = flat::differentiate("bound.grad", loss, {wave({2}), wave({3})}, {false, true}, model.params());
  model.h.set(before);
  EXPECT_FALSE(r.grads.at(0).defined());
  const auto [of_states, of_argument] =
      grad<1>([&](Tensor x, Tensor y) { return sum(square(model(x) * y)); }, model.params())(wave({2}), wave({3}));
  expect_close(r.grads.at(1), of_argument);
  expect_close(r.states.at(Path{"W"}, ""), of_states.at(Path{"W"}, ""));
  expect_close(r.out.at(1), wave({2}), 0);
  const std::string error = error_of(
      [&] { flat::differentiate("bound.grad", [](const Tensors& in) { return in; }, {wave({2})}, {true}, {}); });
  EXPECT_NE(error.find("bound.grad: the function must return a floating-point scalar"), std::string::npos) << error;
}

TEST(Flat, MappedArgumentsMayBeSeveralTensors) {
  const Tensors args = {wave({4, 2}), wave({4, 2}), wave({2})};  // the first two are one argument
  const Tensors out  = flat::call_mapped([](const Tensors& in) -> Tensors { return {in[0] * in[1] + in[2]}; }, args,
                                        {0, 0, 1}, 2, {.in_axes = {0, {}}, .out_axis = 1});
  EXPECT_EQ(out.at(0).shape(), Shape({2, 4}));
  expect_close(transpose(out[0], {1, 0}), args[0] * args[1] + args[2]);
}

TEST(Flat, LoopsAndBranches) {
  const auto step = [](const Tensors& in) -> Tensors { return {in[0] + in[1], in[0] * in[1]}; };
  const auto r    = flat::run_scan("bound.scan", step, {tensor({0.0, 0.0})}, {ones({3, 2}, DType::F64)}, {});
  expect_close(r.carry.at(0), tensor({3.0, 3.0}), 0);
  expect_close(r.ys.at(0), tensor({0.0, 0.0, 1.0, 1.0, 2.0, 2.0}, {3, 2}), 0);
  EXPECT_NE(error_of([&] { flat::run_scan("bound.scan", step, {}, {tensor({1.0})[0]}, {}); }).find("bound.scan: "),
            std::string::npos);
  for (const bool yes : {true, false})
    expect_close(flat::run_cond(
                     Tensor(Type{DType::Bool, {}}, yes), [](const Tensors& in) -> Tensors { return {in[0]}; },
                     [](const Tensors& in) -> Tensors { return {in[1]}; }, two_and_three)
                     .at(0),
                 two_and_three[yes ? 0 : 1], 0);
  expect_close(flat::run_while([](const Tensors& in) -> Tensors { return {less(in[0], 10.0)}; },
                               [](const Tensors& in) -> Tensors {
                                 return {in[0] * in[1], in[1]};
                               },
                               {tensor({1.0})[0], tensor({2.0})[0]}, {})
                   .at(0),
               tensor({16.0})[0], 0);
}

TEST(Flat, Derivatives) {
  const Tensors along = {tensor({1.0, 0.0}), tensor({0.0, 1.0})};
  const auto    push  = flat::push_forward(product_and_sum, two_and_three, along);
  expect_close(push.tangents.at(0), tensor({3.0, 2.0}), 0);
  expect_close(push.tangents.at(1), tensor({1.0, 1.0}), 0);
  const auto pull = flat::pull_back(product_and_sum, two_and_three);
  expect_close(pull.out.at(0), tensor({6.0, 6.0}), 0);
  expect_close(pull.pullback({tensor({1.0, 0.0}), tensor({0.0, 1.0})}).at(0), tensor({3.0, 1.0}), 0);
  for (const auto mode : {flat::JacobianMode::Forward, flat::JacobianMode::Reverse}) {
    const auto blocks = flat::jacobian(mode, product_and_sum, two_and_three, {false, true});
    ASSERT_EQ(blocks.size(), 2u);
    ASSERT_EQ(blocks[0].size(), 1u);
    expect_close(blocks[0][0], tensor({2.0, 0.0, 0.0, 2.0}, {2, 2}), 0);
  }
}

}  // namespace
}  // namespace braintrace
