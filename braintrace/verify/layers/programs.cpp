// SPDX-License-Identifier: Apache-2.0
// Small models that put one question each to the compiler and the learning rules.
#include "braintrace/etp/dense.h"
#include "braintrace/etp/element_wise.h"
#include "braintrace/nn/layer.h"
#include "braintrace/ops/contract.h"
#include "braintrace/ops/cumulative.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/move.h"
#include "braintrace/ops/reduce.h"
#include "braintrace/ops/softmax.h"
#include "braintrace/ops/special.h"
#include "braintrace/verify/layers/layers.h"
#include "braintrace/zoo/parts.h"

namespace braintrace::golden {

namespace {

// m(x) of position_mix_rnn: every position of the last axis reads others.
std::function<Tensor(const Tensor&)> mixing(const Fields& f) {
  const std::string kind = f.choice("mix", {"roll", "mean_sub", "layer_norm", "softmax", "cumsum"});
  if (kind == "roll") {
    const auto shift = f.integer("shift");
    return [shift](const Tensor& x) { return roll(x, shift, -1); };
  }
  if (kind == "mean_sub") return [](const Tensor& x) { return x - mean(x, -1, true); };
  if (kind == "layer_norm")
    return [](const Tensor& x) {
      const Tensor centered = x - mean(x, -1, true);
      return centered / sqrt(mean(square(centered), -1, true) + 1e-5);
    };
  if (kind == "softmax") return [](const Tensor& x) { return softmax(x, -1); };
  return [](const Tensor& x) { return cumsum(x, -1); };
}

ModulePtr position_mix(const Fields& f) {
  const int64_t n         = f.integer("n_rec");
  const double  leak      = f.number("leak");
  const bool    recurrent = f.flag("recurrent"), in_hidden = f.choice("where", {"hidden", "tail"}) == "hidden";
  const auto    mix = mixing(f);
  auto          m   = make_cell();
  auto          W   = m->linear("W", f.integer("n_in") + (recurrent ? n : 0), n);
  std::optional<ParamState> scale, offset;
  if (f.flag("affine")) {
    scale  = m->param("scale", {n}, 1);
    offset = m->param("offset", {n}, 0);
  }
  const auto h = m->hidden("h", {n});
  m->step      = [=](const Tensor& x) mutable {
    const Tensor old = h.value(), y = W(recurrent ? joined(x, old) : x);
    if (in_hidden) {
      h.set(tanh(leak * mix(old) + y));
    } else {
      Tensor tail = mix(y);
      if (scale) tail = tail * scale->value() + offset->value();
      h.set(leak * old + tanh(tail));
    }
    return h.value();
  };
  return m;
}

ModulePtr fanout_cascade(const Fields& f) {
  const int64_t             n    = f.integer("n_rec");
  const std::string         link = f.choice("link", {"elementwise", "plain", "etp"});
  auto                      m    = make_cell();
  auto                      inp  = m->linear("inp", f.integer("n_in"), n);
  std::optional<ParamState> u;
  if (link != "elementwise") u = m->param("u", {n, n});
  const auto p = m->hidden("p", {n}), q = m->hidden("q", {n});
  m->step = [=](const Tensor& x) mutable {
    const Tensor y = inp(x);
    p.set(0.8 * p.value() + tanh(y));
    const Tensor now  = p.value();
    const Tensor sent = !u ? 0.7 * now : link == "plain" ? dot(now, u->value()) : matmul(now, u->value());
    q.set(tanh(0.6 * q.value() - y + sent));
    return joined(p.value(), q.value());
  };
  return m;
}

ModulePtr stacked(const Fields& f, bool recurrent) {
  const int64_t             n   = f.integer("n_rec");
  auto                      m   = make_cell();
  auto                      inp = m->linear("inp", f.integer("n_in"), n);
  std::optional<nn::Linear> rec;
  if (recurrent) rec = m->linear("rec", n, n, false);
  const auto st = m->keep("st", HiddenGroupState([n](BatchSize b) {
                            return Leaves{{"", nn::Initializer(0)(nn::batched({n, 2}, b))}};
                          }));
  m->step       = [=](const Tensor& x) mutable {
    const Tensor old = st.value();
    const Tensor s0 = squeeze(slice_axis(old, -1, 0, 1), {-1}), s1 = squeeze(slice_axis(old, -1, 1, 2), {-1});
    Tensor       y = inp(x);
    if (rec) y = y + (*rec)(s0);
    const Tensor n0 = 0.8 * s0 + tanh(y - s1);
    const Tensor n1 = 0.9 * s1 + 0.2 * n0;
    st.set(stack({n0, n1}, -1));
    return squeeze(slice_axis(st.value(), -1, 0, 1), {-1});
  };
  return m;
}

ModulePtr tied_rnn(const Fields& f) {
  const int64_t n = f.integer("n");
  auto          m = make_cell();
  const auto    w = m->param("w", {n, n});
  const auto    h = m->hidden("h", {n});
  m->step         = [=](const Tensor& x) {
    const Tensor W = w.value(), old = h.value();
    const Tensor a = matmul(x, W), b = matmul(old, W);
    h.set(tanh(0.5 * old + a + b));
    return h.value();
  };
  return m;
}

ModulePtr tied_mixed_rnn(const Fields& f) {
  const int64_t n    = f.integer("n");
  const double  leak = f.number("leak");
  auto          m    = make_cell();
  const auto    w    = m->param("w", {n, n});
  const auto    h    = m->hidden("h", {n});
  m->step            = [=](const Tensor& x) {
    const Tensor W = w.value(), old = h.value();
    const Tensor a = matmul(x, W), b = dot(old, W);
    h.set(leak * old + tanh(a + b));
    return h.value();
  };
  return m;
}

ModulePtr shared_drive(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    p = m->hidden("p", {n}), q = m->hidden("q", {n});
  m->step = [=](const Tensor& x) mutable {
    const Tensor u = inp(x);
    p.set(0.9 * p.value() + u);
    q.set(tanh(0.5 * q.value() - 2 * u));
    return joined(p.value(), q.value());
  };
  return m;
}

ModulePtr rms_tail_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec");
  auto          m = make_cell();
  auto          W = m->linear("W", f.integer("n_in") + n, n);
  const auto    h = m->hidden("h", {n});
  m->step         = [=](const Tensor& x) mutable {
    const Tensor old = h.value(), y = W(joined(x, old));
    h.set(tanh(0.5 * old + y / sqrt(mean(square(y), -1, true) + 1e-3)));
    return h.value();
  };
  return m;
}

ModulePtr learn_decay_rnn(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  const auto    a   = m->param("a", {n});
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  auto          rec = m->linear("rec", n, n, false);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& x) mutable {
    const Tensor l   = sigmoid(element_wise(a.value()));
    const Tensor old = h.value(), y = inp(x);
    h.set(l * old + (1 - l) * tanh(y + rec(old)));
    return h.value();
  };
  return m;
}

ModulePtr square_rnn(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  const double  a   = f.number("a");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    h   = m->hidden("h", {n});
  m->step           = [=](const Tensor& x) mutable {
    const Tensor old = h.value();
    h.set(a * (old * old) + tanh(inp(x)));
    return h.value();
  };
  return m;
}

ModulePtr alias_states(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    h1 = m->hidden("h1", {n}), h2 = m->hidden("h2", {n});
  m->step = [=](const Tensor& x) mutable {
    const Tensor a = h1.value(), b = h2.value();
    const Tensor v = 0.5 * a + 0.3 * tanh(b) + tanh(inp(x));
    h1.set(v);
    h2.set(v);
    return v;
  };
  return m;
}

ModulePtr delay_pair(const Fields& f) {
  const int64_t n   = f.integer("n_rec");
  auto          m   = make_cell();
  auto          inp = m->linear("inp", f.integer("n_in"), n);
  const auto    a = m->hidden("a", {n}), b = m->hidden("b", {n});
  m->step = [=](const Tensor& x) mutable {
    const Tensor old = a.value();  // states count in the order of first touch: a, b
    a.set(0.5 * old + tanh(b.value()));
    b.set(inp(x));
    return a.value();
  };
  return m;
}

ModulePtr skip_out_rnn(const Fields& f) {
  const int64_t n         = f.integer("n_rec");
  const double  leak      = f.number("leak");
  const bool    recurrent = f.flag("recurrent");
  auto          m         = make_cell();
  auto          inp       = m->linear("inp", f.integer("n_in") + (recurrent ? n : 0), n);
  const auto    h         = m->hidden("h", {n});
  m->step                 = [=](const Tensor& x) mutable {
    const Tensor old = h.value(), y = inp(recurrent ? joined(x, old) : x);
    h.set(leak * old + tanh(y));
    return h.value() + 0.5 * y;
  };
  return m;
}

ModulePtr feedback_pair(const Fields& f) {
  const int64_t n1 = f.integer("n1"), n2 = f.integer("n2");
  auto          m  = make_cell();
  auto          W1 = m->linear("W1", f.integer("n_in") + n2, n1);
  auto          W2 = m->linear("W2", n1, n2);
  const auto    h1 = m->hidden("h1", {n1}), h2 = m->hidden("h2", {n2});
  m->step = [=](const Tensor& x) mutable {
    const Tensor a = h1.value(), b = h2.value();
    h1.set(0.6 * a + tanh(W1(joined(x, b))));
    h2.set(tanh(0.5 * b + W2(h1.value())));
    return joined(h1.value(), h2.value());
  };
  return m;
}

ModulePtr mixed_pair(const Fields& f) {
  const int64_t n  = f.integer("n_rec");
  auto          m  = make_cell();
  auto          W1 = m->linear("W1", f.integer("n_in"), n);
  auto          W2 = m->linear("W2", n, n);
  const auto    v = m->hidden("v", {n}), u = m->hidden("u", {n});
  m->step = [=](const Tensor& x) mutable {
    const Tensor a = v.value(), b = u.value();
    v.set(0.8 * a - 0.3 * b + tanh(W1(x)));
    const Tensor now = v.value();
    u.set(0.7 * b + 0.2 * now + tanh(W2(now)));
    return joined(v.value(), u.value());
  };
  return m;
}

ModulePtr gated_input_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec"), n_in = f.integer("n_in");
  const double  leak = f.number("leak");
  auto          m    = make_cell();
  const auto    g    = m->param("g", {n_in}, 1);
  auto          W    = m->linear("W", n_in, n);
  const auto    h    = m->hidden("h", {n});
  m->step            = [=](const Tensor& x) mutable {
    const Tensor y = W(element_wise(g.value()) * x);
    h.set(leak * h.value() + tanh(y));
    return h.value();
  };
  return m;
}

ModulePtr plain_tail_rnn(const Fields& f) {
  const int64_t n = f.integer("n_rec"), mid = f.integer("n_mid");
  const double  leak = f.number("leak");
  auto          m    = make_cell();
  auto          W    = m->linear("W", f.integer("n_in"), mid);
  const auto    tail = m->param("m", {mid, n});
  const auto    h    = m->hidden("h", {n});
  m->step            = [=](const Tensor& x) mutable {
    const Tensor y = dot(tanh(W(x)), tail.value());
    h.set(leak * h.value() + tanh(y));
    return h.value();
  };
  return m;
}

}  // namespace

std::vector<LayerType> programs() {
  return {
      {"tied_rnn", "h ← tanh(0.5 h + x w + h w)", "n", tied_rnn},
      {"tied_mixed_rnn", "h ← leak h + tanh(matmul(x,w) + dot(h,w))", "n leak", tied_mixed_rnn},
      {"shared_drive", "u = inp(x), p ← 0.9 p + u, q ← tanh(0.5 q - 2u), y = [p;q]", "n_in n_rec", shared_drive},
      {"rms_tail_rnn", "y = W[x;h], h ← tanh(0.5 h + y/√(mean(y²)+1e-3))", "n_in n_rec", rms_tail_rnn},
      {"learn_decay_rnn", "λ=σ(a), h ← λ h + (1-λ) tanh(inp(x) + rec(h))", "n_in n_rec", learn_decay_rnn},
      {"position_mix_rnn",
       "where hidden: h ← tanh(leak m(h) + W(v)); where tail: h ← leak h + tanh(m(W(v)) scale + offset); v = [x;h] or "
       "x",
       "mix where n_in n_rec leak recurrent=false affine=false shift=1", position_mix},
      {"fanout_cascade", "y = inp(x), p ← 0.8 p + tanh(y), q ← tanh(0.6 q - y + link(p)); y = [p;q]", "n_in n_rec link",
       fanout_cascade},
      {"square_rnn", "h ← a h² + tanh(inp(x))", "n_in n_rec a", square_rnn},
      {"alias_states", "v = 0.5 h1 + 0.3 tanh(h2) + tanh(inp(x)); h1 ← v, h2 ← v; y = v", "n_in n_rec", alias_states},
      {"stacked_pair", "st = (s0,s1): s0 ← 0.8 s0 + tanh(inp(x) [+ rec(s0)] - s1), s1 ← 0.9 s1 + 0.2 s0'; y = s0",
       "n_in n_rec recurrent=false", [](const Fields& f) { return stacked(f, f.flag("recurrent")); }},
      {"stacked_state", "two states on the last axis of st, as in stacked_pair", "n_in n_rec",
       [](const Fields& f) { return stacked(f, false); }},
      {"delay_pair", "a ← 0.5 a + tanh(b), b ← inp(x); y = a", "n_in n_rec", delay_pair},
      {"skip_out_rnn", "y = inp(x), h ← leak h + tanh(y); returns h + 0.5 y", "n_in n_rec leak recurrent=false",
       skip_out_rnn},
      {"feedback_pair", "h1 ← 0.6 h1 + tanh(W1[x;h2]), h2 ← tanh(0.5 h2 + W2 h1'); y = [h1;h2]", "n_in n1 n2",
       feedback_pair},
      {"mixed_pair", "v ← 0.8 v - 0.3 u + tanh(W1 x), u ← 0.7 u + 0.2 v' + tanh(W2 v'); y = [v;u]", "n_in n_rec",
       mixed_pair},
      {"gated_input_rnn", "h ← leak h + tanh(W(g x)), g through element_wise", "n_in n_rec leak", gated_input_rnn},
      {"plain_tail_rnn", "h ← leak h + tanh(dot(tanh(W x), m))", "n_in n_mid n_rec leak", plain_tail_rnn},
  };
}

}  // namespace braintrace::golden
