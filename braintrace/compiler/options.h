// SPDX-License-Identifier: Apache-2.0
// Options of the compiler.
#pragma once

#include <cstdint>
#include <optional>

namespace braintrace {

// How to treat structured control flow inside the one-step update.
struct ControlFlowPolicy {
  enum class Cond : uint8_t { Convert, Opaque };
  enum class WhileHidden : uint8_t { OpaqueForward, Error };
  enum class EtpInside : uint8_t { Error, Exclude };
  enum class ScanDescent : uint8_t { Auto, Off };

  Cond        cond                     = Cond::Convert;  // if-convert relevant conditionals, or leave them
  int         scan_unroll_limit        = 16;             // longest scan that is unrolled; ≤ 0 unrolls none
  WhileHidden while_hidden             = WhileHidden::OpaqueForward;  // a hidden state computed by an opaque region
  EtpInside   etp_in_control_flow      = EtpInside::Error;            // a trainable op left inside an opaque region
  ScanDescent scan_descent             = ScanDescent::Auto;           // follow long scans substep by substep
  int         fixpoint_iteration_limit = 64;                          // maximum nesting depth of the canonicalizer

  bool operator==(const ControlFlowPolicy&) const = default;
};

inline constexpr ControlFlowPolicy DEFAULT_CONTROL_FLOW_POLICY{};
inline constexpr int64_t           DEFAULT_MAX_JACOBIAN_ELEMENTS = int64_t{1} << 24;

// How to treat a weight that reaches a state only through another product.
enum class TailPolicy : uint8_t { Window, Exclude };

struct CompileOptions {
  bool               include_hidden_perturb     = true;
  bool               include_recurrent_mixing   = false;  // coupled scope: products stay in the transition
  std::optional<int> sparse_n                   = {};     // SnAp-n; needs include_recurrent_mixing
  int64_t            snap_max_jacobian_elements = DEFAULT_MAX_JACOBIAN_ELEMENTS;
  ControlFlowPolicy  control_flow               = {};
  TailPolicy         tail                       = TailPolicy::Window;
  bool               promote_short_term_states  = true;
  // The step may use states that are not part of the model: those of a function around a learner.
  bool allow_states_outside = false;
  // Reproduce the decisions of braintrace 0.2.6, including wrong ones, to compare with its recorded results.
  bool as_reference = false;

  static CompileOptions reference() {
    CompileOptions o;
    o.tail                      = TailPolicy::Exclude;
    o.promote_short_term_states = false;
    o.as_reference              = true;
    return o;
  }
};

}  // namespace braintrace
