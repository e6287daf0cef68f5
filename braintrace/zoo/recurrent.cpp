// SPDX-License-Identifier: Apache-2.0
// Recurrent cells of the kit, and cells around one of its linear maps.
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/etp/lora.h"
#include "braintrace/nn/embedding.h"
#include "braintrace/nn/factored.h"
#include "braintrace/nn/rnn.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/special.h"
#include "braintrace/zoo/cell.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::zoo {

namespace {

using nn::joined;

template <class C>
ModulePtr cell_of(const Fields& f) {
  nn::CellOptions o;
  if (f.has("activation")) o.activation = activation_of(f);
  o.memory_steps = f.number_if("memory_steps");
  return std::make_shared<C>(f.integer("n_in"), f.integer("n_rec"), o);
}

constexpr const char* maps = "masked_linear, signed_linear, scaled_ws_linear, lora";

ModulePtr lora_map(int64_t n_in, int64_t n_out, int64_t rank, double alpha, bool base) {
  nn::LoRAOptions o{.kernel_init = nn::init::lecun_normal(), .alpha = alpha};
  if (base) o.base_module = std::make_shared<nn::Linear>(n_in, n_out);
  return std::make_shared<nn::LoRA>(n_in, rank, n_out, o);
}

// The map of a map_rnn, from n_in to n_out features.
ModulePtr build_map(const Fields& f, int64_t n_in, int64_t n_out) {
  const std::string type = f.kind_of("map", "type");
  if (type == "masked_linear") {
    const Fields m = f.nested("map", type, "mask");
    return std::make_shared<nn::Linear>(n_in, n_out, nn::LinearOptions{.w_mask = m.array("mask")});
  }
  if (type == "signed_linear") {
    const Fields m    = f.nested("map", type, "sign?");
    const Tensor sign = m.has("sign") ? m.array("sign") : Tensor();
    return std::make_shared<nn::SignedWLinear>(n_in, n_out, nn::SignedWLinearOptions{.w_sign = sign});
  }
  if (type == "scaled_ws_linear") {
    const Fields m = f.nested("map", type, "eps=1e-4 gain=true bias=true");
    return std::make_shared<nn::ScaledWSLinear>(
        n_in, n_out,
        nn::ScaledWSLinearOptions{.b_init  = m.flag("bias") ? nn::OptionalInit(0) : nn::no_bias,
                                  .ws_gain = m.flag("gain"),
                                  .eps     = m.number("eps")});
  }
  if (type == "lora") {
    const Fields m = f.nested("map", type, "rank alpha base=null");
    return lora_map(n_in, n_out, m.integer("rank"), m.number("alpha"), m.has("base") && m.is_text("base"));
  }
  f.refuse("map.type", fmt::format("'{}' is unknown. Known: {}.", type, maps));
}

ModulePtr lru(const Fields& f) {
  return std::make_shared<nn::LRUCell>(f.integer("d_model"), f.integer("d_hidden"),
                                       nn::LRUCellOptions{.r_min = f.number("r_min"), .r_max = f.number("r_max")});
}

ModulePtr diag_rnn(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  const auto    a   = m->param("a", {n});
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& x) mutable {
    const Tensor l   = sigmoid(element_wise(a.value()));
    const Tensor old = h.value();
    h.set(l * old + (1 - l) * tanh(inp(x)));
    return h.value();
  };
  return m;
}

ModulePtr ind_rnn(const Fields& f) {
  const int64_t        n   = f.integer("n_rec");
  const nn::Activation fn  = f.choice("weight_fn", nn::activation_names());
  const nn::Activation phi = activation_of(f);
  auto                 m   = make_cell();
  auto                 inp = m->linear("inp", f.integer("n_in"), n);
  const auto           u   = m->param("u", {n});
  const auto           h   = m->hidden("h", {n});
  m->step                  = [=](const Tensor& x) mutable {
    const Tensor y   = inp(x);
    const Tensor old = h.value();
    h.set(phi(y + element_wise(u.value(), {.weight_fn = fn}) * old));
    return h.value();
  };
  return m;
}

ModulePtr map_rnn(const Fields& f) {
  const int64_t        n   = f.integer("n_rec");
  const nn::Activation phi = activation_of(f);
  auto                 m   = make_cell();
  const ModulePtr      W   = m->part("W", build_map(f, f.integer("n_in") + n, n));
  const auto           h   = m->hidden("h", {n});
  m->step                  = [=](const Tensor& x) {
    h.set(phi((*W)(joined(x, h.value()))));
    return h.value();
  };
  return m;
}

ModulePtr gru_lora(const Fields& f) {
  const int64_t n = f.integer("n_rec"), in = f.integer("n_in") + n, rank = f.integer("rank");
  const double  alpha = f.number("alpha");
  auto          m     = make_cell();
  const auto    Wz    = m->part("Wz", lora_map(in, n, rank, alpha, true));
  const auto    Wr    = m->part("Wr", lora_map(in, n, rank, alpha, true));
  const auto    Wh    = m->part("Wh", lora_map(in, n, rank, alpha, true));
  const auto    h     = m->hidden("h", {n});
  m->step             = [=](const Tensor& x) {
    const Tensor old = h.value(), xh = joined(x, old);
    const Tensor z = sigmoid((*Wz)(xh));
    const Tensor r = sigmoid((*Wr)(xh));
    const Tensor c = tanh((*Wh)(joined(x, r * old)));
    h.set((1 - z) * old + z * c);
    return h.value();
  };
  return m;
}

ModulePtr sparse_rnn(const Fields& f) {
  const int64_t        n       = f.integer("n_rec");
  const nn::Activation phi     = activation_of(f);
  const SparsePattern  pattern = pattern_of(f, "csr");
  if (pattern.n_rows != n || pattern.n_cols != n) f.refuse("csr.shape", fmt::format("expected [{0}, {0}].", n));
  auto       m   = make_cell();
  auto       inp = m->linear("inp", f.integer("n_in"), n);
  auto       rec = m->part("rec", nn::SparseLinear(pattern, nn::init::normal(0, 0.3)(pattern.rows.shape())));
  const auto h   = m->hidden("h", {n});
  m->step        = [=](const Tensor& x) mutable {
    const Tensor y = inp(x);
    h.set(phi(y + rec(h.value())));
    return h.value();
  };
  return m;
}

ModulePtr leaky_rnn(const Fields& f) {
  const int64_t n    = f.integer("n_rec");
  const double  leak = f.number("leak");
  auto          m    = make_cell();
  auto          inp  = m->linear("inp", f.integer("n_in"), n);
  auto          rec  = m->linear("rec", n, n, false);
  const auto    h    = m->hidden("h", {n});
  m->step            = [=](const Tensor& x) mutable {
    const Tensor old = h.value(), y = inp(x);
    h.set(leak * old + (1 - leak) * tanh(y + rec(old)));
    return h.value();
  };
  return m;
}

ModulePtr simple_rnn(const Fields& f) {
  const int64_t n      = f.integer("n_rec");
  const double  leak   = f.number("leak");
  const bool    hidden = f.choice("hidden_declared_as", {"hidden", "short_term"}) == "hidden";
  auto          m      = make_cell();
  const auto    w_in   = m->param("w_in", {f.integer("n_in"), n});
  const auto    w_rec  = m->param("w_rec", {n, n});
  const auto    w_out  = m->param("w_out", {n, f.integer("n_out")});
  const auto    zero   = [n](BatchSize b) { return Leaves{{"", nn::Initializer(0)(nn::batched({n}, b))}}; };
  const State   h      = hidden ? State(m->hidden("h", {n})) : State(m->keep("h", ShortTermState(zero)));
  m->step              = [=](const Tensor& x) {
    const Tensor plain = dot(x, w_in.value());
    const Tensor old   = h.value();
    const Tensor v     = tanh(plain + matmul(old, w_rec.value()));
    h.set(leak == 0 ? v : leak * old + v);
    return dot(h.value(), w_out.value());
  };
  return m;
}

}  // namespace

std::vector<LayerType> recurrent_layers() {
  const char* sizes     = "n_in n_rec";
  const char* with_tanh = "n_in n_rec activation=\"tanh\"";
  const char* gated     = "n_in n_rec activation=\"tanh\" memory_steps?";
  const char* mini      = "n_in n_rec memory_steps?";
  return {
      {"vanilla_rnn", "h ← φ(W[x;h])", "n_in n_rec activation=\"relu\"", cell_of<nn::ValinaRNNCell>},
      {"gru", "z=σ(Wz[x;h]), r=σ(Wr[x;h]), h ← (1-z)h + z φ(Wh[x;r h])", gated, cell_of<nn::GRUCell>},
      {"mgu", "f=σ(Wf[x;h]), h ← (1-f)h + f φ(Wh[x;f h])", gated, cell_of<nn::MGUCell>},
      {"cfn", "h ← σ(Wf[x;h]) φ(h) + σ(Wi[x;h]) φ(Wh x)", gated, cell_of<nn::CFNCell>},
      {"lstm", "c ← σ(Wf[x;h]+1)c + σ(Wi[x;h])φ(Wg[x;h]), h ← σ(Wo[x;h])φ(c)", gated, cell_of<nn::LSTMCell>},
      {"urlstm", "f=σ(b+Wf[x;h]), r=σ(Wr[x;h]-b), q=2rf+(1-2r)f², c ← q c+(1-q)φ(Wu[x;h]), h ← σ(Wo[x;h])φ(c)",
       with_tanh, cell_of<nn::URLSTMCell>},
      {"minimal_rnn", "z=phi(x), f=σ(W_u[z;h]), h ← f h + (1-f) z", mini, cell_of<nn::MinimalRNNCell>},
      {"mini_gru", "z=σ(W_z[x;h]), h ← (1-z)h + z W_x x", mini, cell_of<nn::MiniGRU>},
      {"mini_lstm", "h ← σ(W_f[x;h])h + σ(W_i[x;h]) W_x x", mini, cell_of<nn::MiniLSTM>},
      {"lru", "h ← λ h + γ B x (complex, written in real parts), y = Re(C h) + D x",
       "d_model d_hidden r_min=0.0 r_max=1.0", lru},
      {"diag_rnn", "λ=σ(a), h ← λ h + (1-λ) tanh(inp(x))", sizes, diag_rnn},
      {"ind_rnn", "h ← φ(inp(x) + fn(u) h)", "n_in n_rec activation=\"tanh\" weight_fn=\"identity\"", ind_rnn},
      {"map_rnn", "h ← φ(map([x;h])); map: masked_linear, signed_linear, scaled_ws_linear or lora, named W",
       "n_in n_rec activation=\"tanh\" map", map_rnn},
      {"gru_lora", "gru whose maps are α v lora_a lora_b + base(v)", "n_in n_rec rank alpha", gru_lora},
      {"sparse_rnn", "h ← φ(inp(x) + h W), W sparse (csr, rows are sources), values rec.weight.weight",
       "n_in n_rec activation=\"tanh\" csr", sparse_rnn},
      {"leaky_rnn", "h ← leak h + (1-leak) tanh(inp(x) + rec(h))", "n_in n_rec leak", leaky_rnn},
      {"simple_rnn",
       "v = tanh(dot(x,w_in) + matmul(h,w_rec)); h ← leak h + v; y = dot(h,w_out); h is a short-term state",
       "n_in n_rec n_out leak=0.0 hidden_declared_as=\"short_term\"", simple_rnn},
  };
}

}  // namespace braintrace::zoo
