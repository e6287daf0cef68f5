// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "braintrace/etp/element_wise.h"
#include "braintrace/nn/cell_parts.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/special.h"

namespace braintrace::nn {

LSTMCell::LSTMCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : Wi(checked_in("LSTMCell", n_in, n_rec) + n_rec, n_rec, cell_weights(o, init::plain::xavier_normal())),
      Wg(n_in + n_rec, n_rec, cell_weights(o, init::plain::xavier_normal())),
      Wf(n_in + n_rec, n_rec, cell_weights(o, init::plain::xavier_normal())),
      Wo(n_in + n_rec, n_rec, cell_weights(o, init::plain::xavier_normal())),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      c(state("c", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("tanh")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"Wi", Wi}, {"Wg", Wg}, {"Wf", Wf}, {"Wo", Wo}});
  start_gates(o, &Wf, &Wi, 1);
}

Tensor LSTMCell::update(const Tensor& x) {
  const Tensor old_h = h.value(), old_c = c.value(), xh = joined(x, old_h);
  const Tensor i = Wi(xh), g = Wg(xh), f = Wf(xh), out = Wo(xh);
  c.set(sigmoid(f + 1) * old_c + sigmoid(i) * activation(g));
  h.set(sigmoid(out) * activation(c.value()));
  return h.value();
}

namespace {

// b = -log(1/u - 1), u uniform between 1/H and 1-1/H: initial gates cover all time scales.
Initializer spread_gates(int64_t n) {
  const double low = 1.0 / static_cast<double>(n);
  return mapped(init::uniform(low, 1 - low), "logit", [](double u) { return -std::log(1 / u - 1); });
}

CellOptions without_bias(CellOptions o) {
  o.b_init = no_bias;
  return o;
}

}  // namespace

URLSTMCell::URLSTMCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : Wu(checked_in("URLSTMCell", n_in, n_rec) + n_rec, n_rec,
         cell_weights(without_bias(o), init::plain::xavier_normal())),
      Wf(n_in + n_rec, n_rec, cell_weights(without_bias(o), init::plain::xavier_normal())),
      Wr(n_in + n_rec, n_rec, cell_weights(without_bias(o), init::plain::xavier_normal())),
      Wo(n_in + n_rec, n_rec, cell_weights(without_bias(o), init::plain::xavier_normal())),
      bias(state("bias", ParamState(spread_gates(n_rec)({n_rec})))),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      c(state("c", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("tanh")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"Wu", Wu}, {"Wf", Wf}, {"Wr", Wr}, {"Wo", Wo}});
  start_gates(o, nullptr, nullptr);
}

Tensor URLSTMCell::update(const Tensor& x) {
  const Tensor old_h = h.value(), old_c = c.value(), xh = joined(x, old_h);
  const Tensor yf = Wf(xh), yr = Wr(xh), u = Wu(xh), out = Wo(xh);
  const Tensor f = sigmoid(element_wise(bias.value()) + yf);
  const Tensor r = sigmoid(yr - element_wise(bias.value()));
  const Tensor q = 2 * r * f + (1 - 2 * r) * square(f);
  c.set(q * old_c + (1 - q) * activation(u));
  h.set(sigmoid(out) * activation(c.value()));
  return h.value();
}

}  // namespace braintrace::nn
