// SPDX-License-Identifier: Apache-2.0
// vmap of trainable operations: over x they stay trainable at any depth; over weights they become plain operations with
// the same values (docs/trainable_operations.md).
#include <cmath>

#include <gtest/gtest.h>

#include "braintrace/base/rng.h"
#include "braintrace/etp/conv.h"
#include "braintrace/etp/dense.h"
#include "braintrace/etp/einsum.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/move.h"
#include "braintrace/transforms/vmap.h"

namespace braintrace {
namespace {

Tensor random(Rng& rng, Shape s) { return random_array(rng, {DType::F64, std::move(s)}); }

std::vector<std::string> primitives(const Program& p) {
  std::vector<std::string> out;
  for (const Eqn& e : p.eqns)
    if (e.op->etp) out.emplace_back(e.op->etp->primitive({e.op, e.attrs, p.types_of(e.in), p.type(e.out[0])}));
  return out;
}
using Names = std::vector<std::string>;

template <class F>
Program traced(const Tensors& in, F f) {
  return trace(types_of(in), [&](const Tensors& a) -> Tensors { return {f(a)}; }).program;
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(at(a.array(), i), at(b.array(), i), 1e-12);
}
Tensor part_of(const Tensor& t, int64_t i) { return squeeze(slice_axis(t, 0, i, i + 1), {0}); }

TEST(TrainableBatching, VectorBecomesBatchAndBatchesNest) {
  Rng           rng(1);
  const Tensor  W = random(rng, {3, 2}), b = random(rng, {2}), x = random(rng, {4, 5, 3});
  const Program one =
      traced({part_of(part_of(x, 0), 0), W, b}, [](const Tensors& a) { return matmul(a[0], a[1], a[2]); });
  EXPECT_EQ(primitives(one), Names{"etp_mv"});
  const Program some = vmap_program(one, {true, false, false}, 5);
  EXPECT_EQ(primitives(some), Names{"etp_mm"});
  const Program many = vmap_program(some, {true, false, false}, 4);
  EXPECT_EQ(primitives(many), Names{"etp_mm"});
  const Tensor y = replay(many, {}, {x, W, b})[0];
  for (int64_t i = 0; i < 4; ++i) expect_equal(part_of(y, i), matmul(part_of(x, i), W, b));
}

TEST(TrainableBatching, OverWeightsItIsPlainWithTheSameValues) {
  Rng           rng(2);
  const Tensor  W = random(rng, {4, 3, 2}), x = random(rng, {4, 3});
  const Program one  = traced({part_of(x, 0), part_of(W, 0)}, [](const Tensors& a) { return matmul(a[0], a[1]); });
  const Program both = vmap_program(one, {true, true}, 4), weights = vmap_program(one, {false, true}, 4);
  EXPECT_EQ(primitives(both), Names{});
  EXPECT_EQ(primitives(weights), Names{});
  const Tensor y = replay(both, {}, {x, W})[0], z = replay(weights, {}, {part_of(x, 0), W})[0];
  for (int64_t i = 0; i < 4; ++i) {
    expect_equal(part_of(y, i), matmul(part_of(x, i), part_of(W, i)));
    expect_equal(part_of(z, i), matmul(part_of(x, 0), part_of(W, i)));
  }
}

TEST(TrainableBatching, AParameterPerLaneStaysTrainable) {
  Rng           rng(3);
  const Program one = traced({random(rng, {3})}, [](const Tensors& a) { return element_wise(a[0]); });
  EXPECT_EQ(primitives(vmap_program(one, {true}, 4)), Names{"etp_elemwise"});
}

TEST(TrainableBatching, EinsumGainsASharedAxis) {
  Rng           rng(4);
  const Tensor  W = random(rng, {2, 4}), x = random(rng, {5, 2, 3, 2});
  const Program one  = traced({part_of(x, 0), W}, [](const Tensors& a) { return einsum("btk,kn->btn", a[0], a[1]); });
  const Program many = vmap_program(one, {true, false}, 5);
  EXPECT_EQ(primitives(many), Names{"etp_einsum"});
  const Tensor y = replay(many, {}, {x, W})[0];
  for (int64_t i = 0; i < 5; ++i) expect_equal(part_of(y, i), einsum("btk,kn->btn", part_of(x, i), W));
}

// The batch axis may be anywhere in the layout, and a bias of full rank stays in place.
TEST(TrainableBatching, ConvWithTheBatchAxisInTheMiddle) {
  Rng           rng(5);
  const Tensor  K = random(rng, {2, 2, 3}), b = random(rng, {5, 1, 3}), x = random(rng, {4, 5, 2, 2});
  const auto    f   = [](const Tensors& a) { return conv(a[0], a[1], a[2], {.layout = "WNC,WIO->WNC"}); };
  const Program one = traced({part_of(x, 0), K, b}, f), many = vmap_program(one, {true, false, false}, 4);
  EXPECT_EQ(primitives(many), Names{"etp_conv"});
  const Tensor y = replay(many, {}, {x, K, b})[0];
  for (int64_t i = 0; i < 4; ++i) expect_equal(part_of(y, i), f({part_of(x, i), K, b}));

  const Tensor  x1 = random(rng, {4, 5, 2}), b1 = random(rng, {5, 3});
  const Program single = traced({part_of(x1, 0), K, b1}, f), lanes = vmap_program(single, {true, false, false}, 4);
  EXPECT_EQ(primitives(lanes), Names{"etp_conv"});
  const Tensor y1 = replay(lanes, {}, {x1, K, b1})[0];
  for (int64_t i = 0; i < 4; ++i) expect_equal(part_of(y1, i), f({part_of(x1, i), K, b1}));
}

// A bias per sample cannot be merged with a mapped axis: plain operations with the same values.
TEST(TrainableBatching, ConvWithABiasPerSampleIsPlain) {
  Rng           rng(6);
  const Tensor  K = random(rng, {3, 2, 2}), b = random(rng, {2, 3, 4}), x = random(rng, {3, 2, 2, 4});
  const auto    f    = [](const Tensors& a) { return conv(a[0], a[1], a[2]); };
  const Program many = vmap_program(traced({part_of(x, 0), K, b}, f), {true, false, false}, 3);
  EXPECT_EQ(primitives(many), Names{});
  const Tensor y = replay(many, {}, {x, K, b})[0];
  for (int64_t i = 0; i < 3; ++i) expect_equal(part_of(y, i), f({part_of(x, i), K, b}));
}

}  // namespace
}  // namespace braintrace
