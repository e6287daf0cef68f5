// SPDX-License-Identifier: Apache-2.0
// Recurrent cells. [a;b] is concatenation on the last axis, σ the logistic function, φ the activation; every W is a
// Linear with bias, so its parameter is <cell>.<W>.weight with leaves weight and bias. States are initially zero.
#pragma once

#include "braintrace/nn/activation.h"
#include "braintrace/nn/linear.h"

namespace braintrace::nn {

// Options that are not set have the default of the cell.
struct CellOptions {
  std::optional<Initializer> w_init     = {};
  OptionalInit               b_init     = 0;
  Initializer                state_init = 0;
  std::optional<Activation>  activation = {};
  // Initializes gates for memories of up to T steps: a unit keeps its state for about u steps, u uniform between 1 and
  // T-1. The bias of the gate that keeps the state is log u, that of the gate that writes it -log u. Tallec & Ollivier
  // 2018
  std::optional<double> memory_steps = {};
};

// h ← φ( W[x;h] )                                                              φ = relu
class ValinaRNNCell : public Module {
 public:
  ValinaRNNCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      W;
  HiddenState h;
  Activation  activation;
};
using VanillaRNNCell = ValinaRNNCell;

// z = σ(Wz[x;h]),  r = σ(Wr[x;h]),  h̃ = φ(Wh[x; r∘h]),  h ← (1-z)∘h + z∘h̃       φ = tanh      Cho et al. 2014
class GRUCell : public Module {
 public:
  GRUCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      Wz, Wr, Wh;
  HiddenState h;
  Activation  activation;
};

// f = σ(Wf[x;h]),  h̃ = φ(Wh[x; f∘h]),  h ← (1-f)∘h + f∘h̃                       φ = tanh      Zhou et al. 2016
class MGUCell : public Module {
 public:
  MGUCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      Wf, Wh;
  HiddenState h;
  Activation  activation;
};

// f = σ(Wf[x;h]),  i = σ(Wi[x;h]),  h ← f∘φ(h) + i∘φ(Wh x)             φ = tanh      Laurent & von Brecht 2016
class CFNCell : public Module {
 public:
  CFNCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      Wf, Wi, Wh;
  HiddenState h;
  Activation  activation;
};

// z = phi(x),  f = σ(W_u[z;h]),  h ← f∘h + (1-f)∘z                                            Chen 2017
class MinimalRNNCell : public Module {
 public:
  MinimalRNNCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      phi, W_u;
  HiddenState h;
};

// z = σ(W_z[x;h]),  h ← (1-z)∘h + z∘(W_x x)
class MiniGRU : public Module {
 public:
  MiniGRU(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      W_x, W_z;
  HiddenState h;
};

// f = σ(W_f[x;h]),  i = σ(W_i[x;h]),  h ← f∘h + i∘(W_x x)
class MiniLSTM : public Module {
 public:
  MiniLSTM(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      W_x, W_f, W_i;
  HiddenState h;
};

// c ← σ(Wf[x;h] + 1)∘c + σ(Wi[x;h])∘φ(Wg[x;h]),  h ← σ(Wo[x;h])∘φ(c)   φ = tanh   Hochreiter & Schmidhuber 1997
class LSTMCell : public Module {
 public:
  LSTMCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      Wi, Wg, Wf, Wo;
  HiddenState h, c;
  Activation  activation;
};

// LSTM with refined, uniformly initialized gates; the W have no bias, b ("bias") is used twice. Gu et al. 2020
//   f = σ(b + Wf[x;h]),  r = σ(Wr[x;h] - b),  q = 2 r f + (1-2r) f²
//   c ← q∘c + (1-q)∘φ(Wu[x;h]),  h ← σ(Wo[x;h])∘φ(c)
class URLSTMCell : public Module {
 public:
  URLSTMCell(int64_t n_in, int64_t n_rec, CellOptions options = {});
  Tensor update(const Tensor& x) override;

  Linear      Wu, Wf, Wr, Wo;
  ParamState  bias;
  HiddenState h, c;
  Activation  activation;
};

struct LRUCellOptions {
  double      r_min = 0, r_max = 1, max_phase = 6.28;
  Initializer state_init = 0;
};

// Linear recurrent unit: a diagonal complex recurrence written in real numbers.              Orvieto et al. 2023
//   a = e^{-e^ν}, b = e^θ, γ = e^{log γ}
//   h_re ← a cos b∘h_re - a sin b∘h_im + γ∘(B_re x),   h_im ← a sin b∘h_re + a cos b∘h_im + γ∘(B_im x)
//   y = C_re h_re - C_im h_im + x∘D
class LRUCell : public Module {
 public:
  LRUCell(int64_t d_model, int64_t d_hidden, LRUCellOptions options = {});
  Tensor update(const Tensor& x) override;

  ParamState  theta_log, nu_log, gamma_log, D;
  Linear      B_re, B_im, C_re, C_im;
  HiddenState h_re, h_im;
};

}  // namespace braintrace::nn
