// SPDX-License-Identifier: Apache-2.0
// What the user functions accept beyond the recorded cases, and which errors they give.
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/embedding.h"
#include "braintrace/etp/grouped.h"
#include "braintrace/etp/lora.h"
#include "braintrace/etp/sparse.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/transforms/linearize.h"

namespace braintrace {
namespace {

Rng    rng(11);
Tensor random(Shape s, DType dtype = DType::F64) { return random_array(rng, {dtype, std::move(s)}); }

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(at(a.array(), i), at(b.array(), i), 1e-12);
}

template <class F>
void expect_refused(F f, std::initializer_list<const char*> phrases) {
  try {
    f();
    FAIL() << "accepted; expected a message with '" << *phrases.begin() << "'";
  } catch (const UserError& e) {
    for (const char* phrase : phrases) EXPECT_NE(std::string(e.what()).find(phrase), std::string::npos) << e.what();
  }
}

template <class F>
Tensor gradient(const Tensor& w, F f) {
  const Traced t  = trace({w.type()}, [&](const Tensors& in) -> Tensors { return {sum(f(in[0]))}; });
  Tensors      in = t.constants;
  in.push_back(w);
  Mask active(in.size(), false);
  active.back() = true;
  return vjp(t.program, in, active).pullback({Tensor(Type{w.dtype(), {}}, 1)})[0];
}

TEST(TrainableOperations, IntegerAndBoolInputsCountAsFloats) {
  const Tensor W = random({3, 2}), i = Array::of<int32_t>({1, 0, 2}, {3}), b = convert(i, DType::Bool);
  for (const Tensor& x : {i, b}) {
    expect_equal(matmul(x, W), matmul(convert(x, DType::F64), W));
    expect_equal(gradient(W, [&](const Tensor& w) { return matmul(x, w); }),
                 gradient(W, [&](const Tensor& w) { return matmul(convert(x, DType::F64), w); }));
  }
}

TEST(TrainableOperations, NoTransformIsTheSameProgram) {
  const Types types{{DType::F32, {3}}, {DType::F32, {3, 2}}};
  const auto  plain = trace(types, [](const Tensors& a) -> Tensors { return {matmul(a[0], a[1])}; }).program;
  const auto  none =
      trace(types, [](const Tensors& a) -> Tensors { return {matmul(a[0], a[1], {}, {.weight_fn = {}})}; }).program;
  EXPECT_TRUE(equal(plain, none));
}

TEST(TrainableOperations, TransformsAreAppliedToTheirOperand) {
  const Tensor   x = random({2, 3}), W = random({3, 2}), b = random({2});
  const WeightFn twice = [](const Tensor&w) { return w * 2.; }, square = [](const Tensor&w) { return w * w; };
  expect_equal(matmul(x, W, b, {.weight_fn = twice, .bias_fn = square}), matmul(x, W * 2., b * b));
  expect_equal(element_wise(W, {.fn = square}), W * W);
  expect_equal(element_wise(W, {.weight_fn = square}), W * W);
  expect_refused([&] { element_wise(W, {.weight_fn = square, .fn = square}); }, {"element_wise", "two names"});
  expect_refused([&] { matmul(x, W, {}, {.weight_fn = [](const Tensor& w) { return sum(w); }}); },
                 {"matmul: weight_fn turned f64[3,2] into f64[]", "keep the shape"});
}

TEST(TrainableOperations, SparsePatternsAgreeWithTheDenseProduct) {
  const SparsePattern c = coo(Array::of<int32_t>({2, 0, 0, 2}, {4}), Array::of<int32_t>({1, 0, 3, 1}, {4}), 3, 4);
  const SparsePattern r = csr(Array::of<int32_t>({0, 2, 2, 4}, {4}), Array::of<int32_t>({0, 3, 1, 1}, {4}), 3, 4);
  const Tensor        w = random({4}), x = random({2, 3}), b = random({4});
  expect_equal(sparse_matmul(x, w, c, b), matmul(x, to_dense(c, w), b));
  expect_equal(sparse_matmul(x, w, r, b), matmul(x, to_dense(r, w), b));
}

TEST(TrainableOperations, ElementWiseTraceFollowsTheGroup) {
  const Tensor  w = random({3});
  const Attrs   none;
  const EtpCall call{&element_wise_op, none, {w.type()}, {DType::F64, {2, 3}}};  // a batched group
  EXPECT_EQ(trace_shape(call, 0), (Shape{2, 3}));
  const Tensor c = random({2, 3});
  expect_equal(pull_back(call, 0, {w}, c), sum(c, Ints{0}));
  const EtpCall shared{&element_wise_op, none, {{DType::F64, {1, 3}}}, {DType::F64, {2, 3}}};
  expect_equal(pull_back(shared, 0, {random({1, 3})}, c), sum(c, Ints{0}, true));
}

TEST(TrainableOperations, EmbeddingTakesItsOneHotFormAsX) {
  const Tensor  W = random({4, 2}), i = Array::of<int32_t>({3, 0, 3}, {3}), c = random({3, 2});
  const Attrs   none;
  const EtpCall call{&embedding_op, none, {i.type(), W.type()}, c.type()};
  const Tensor  hot = embedding_op.etp->represent(call, i);
  EXPECT_EQ(hot.type(), (Type{DType::F64, {3, 4}}));
  expect_equal(matmul(hot, W), embedding(i, W));
  expect_equal(pull_back(call, 0, {hot, W}, c), pull_back(call, 0, {i, W}, c));
}

TEST(TrainableOperations, ConvTakesEveryLayout) {
  const Tensor x = random({2, 3, 5, 4}), K = random({6, 3, 3, 2});
  const Tensor y = conv(x, K);  // NCHW,OIHW->NCHW, SAME
  EXPECT_EQ(y.shape(), (Shape{2, 6, 5, 4}));
  expect_equal(transpose(conv(transpose(x, {0, 2, 3, 1}), transpose(K, {2, 3, 1, 0}), {}, {.layout = "NHWC,HWIO,NHWC"}),
                         {0, 3, 1, 2}),
               y);
  expect_equal(transpose(conv(transpose(x, {2, 1, 0, 3}), K, {}, {.layout = "HCNW,OIHW->WNCH"}), {1, 2, 3, 0}), y);
  const Tensor first = squeeze(slice_axis(x, 0, 0, 1), {0});
  expect_equal(conv(first, K), squeeze(slice_axis(y, 0, 0, 1), {0}));
}

TEST(TrainableOperations, ConvBiasOfEveryShape) {
  const Tensor x = random({2, 5, 2}), K = random({3, 2, 4});
  auto run       = [&](const Tensor& input, const Tensor& b) { return conv(input, K, b, {.layout = "NWC,WIO->NWC"}); };
  const Tensor y = run(x, {}), one = squeeze(slice_axis(x, 0, 0, 1), {0}), y1 = run(one, {});
  for (const Shape& s : std::vector<Shape>{{4}, {1, 1, 4}, {1, 4}, {5, 4}, {5, 1}, {2, 5, 4}, {}}) {
    const Tensor b = random(s);
    expect_equal(run(x, b), y + b);
    const Tensor g = gradient(b, [&](const Tensor& v) { return run(x, v); });
    EXPECT_EQ(g.shape(), s);
    const Attrs attrs = [&] {  // the rules give the gradient in the shape of the bias too
      const auto p = trace({b.type()}, [&](const Tensors& v) -> Tensors { return {run(x, v[0])}; }).program;
      for (const Eqn& e : p.eqns)
        if (e.op->etp) return e.attrs;
      return Attrs{};
    }();
    const EtpCall call{&etp_conv_op, attrs, {x.type(), K.type(), b.type()}, y.type()};
    expect_equal(pull_back(call, 1, {x, K, b}, Tensor(y.type(), 1)), g);
  }
  // Without a batch axis the bias of a layer still has one of size 1.
  const Tensor b = random({4});
  for (const Shape& s : std::vector<Shape>{{4}, {1, 4}, {1, 1, 4}}) expect_equal(run(one, reshape(b, s)), y1 + b);
}

TEST(TrainableOperations, RefusalsNameOperationShapesAndRemedy) {
  const Tensor x = random({3}), W = random({3, 2}), b = random({3});
  expect_refused([&] { matmul(random({2, 2, 3}), W); }, {"matmul: x has rank 3", "f64[2,2,3]", "einsum"});
  expect_refused([&] { matmul(x, random({4, 2})); }, {"matmul", "[3,O]", "f64[4,2]"});
  expect_refused([&] { matmul(x, W, b); }, {"matmul", "bias must be f64[2]", "f64[3]"});

  expect_refused([&] { grouped_matmul(random({2, 3}), W); }, {"grouped_matmul", "[G,K,N]", "f64[3,2]"});
  expect_refused([&] { grouped_matmul(x, random({2, 3, 2})); }, {"grouped_matmul: x has rank 1", "[B,G,K]"});
  expect_refused([&] { grouped_matmul(random({3, 3}), random({2, 3, 2})); }, {"ends in [3,3]", "2 groups of 3 inputs"});

  expect_refused([&] { lora_matmul(random({1, 1, 3}), W, W); }, {"lora_matmul: x has rank 3"});
  expect_refused([&] { lora_matmul(x, W, random({3, 4})); }, {"lora_matmul: B is f64[3,2]", "[2,O]", "f64[3,4]"});

  expect_refused([&] { embedding(x, W); }, {"embedding", "integers", "f64[3]"});
  expect_refused([&] { embedding(Array::of<int32_t>({0, 1}, {1, 2}), W); }, {"embedding", "i32[1,2]", "fold"});
  expect_refused([&] { embedding(Array::of<int32_t>({1}, {1}), x); }, {"embedding", "[V,D]", "f64[3]"});
  expect_refused([&] { embedding(Array::of<int32_t>({3}, {1}), W); }, {"3", "0"});
  expect_refused([&] { embedding(Array::of<int32_t>({-1}, {1}), W); }, {"-1"});

  const SparsePattern p = coo(Array::of<int32_t>({0, 2}, {2}), Array::of<int32_t>({1, 0}, {2}), 3, 2);
  expect_refused([&] { sparse_matmul(random({2, 2, 3}), random({2}), p); }, {"sparse_matmul: x has rank 3"});
  expect_refused([&] { sparse_matmul(x, random({3}), p); }, {"stores 2 entries", "f64[3]"});
  expect_refused([&] { sparse_matmul(random({4}), random({2}), p); }, {"3 by 2", "end in 3", "f64[4]"});
  expect_refused([&] { sparse_matmul(x, random({2}), {}); }, {"csr", "coo"});
}

TEST(TrainableOperations, EinsumRefusesWhatHasNoTrace) {
  const Tensor x = random({2, 3}), W = random({3, 4});
  auto         refuse = [&](const char* equation, std::initializer_list<const char*> phrases) {
    expect_refused([&] { einsum(equation, x, W); }, phrases);
  };
  refuse("bk,kn", {"no arrow"});
  refuse("bk->b", {"exactly two operands"});
  refuse("bk,kn,n->bn", {"exactly two operands"});
  refuse(",kn->bn", {"no letters for x"});
  refuse("...k,kn->bn", {"lower-case"});
  refuse("bK,Kn->bn", {"'K'", "lower-case"});
  refuse("bb,kn->bn", {"repeats 'b'"});
  refuse("kb,kn->bn", {"batch letter"});
  refuse("bk,bn->bn", {"batch letter"});
  refuse("bk,kn->bm", {"'m' in the result"});
  refuse("bk,kn->bk", {"'n' in the weight only"});
  refuse("btk,kn->btn", {"names 3 axes of x", "f64[2,3]"});
  expect_refused([&] { einsum("bk,kn->bn", x, random({2, 4})); }, {"axis 'k' has size 3", "f64[2,4]"});
  expect_equal(einsum(" b k, k n -> b n ", x, W), matmul(x, W));
}

TEST(TrainableOperations, ConvRefusals) {
  const Tensor x = random({2, 3, 5}), K = random({4, 3, 2});
  expect_refused([&] { conv(x, K, {}, {.layout = "NCHW"}); }, {"conv: layout 'NCHW'", "NHWC,HWIO->NHWC"});
  expect_refused([&] { conv(x, K, {}, {.layout = "NCW,OIH->NCW"}); }, {"conv: layout", "spatial"});
  expect_refused([&] { conv(random({5}), K); }, {"conv: x f64[5]", "without N"});
  expect_refused([&] { conv(random({2, 2, 5}), K); }, {"2 channels", "reads 3"});
  expect_refused([&] { conv(x, K, {}, {.stride = {1, 1}}); }, {"stride has 2 entries, expected 1"});
  expect_refused([&] { conv(x, K, {}, {.stride = {0}}); }, {"stride", "at least 1"});
  expect_refused([&] { conv(x, K, random({5})); }, {"bias f64[5]", "[4]"});
  expect_refused([&] { conv(x, K, random({4, 2})); }, {"bias f64[4,2]", "broadcasts"});
}

}  // namespace
}  // namespace braintrace
