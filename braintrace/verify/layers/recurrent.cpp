// SPDX-License-Identifier: Apache-2.0
// Cells around one linear map or convolution.
#include "braintrace/etp/dense.h"
#include "braintrace/etp/lora.h"
#include "braintrace/nn/embedding.h"
#include "braintrace/nn/factored.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::golden {

namespace {

ModulePtr lora_op_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec"), rank = f.integer("rank");
  const double  alpha = f.number("alpha");
  auto          m     = make_cell();
  const auto    B     = m->param("B", {f.integer("n_in") + n, rank});
  const auto    A     = m->param("A", {rank, n});
  const auto    b     = m->param("b", {n}, 0);
  const auto    h     = m->hidden("h", {n});
  m->step             = [=](const Tensor& x) {
    const Tensor xh        = joined(x, h.value());
    const Tensor in_factor = B.value(), out_factor = A.value();
    h.set(tanh(lora_matmul(xh, in_factor, out_factor, b.value(), {.alpha = alpha})));
    return h.value();
  };
  return m;
}

ModulePtr grouped_rnn(const Fields& f) {
  const int64_t G = f.integer("groups"), K = f.integer("k_in"), N = f.integer("k_rec");
  auto          m = make_cell();
  auto          W = m->part("W", nn::GroupedLinear(G, K + N, N));
  const auto    h = m->hidden("h", {G, N});
  m->step         = [=](const Tensor& x) mutable {
    h.set(tanh(W(joined(x, h.value()))));
    return h.value();
  };
  return m;
}

ModulePtr embedding_rnn(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          emb = m->part("emb", nn::Embedding(f.integer("vocab"), n));
  auto          rec = m->linear("rec", n, n);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& ids) mutable {
    const Tensor e = emb(ids);
    h.set(tanh(e + rec(h.value())));
    return h.value();
  };
  return m;
}

ModulePtr plain_etp_rnn(const Fields& f) {
  const int64_t        n     = f.integer("n_rec");
  const nn::Activation phi   = activation_of(f);
  auto                 m     = make_cell();
  const auto           w_in  = m->param("w_in", {f.integer("n_in"), n});
  const auto           w_rec = m->param("w_rec", {n, n});
  const auto           h     = m->hidden("h", {n});
  m->step                    = [=](const Tensor& x) {
    const Tensor plain = dot(x, w_in.value());
    const Tensor old   = h.value();
    h.set(phi(plain + matmul(old, w_rec.value())));
    return h.value();
  };
  return m;
}

ModulePtr conv_leaky(const Fields& f) {
  const double leak = f.number("leak");
  auto         m    = make_cell();
  const auto   conv = nested_conv(f, "conv");
  m->part("conv", ModulePtr(conv));
  const auto h = m->hidden("h", *conv->out_size());
  m->step      = [=](const Tensor& x) {
    const Tensor kept = leak * h.value();
    h.set(tanh(kept + (*conv)(x)));
    return h.value();
  };
  return m;
}

ModulePtr conv_rec_leaky(const Fields& f) {
  const double leak = f.number("leak");
  auto         m    = make_cell();
  const auto   in   = nested_conv(f, "conv_in");
  const auto   rec  = nested_conv(f, "conv_rec");
  m->part("conv_in", ModulePtr(in));
  m->part("conv_rec", ModulePtr(rec));
  const auto h = m->hidden("h", *in->out_size());
  m->step      = [=](const Tensor& x) {
    const Tensor old = h.value(), y = (*in)(x);
    h.set(leak * old + (1 - leak) * tanh(y + (*rec)(old)));
    return h.value();
  };
  return m;
}

}  // namespace

std::vector<LayerType> recurrent_layers() {
  return {
      {"lora_op_rnn", "h ← tanh(α [x;h] B A + b)", "n_in n_rec rank alpha", lora_op_rnn},
      {"grouped_rnn", "per group g: h_g ← tanh([x_g;h_g] W_g + b_g)", "groups k_in k_rec", grouped_rnn},
      {"embedding_rnn", "h ← tanh(emb[x] + rec(h))", "vocab n_rec", embedding_rnn},
      {"plain_etp_rnn", "h ← φ(dot(x,w_in) + matmul(h,w_rec))", "n_in n_rec activation=\"tanh\"", plain_etp_rnn},
      {"conv_leaky", "h ← tanh(leak h + conv(x))", "leak conv", conv_leaky},
      {"conv_rec_leaky", "h ← leak h + (1-leak) tanh(conv_in(x) + conv_rec(h))", "leak conv_in conv_rec",
       conv_rec_leaky},
  };
}

}  // namespace braintrace::golden
