// SPDX-License-Identifier: Apache-2.0
// A learning rule as a point in a space of six axes. The constructor validates the point and brings it to canonical
// form: invalid rules cannot be constructed, and two descriptions of the same rule compare equal.
//
//   bt::ETraceConfig({.recurrence_scope = bt::RecurrenceScope::Coupled})        OSTL for recurrent networks
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braintrace {

// What is stored: one trace per weight, one factor per input and output of an operation, or a random rank-one product.
enum class TraceFactorization : uint8_t { PerParam, IoFactorized, RandomProjection };
// How a trace decays: with the Jacobian D, with a constant factor, or completely (no memory).
enum class TemporalRecursion : uint8_t { Jacobian, ScalarLeak, None };
// What D contains: elementwise paths; also paths through recurrent weights; positions up to n-1 steps away (SnAp-n).
enum class RecurrenceScope : uint8_t { Diagonal, Coupled, SparseN };
// The learning signal: ∂ℓ/∂h, random feedback, a modulator, or ∂ℓ/∂h plus a synthetic gradient.
enum class SignalSource : uint8_t { Symmetric, RandomFeedback, Modulatory, Bootstrapped };
// Whether a low-pass filter κ is applied to the trace (e-prop).
enum class TraceFilter : uint8_t { None, Kappa };
// When weights change. Only PerStep is supported: the training loop decides.
enum class UpdateSchedule : uint8_t { PerStep, Window, SequenceEnd };

constexpr size_t number_of(TraceFactorization) { return 0; }
constexpr size_t number_of(TemporalRecursion) { return 1; }
constexpr size_t number_of(RecurrenceScope) { return 2; }
constexpr size_t number_of(SignalSource) { return 3; }
constexpr size_t number_of(TraceFilter) { return 4; }
constexpr size_t number_of(UpdateSchedule) { return 5; }
template <class A>
concept RuleAxis = requires(A axis) {
  number_of(axis);
};

// Name of an axis, and names of its values in the order of the enum: per_param, io_factorized, …
struct AxisWords {
  std::string              name;
  std::vector<std::string> values;
};
const AxisWords& axis_words(size_t axis);
size_t           axis_value(size_t axis, const std::string& word);  // throws a UserError with the nearest value
template <RuleAxis A>
const std::string& to_string(A value) {
  return axis_words(number_of(value)).values[static_cast<size_t>(value)];
}
template <RuleAxis A>
A axis_named(const std::string& value) {
  return static_cast<A>(axis_value(number_of(A{}), value));
}

// One value, or separate values for the x factor and the f factor of a factorized trace.
template <class T>
struct OneOrPair {
  T    x, f;
  bool is_pair;

  OneOrPair(T both = {}) : x(both), f(both), is_pair(false) {}
  OneOrPair(T x_side, T f_side) : x(x_side), f(f_side), is_pair(true) {}
  bool operator==(const OneOrPair&) const = default;
};

// Coordinates and their coefficients as the user gives them. The first value of each axis is its default.
struct RuleAxes {
  TraceFactorization           trace_factorization = TraceFactorization::PerParam;
  OneOrPair<TemporalRecursion> temporal_recursion  = TemporalRecursion::Jacobian;
  RecurrenceScope              recurrence_scope    = RecurrenceScope::Diagonal;
  SignalSource                 learning_signal     = SignalSource::Symmetric;
  TraceFilter                  trace_filter        = TraceFilter::None;
  UpdateSchedule               update_schedule     = UpdateSchedule::PerStep;

  std::optional<OneOrPair<double>> decay       = {};  // for scalar_leak and for both factors of io_factorized; in [0,1)
  std::optional<double>            kappa       = {};  // decay of the filter; in [0,1)
  std::optional<int64_t>           sparse_n    = {};  // the n of SnAp-n; at least 1
  std::optional<int64_t>           window_size = {};

  bool operator==(const RuleAxes&) const = default;
};

// The canonical form of the same rule. Idempotent. Does not change invalid points.
RuleAxes canonical(RuleAxes axes);

// A valid learning rule in canonical form.
class ETraceConfig {
 public:
  // Throws a UserError if the coordinates are incompatible; the message suggests the nearest valid point.
  explicit ETraceConfig(const RuleAxes& axes = {});

  const RuleAxes& axes() const { return axes_; }
  const RuleAxes* operator->() const { return &axes_; }
  bool            include_recurrent_mixing() const { return axes_.recurrence_scope != RecurrenceScope::Diagonal; }

  // A copy with some coordinates changed: config.replace([](bt::RuleAxes& a) { a.kappa = 0.5; … }).
  template <std::invocable<RuleAxes&> Change>
  ETraceConfig replace(Change change) const {
    RuleAxes changed = axes_;
    change(changed);
    return ETraceConfig(changed);
  }

  bool operator==(const ETraceConfig&) const = default;

  // The fields that differ from the default, such as "recurrence_scope=sparse_n sparse_n=2", or "default".
  std::string describe() const;

 private:
  RuleAxes axes_;
};

}  // namespace braintrace

template <>
struct std::hash<braintrace::ETraceConfig> {
  size_t operator()(const braintrace::ETraceConfig& config) const;
};
