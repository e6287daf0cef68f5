// SPDX-License-Identifier: Apache-2.0
// Mistakes are errors with a message, and leave every state unchanged.
#include "braintrace/control/scan.h"
#include "tests/functions/support.h"

namespace braintrace {
namespace {

using namespace testing_support;

struct Oops : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(Misuse, AThrowingFunctionLeavesStatesUntouched) {
  Rnn         model(2, 3);
  const Array before = model.h.value().array();
  const auto  bad    = [&](const Tensor& x) -> Tensor {
    model(x);
    throw Oops("on purpose");
  };
  const Tensor x = wave({2}), batch = wave({4, 2});
  EXPECT_THROW(jit(bad)(x), Oops);
  EXPECT_THROW(grad(bad, model.params())(x), Oops);
  EXPECT_THROW(grad(bad)(x), Oops);
  EXPECT_THROW(vmap(bad)(batch), Oops);
  EXPECT_THROW(jvp(bad, x, x), Oops);
  EXPECT_THROW(vjp(bad, x), Oops);
  EXPECT_THROW(jacrev(bad)(x), Oops);
  EXPECT_THROW(for_loop(bad, batch), Oops);
  EXPECT_THROW(cond(Tensor(Type{DType::Bool, {}}, 1), bad, bad, x), Oops);
  EXPECT_THROW(while_loop([](const Tensor& v) { return less(sum(v), 1.0); }, bad, x), Oops);
  EXPECT_TRUE(identical(model.h.value().array(), before));
  EXPECT_EQ(StateFrame::current(), nullptr);
  model(x);  // and everything still works
  EXPECT_FALSE(identical(model.h.value().array(), before));
}

TEST(Misuse, AFailureAfterTheTraceLeavesStatesUntouched) {
  Rnn         model(2, 3);
  const Array before = model.h.value().array();
  EXPECT_THROW(grad([&](const Tensor& x) { return model(x); })(wave({2})), UserError);  // not a scalar
  EXPECT_TRUE(identical(model.h.value().array(), before));
}

TEST(Misuse, ATensorOutsideItsTrace) {
  Tensor kept;
  auto   f = jit([&](const Tensor& x) { return kept = x * 2.0; });
  f(tensor({1.0}));
  EXPECT_TRUE(mentions(error_of([&] { kept + kept; }), {"f64[1]", "already ended"}));
  EXPECT_TRUE(
      mentions(error_of([&] { jit([&](const Tensor& x) { return x + kept; })(tensor({1.0})); }), {"already ended"}));
  EXPECT_TRUE(mentions(error_of([&] { f(kept); }), {"already ended"}));
  auto thrower = [&](const Tensor& x) -> Tensor {
    kept = x * 3.0;
    throw Oops("on purpose");
  };
  EXPECT_THROW(jit(thrower)(tensor({1.0})), Oops);
  EXPECT_TRUE(mentions(error_of([&] { kept + kept; }), {"already ended"}));
}

TEST(Misuse, ReadingElementsOfATracedTensor) {
  auto f = jit([](const Tensor& x) { return x.item() > 0 ? x : x * 2.0; });
  EXPECT_TRUE(mentions(error_of([&] { f(tensor({1.0})); }), {"traced", "no elements"}));
}

TEST(Misuse, ATracedTensorInAStateOutsideAFrame) {
  ShortTermState s(tensor({1.0}));
  auto           builder = Builder::open();
  const Tensor   x       = builder->argument({DType::F64, {1}});
  EXPECT_TRUE(mentions(error_of([&] { s.set(x); }), {"being traced", "jit"}));
  EXPECT_EQ(s.value().item(), 1);
}

TEST(Misuse, WritingAStateInsideAPureLoop) {
  ShortTermState s(tensor({0.0}, {}));
  auto           pure = [&](const Tensor& x) {
    const ScanBody body = [&](const Tensors& c, const Tensors& in) -> ScanResult {
      s.set(in[0]);
      return {{c[0] + in[0]}, {}};
    };
    return scan(body, Tensors{sum(x)}, Tensors{x}).carry[0];
  };
  EXPECT_TRUE(mentions(error_of([&] { jit(pure)(tensor({1.0, 2.0})); }), {"must not write states", "for_loop"}));
  EXPECT_TRUE(mentions(error_of([&] { pure(tensor({1.0, 2.0})); }), {"traced"}));
  EXPECT_EQ(s.value().item(), 0);
}

TEST(Misuse, AStateReadBeforeInitIsNamedInsideTraces) {
  struct Fresh : Module {
    HiddenState h{State::Init([](BatchSize) { return Leaves{{"", zeros({1})}}; })};
    Fresh() { state("h", h); }
    Tensor update(const Tensor& x) override { return x + h.value(); }
  };
  struct Net : Module {
    Fresh cell;
    Net() { children({{"cell", cell}}); }
    Tensor update(const Tensor& x) override { return cell(x); }
  };
  Net net;
  EXPECT_TRUE(mentions(error_of([&] { jit([&](const Tensor& x) { return net(x); })(tensor({1.0f})); }),
                       {"'cell.h'", "HiddenState", "init_all_states"}));
  // Inside the trace, initialization works, and the value is available outside.
  auto f = jit([&](const Tensor& x) {
    init_all_states(net);
    return net(x);
  });
  EXPECT_EQ(f(tensor({1.0f})).item(), 1);
  EXPECT_TRUE(net.cell.h.initialized());
}

TEST(Misuse, ShapeErrorsInsideTracesNameTheOp) {
  auto f = jit([](const Tensor& x) { return dot(x, wave({3, 3})); });
  EXPECT_TRUE(mentions(error_of([&] { f(wave({2})); }), {"dot", "2", "3"}));
}

}  // namespace
}  // namespace braintrace
