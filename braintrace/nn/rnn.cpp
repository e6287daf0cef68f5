// SPDX-License-Identifier: Apache-2.0
#include "braintrace/nn/rnn.h"

#include "braintrace/nn/cell_parts.h"
#include "braintrace/ops/math.h"
#include "braintrace/ops/special.h"

namespace braintrace::nn {

void start_gates(const CellOptions& o, const Linear* keep, const Linear* write, double offset) {
  if (!o.memory_steps) return;
  const double T = *o.memory_steps;
  require(keep || write, "memory_steps: this cell has no gates.");
  require(T >= 2 && T <= 1e9, "memory_steps: expected a number of time steps from 2 to 1e9, got {}.", T);
  const Linear& gate = keep ? *keep : *write;
  require(gate.weight.has_leaf("bias"), "memory_steps: it sets the bias of a gate, but this cell has no biases.");
  const Tensor log_u = log(init::uniform(1, T - 1)(gate.weight.type("bias").shape));
  if (keep) keep->weight.set_leaf("bias", log_u - offset);
  if (write) write->weight.set_leaf("bias", -log_u);
}

ValinaRNNCell::ValinaRNNCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : W(checked_in("ValinaRNNCell", n_in, n_rec) + n_rec, n_rec, cell_weights(o, init::plain::xavier_normal())),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("relu")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"W", W}});
  start_gates(o, nullptr, nullptr);
}

Tensor ValinaRNNCell::update(const Tensor& x) {
  h.set(activation(W(joined(x, h.value()))));
  return h.value();
}

GRUCell::GRUCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : Wz(checked_in("GRUCell", n_in, n_rec) + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      Wr(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      Wh(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("tanh")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"Wz", Wz}, {"Wr", Wr}, {"Wh", Wh}});
  start_gates(o, nullptr, &Wz);
}

Tensor GRUCell::update(const Tensor& x) {
  const Tensor old = h.value(), xh = joined(x, old);
  const Tensor z = sigmoid(Wz(xh));
  const Tensor r = sigmoid(Wr(xh));
  const Tensor n = activation(Wh(joined(x, r * old)));
  h.set((1 - z) * old + z * n);
  return h.value();
}

MGUCell::MGUCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : Wf(checked_in("MGUCell", n_in, n_rec) + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      Wh(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("tanh")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"Wf", Wf}, {"Wh", Wh}});
  start_gates(o, nullptr, &Wf);
}

Tensor MGUCell::update(const Tensor& x) {
  const Tensor old = h.value();
  const Tensor f   = sigmoid(Wf(joined(x, old)));
  const Tensor n   = activation(Wh(joined(x, f * old)));
  h.set((1 - f) * old + f * n);
  return h.value();
}

CFNCell::CFNCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : Wf(checked_in("CFNCell", n_in, n_rec) + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      Wi(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      Wh(n_in, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))),
      activation(o.activation.value_or("tanh")) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, &activation)) field(name, text);
  children({{"Wf", Wf}, {"Wi", Wi}, {"Wh", Wh}});
  start_gates(o, &Wf, &Wi);
}

Tensor CFNCell::update(const Tensor& x) {
  const Tensor old = h.value(), xh = joined(x, old);
  const Tensor f = sigmoid(Wf(xh));
  const Tensor i = sigmoid(Wi(xh));
  const Tensor n = activation(Wh(x));
  h.set(f * activation(old) + i * n);
  return h.value();
}

MinimalRNNCell::MinimalRNNCell(int64_t n_in, int64_t n_rec, CellOptions o)
    : phi(checked_in("MinimalRNNCell", n_in, n_rec), n_rec, cell_weights(o, init::orthogonal())),
      W_u(2 * n_rec, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, nullptr)) field(name, text);
  children({{"phi", phi}, {"W_u", W_u}});
  start_gates(o, &W_u, nullptr);
}

Tensor MinimalRNNCell::update(const Tensor& x) {
  const Tensor z   = phi(x);
  const Tensor old = h.value();
  const Tensor f   = sigmoid(W_u(joined(z, old)));
  h.set(f * old + (1 - f) * z);
  return h.value();
}

MiniGRU::MiniGRU(int64_t n_in, int64_t n_rec, CellOptions o)
    : W_x(checked_in("MiniGRU", n_in, n_rec), n_rec, cell_weights(o, init::orthogonal())),
      W_z(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, nullptr)) field(name, text);
  children({{"W_x", W_x}, {"W_z", W_z}});
  start_gates(o, nullptr, &W_z);
}

Tensor MiniGRU::update(const Tensor& x) {
  const Tensor old = h.value();
  const Tensor z   = sigmoid(W_z(joined(x, old)));
  const Tensor n   = W_x(x);
  h.set((1 - z) * old + z * n);
  return h.value();
}

MiniLSTM::MiniLSTM(int64_t n_in, int64_t n_rec, CellOptions o)
    : W_x(checked_in("MiniLSTM", n_in, n_rec), n_rec, cell_weights(o, init::orthogonal())),
      W_f(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      W_i(n_in + n_rec, n_rec, cell_weights(o, init::orthogonal())),
      h(state("h", hidden_state({n_rec}, o.state_init))) {
  for (const auto& [name, text] : cell_fields(n_in, n_rec, o, nullptr)) field(name, text);
  children({{"W_x", W_x}, {"W_f", W_f}, {"W_i", W_i}});
  start_gates(o, &W_f, &W_i);
}

Tensor MiniLSTM::update(const Tensor& x) {
  const Tensor old = h.value(), xh = joined(x, old);
  const Tensor f = sigmoid(W_f(xh));
  const Tensor i = sigmoid(W_i(xh));
  const Tensor n = W_x(x);
  h.set(f * old + i * n);
  return h.value();
}

}  // namespace braintrace::nn
