// SPDX-License-Identifier: Apache-2.0
// y = W[x]     x : [(B)] integer   W : [V,D]   y : [(B),D]   D_f : [(B),D,S]
//
//   ε_W : [(B),V,D,S]   ∂y_d/∂W_vd = [x = v]
//
// Methods that filter x filter this one-hot form, because indices cannot be averaged.
#include "braintrace/etp/embedding.h"

#include "braintrace/base/rng.h"
#include "braintrace/ops/compare.h"
#include "braintrace/ops/index.h"
#include "braintrace/ops/index_walk.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"

namespace braintrace {

namespace {

Types embedding_infer(const Op&, const Types& in, const Attrs&) {
  const Type &x = in[0], &W = in[1];
  require(is_integer(x.dtype), ErrorKind::DType,
          "embedding: the indices must be integers, got {}; use matmul for one-hot floats.", to_string(x));
  require(x.rank() <= 1, ErrorKind::Shape,
          "embedding: the indices must be one number or [B], got {}; fold the axes into one first.", to_string(x));
  require(W.rank() == 2, ErrorKind::Shape, "embedding: the weight must be a table [V,D], got {}.", to_string(W));
  Type y = W;
  if (x.rank() == 0)
    y.shape = {W.shape[1]};
  else
    y.shape[0] = x.shape[0];
  return {y};
}

// [(B)] → [(B),V], in the element type of W
Tensor one_hot(const EtpCall& c, const Tensor& x) {
  const Type& W     = c.in[1];
  Shape       shape = x.shape();
  shape.push_back(W.shape[0]);
  return convert(equal(expand_dims(x, -1), iota(shape, x.rank(), x.dtype())), W.dtype);
}

constexpr EtpRules embedding_rules = {
    .primitive   = [](const EtpCall& c) -> std::string_view { return c.y.rank() == 2 ? "etp_emb" : "etp_emb_v"; },
    .weights     = weight_and_bias,
    .coefficient = [](const EtpCall& c, int, const Tensors& in) -> Tensor {
      return expand_dims(is_float(in[0].dtype()) ? in[0] : one_hot(c, in[0]), -1);
    },
    .spread    = [](const EtpCall& c, int, const Tensor& t) -> Tensor { return expand_dims(t, c.y.rank() - 1); },
    .fold      = sum_to_weight,
    .represent = one_hot,
};

}  // namespace

constinit const Op embedding_op = composite({
    .name     = "embedding",
    .doc      = "trainable rows of a table",
    .operands = "indices weight",
    .infer    = embedding_infer,
    .expand   = [](const Op&, const Tensors& in, const Attrs&) -> Tensors { return {take(in[1], in[0], 0)}; },
    .batch    = [](const BatchArgs& a) -> Tensors { return batch_over_x(a, 0); },
    .depend   = [](const DependArgs& a) -> AxisLinks {
      const int last = a.out[0].rank() - 1;
      AxisLinks links;
      if (a.operand == 0 && last == 1) links.push_back({0, 1, 0, 1});
      if (a.operand == 1) links.push_back({1, 2, last, last + 1});
      return links;
    },
    .sample = [](const Op&, Rng& rng) -> std::vector<Sample> {
      auto index = [&](Shape s) {
        std::vector<int64_t> v(static_cast<size_t>(size_of(s)));
        for (int64_t& i : v) i = rng.integer(4);
        return Tensor(from_integers({DType::I32, std::move(s)}, v));
      };
      const Tensor one = index({}), some = index({3});
      auto         W = [&] { return Tensor(random_array(rng, {DType::F64, {4, 2}})); };
      return {{{one, W()}, {}}, {{some, W()}, {}}};
    },
    .etp = &embedding_rules,
});

Tensor embedding(const Tensor& indices, const Tensor& weight, const EmbeddingOptions& o) {
  return apply1(embedding_op, {indices, transformed(weight, o.weight_fn, "embedding", "weight_fn")});
}

}  // namespace braintrace
