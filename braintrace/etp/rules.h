// SPDX-License-Identifier: Apache-2.0
// Trainable (ETP) operations: ordinary ops with additional rules for an eligibility trace. *The operation determines
// what learns online*: a weight that one of these reads does, a weight that only plain ops read does not.
//
// For y = op(x, w), linear in w, the trace of w keeps one entry per (output position, weight entry) pair that can be
// non-zero. Its axes are the *trace axes*, e.g. [B,I,O] for y[B,O] = x[B,I] W[I,O]; a trailing axis S holds the states
// of the hidden group. Three small functions per weight define it:
//
//   coefficient   ∂y/∂w, on the trace axes                 (size-one axes broadcast)
//   spread        a value per output position → trace axes (additional trailing axes are kept)
//   fold          sum of the trace axes down to the shape of w
//
// From them, with D = ∂h_t/∂h_{t-1} and D_f = ∂h_t/∂y_t per position:
//
//   instant    D_f ⊗ ∂y/∂w           propagate   D ε           contract   Σ ℓ ∘ ε
//
// Law: fold(coefficient · spread(c)) is the vjp of op with respect to w at cotangent c. It leaves one degree of
// freedom: a factor of ∂y/∂w that does not depend on time may be applied in fold (low-rank products use this; see
// lora.cpp). spread must only move values: it is applied to D and ℓ, so a coefficient in spread would be applied once
// per step.
#pragma once

#include "braintrace/ir/op.h"

namespace braintrace {

struct EtpWeight {
  std::string_view key;      // "weight", "bias", …
  int              operand;  // which operand of the op
};
constexpr int bias_weight = 1;  // index of the bias in an op with one weight and a bias

// One use of a trainable op: its static properties.
struct EtpCall {
  const Op* op;
  Attrs     attrs;
  Types     in;
  Type      y;  // positions: the result type, or those of the group for ops that broadcast over it, whose weights then
                // have size one along the axes of the group that share them
};

struct EtpRules {
  std::string_view (*primitive)(const EtpCall&)     = nullptr;  // name in reports: etp_mv, etp_mm, …
  std::vector<EtpWeight> (*weights)(const EtpCall&) = nullptr;
  int  x                                            = 0;     // data operand; -1 if there is none
  bool mixes                                        = true;  // y at one position reads x at others
  // `in`: values of all operands.
  Tensor (*coefficient)(const EtpCall&, int weight, const Tensors& in)                  = nullptr;
  Tensor (*spread)(const EtpCall&, int weight, const Tensor& per_y)                     = nullptr;
  Tensor (*fold)(const EtpCall&, int weight, const Tensors& in, const Tensor& on_trace) = nullptr;
  // What to filter in methods that filter x instead of a trace; null = x itself. `coefficient` gets it as x.
  Tensor (*represent)(const EtpCall&, const Tensor& x) = nullptr;
};

// Trace shape without the state axis.
Shape trace_shape(const EtpCall& call, int weight);
// D_f : [*y,S]  →  [*trace,S]
Tensor instant(const EtpCall& call, int weight, const Tensors& in, const Tensor& D_f);
// D : [*y,S,S], ε : [*trace,S]  →  [*trace,S]
Tensor propagate(const EtpCall& call, int weight, const Tensor& D, const Tensor& eps);
// ℓ : [*y,S], ε : [*trace,S]  →  shape of the weight
Tensor contract(const EtpCall& call, int weight, const Tensors& in, const Tensor& ell, const Tensor& eps);
// c : [*y] → shape of the weight: the vjp of the operation, computed by these rules
Tensor pull_back(const EtpCall& call, int weight, const Tensors& in, const Tensor& c);

const std::vector<const Op*>& etp_ops();

}  // namespace braintrace
