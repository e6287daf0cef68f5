// SPDX-License-Identifier: Apache-2.0
// A learning rule as a point in a space of six axes. A point is brought to its canonical form and checked when it is
// made, so a rule that makes no sense cannot be written down; two ways of saying the same rule are equal.
//
//   bt::ETraceConfig({.recurrence_scope = bt::RecurrenceScope::Coupled})        OSTL for recurrent nets
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braintrace {

enum class TraceFactorization : uint8_t { PerParam, IoFactorized, RandomProjection };
enum class TemporalRecursion : uint8_t { Jacobian, ScalarLeak, None };
enum class RecurrenceScope : uint8_t { Diagonal, Coupled, SparseN };
enum class SignalSource : uint8_t { Symmetric, RandomFeedback, Modulatory, Bootstrapped };
enum class TraceFilter : uint8_t { None, Kappa };
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

// The name of an axis and of its values in the order above: per_param, io_factorized, …
struct AxisWords {
  std::string              name;
  std::vector<std::string> values;
};
const AxisWords& axis_words(size_t axis);
size_t           axis_value(size_t axis, const std::string& word);  // throws UserError with the nearest value
template <RuleAxis A>
const std::string& to_string(A value) {
  return axis_words(number_of(value)).values[static_cast<size_t>(value)];
}
template <RuleAxis A>
A axis_named(const std::string& value) {
  return static_cast<A>(axis_value(number_of(A{}), value));
}

// One value, or one for the x side and one for the f side of a factorized trace.
template <class T>
struct OneOrPair {
  T    x, f;
  bool is_pair;

  OneOrPair(T both = {}) : x(both), f(both), is_pair(false) {}
  OneOrPair(T x_side, T f_side) : x(x_side), f(f_side), is_pair(true) {}
  bool operator==(const OneOrPair&) const = default;
};

// Coordinates and their coefficients, as written; the first value of each axis is its default.
struct RuleAxes {
  TraceFactorization           trace_factorization = TraceFactorization::PerParam;
  OneOrPair<TemporalRecursion> temporal_recursion  = TemporalRecursion::Jacobian;
  RecurrenceScope              recurrence_scope    = RecurrenceScope::Diagonal;
  SignalSource                 learning_signal     = SignalSource::Symmetric;
  TraceFilter                  trace_filter        = TraceFilter::None;
  UpdateSchedule               update_schedule     = UpdateSchedule::PerStep;

  std::optional<OneOrPair<double>> decay       = {};  // of scalar_leak, and of both sides of io_factorized; in [0,1)
  std::optional<double>            kappa       = {};  // of the filter; in [0,1)
  std::optional<int64_t>           sparse_n    = {};  // SnAp-n; at least 1
  std::optional<int64_t>           window_size = {};

  bool operator==(const RuleAxes&) const = default;
};

// The unique way of writing the same rule. Leaves what is illegal as it is; applying it twice changes nothing.
RuleAxes canonical(RuleAxes axes);

class ETraceConfig {
 public:
  // Throws UserError when the coordinates do not go together; the message names the nearest that do.
  explicit ETraceConfig(const RuleAxes& axes = {});

  const RuleAxes& axes() const { return axes_; }
  const RuleAxes* operator->() const { return &axes_; }
  bool            include_recurrent_mixing() const { return axes_.recurrence_scope != RecurrenceScope::Diagonal; }

  // The point with some coordinates changed: config.replace([](bt::RuleAxes& a) { a.kappa = 0.5; … }).
  template <std::invocable<RuleAxes&> Change>
  ETraceConfig replace(Change change) const {
    RuleAxes changed = axes_;
    change(changed);
    return ETraceConfig(changed);
  }

  bool operator==(const ETraceConfig&) const = default;

  // What differs from the default, such as "recurrence_scope=sparse_n sparse_n=2"; "default" when nothing does.
  std::string describe() const;

 private:
  RuleAxes axes_;
};

}  // namespace braintrace

template <>
struct std::hash<braintrace::ETraceConfig> {
  size_t operator()(const braintrace::ETraceConfig& config) const;
};
