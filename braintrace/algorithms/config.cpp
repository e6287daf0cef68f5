// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/config.h"

#include "braintrace/base/error.h"
#include "braintrace/base/hash.h"

namespace braintrace {

namespace {

using enum TraceFactorization;
using enum TemporalRecursion;

void require_fraction(const char* name, double value) {
  require(value >= 0 && value < 1, "ETraceConfig: {} must be in [0, 1), got {}.", name, value);
}

// Ranges are checked first; `canonical` then compares coefficients with zero and one.
void check_ranges(const RuleAxes& a) {
  if (a.decay) {
    require_fraction(a.decay->is_pair ? "decay of the x side" : "decay", a.decay->x);
    require_fraction(a.decay->is_pair ? "decay of the f side" : "decay", a.decay->f);
  }
  if (a.kappa) require_fraction("kappa", *a.kappa);
  if (a.sparse_n)
    require(*a.sparse_n >= 1, "ETraceConfig: sparse_n must be at least 1 (1 is the scope 'coupled'), got {}.",
            *a.sparse_n);
  if (a.window_size)
    require(*a.window_size >= 1, "ETraceConfig: window_size must be at least 1, got {}.", *a.window_size);
}

void check_schedule(const RuleAxes& a) {
  require(a.update_schedule == UpdateSchedule::PerStep,
          "ETraceConfig: update_schedule '{}' is not supported: the training loop decides when weights change.\n  Use "
          "'per_step'; a call with MultiStepData sums the gradients of several steps.",
          to_string(a.update_schedule));
  require(!a.window_size,
          "ETraceConfig: window_size belongs to update_schedule 'window', which is not supported.\n  Leave it out; a "
          "window is "
          "as long as its MultiStepData.");
}

// per_param and random_projection have a single recursion, not one per factor.
void check_single_recursion(const RuleAxes& a) {
  const std::string& engine = to_string(a.trace_factorization);
  require(!a.temporal_recursion.is_pair && !(a.decay && a.decay->is_pair),
          "ETraceConfig: '{}' has one trace, but temporal_recursion or decay is a pair.\n  Give one value, or use "
          "'io_factorized', which has an x side and an f side.",
          engine);
  const TemporalRecursion recursion = a.temporal_recursion.f;
  require(recursion != Jacobian || !a.decay,
          "ETraceConfig: '{}' with temporal_recursion 'jacobian' takes no decay, got {}.\n  Leave it out, or use "
          "'scalar_leak' with it, or 'io_factorized'.",
          engine, a.decay ? a.decay->f : 0);
  require(recursion != ScalarLeak || a.decay,
          "ETraceConfig: temporal_recursion 'scalar_leak' needs a decay in [0, 1).\n  Give one, or use 'jacobian'.");
  require(recursion != None || a.decay->f == 0,
          "ETraceConfig: temporal_recursion 'none' keeps nothing, but decay is {}.\n  Leave the decay out, or use "
          "'scalar_leak' with it.",
          a.decay ? a.decay->f : 0);
}

void check_two_recursions(const RuleAxes& a) {
  require(a.temporal_recursion.x != Jacobian,
          "ETraceConfig: the x side of 'io_factorized' filters inputs and has no 'jacobian'.\n  Use 'scalar_leak' or "
          "'none' there, or give the single value 'jacobian' for the f side.");
  require(a.decay.has_value(),
          "ETraceConfig: 'io_factorized' needs the decay of both sides: one number in [0, 1) or a pair.");
  const auto check_side = [](const char* side, TemporalRecursion recursion, double decay) {
    require(recursion != None || decay == 0,
            "ETraceConfig: temporal_recursion 'none' keeps nothing, but decay of the {} side is {}.\n  Make it 0, or "
            "use 'scalar_leak' there.",
            side, decay);
  };
  check_side("x", a.temporal_recursion.x, a.decay->x);
  check_side("f", a.temporal_recursion.f, a.decay->f);
}

void check_filter(const RuleAxes& a) {
  const bool filters = a.trace_filter == TraceFilter::Kappa;
  require(!filters || a.kappa, "ETraceConfig: trace_filter 'kappa' needs kappa in [0, 1).\n  Give it, or use 'none'.");
  require(filters || !a.kappa,
          "ETraceConfig: kappa is {}, but trace_filter is 'none'.\n  Use trace_filter 'kappa', or leave kappa out.",
          a.kappa.value_or(0));
  require(!filters || a.trace_factorization == PerParam,
          "ETraceConfig: trace_filter 'kappa' needs trace_factorization 'per_param', got '{}'.\n  Use 'per_param', or "
          "trace_filter 'none'.",
          to_string(a.trace_factorization));
}

void check_scope(const RuleAxes& a) {
  const bool sparse = a.recurrence_scope == RecurrenceScope::SparseN;
  require(
      !sparse || a.sparse_n,
      "ETraceConfig: recurrence_scope 'sparse_n' needs sparse_n, the number of steps credit may spread.\n  Give it, "
      "or use 'coupled'.");
  require(sparse || !a.sparse_n,
          "ETraceConfig: sparse_n is {}, but recurrence_scope is '{}'.\n  Use recurrence_scope 'sparse_n', or leave it "
          "out.",
          a.sparse_n.value_or(0), to_string(a.recurrence_scope));
  require(a.trace_factorization != RandomProjection || a.recurrence_scope == RecurrenceScope::Coupled,
          "ETraceConfig: 'random_projection' needs recurrence_scope 'coupled', got '{}'.\n  Use 'coupled', or "
          "'per_param' for this scope.",
          to_string(a.recurrence_scope));
  require(!sparse || a.trace_factorization == PerParam,
          "ETraceConfig: recurrence_scope 'sparse_n' needs trace_factorization 'per_param', got '{}'.\n  Use "
          "'per_param', or the scope 'diagonal' or 'coupled'.",
          to_string(a.trace_factorization));
  require(a.recurrence_scope == RecurrenceScope::Diagonal || a.temporal_recursion.f == Jacobian,
          "ETraceConfig: recurrence_scope '{}' says which Jacobian is used, but temporal_recursion '{}' uses none.\n  "
          "Use the recursion 'jacobian' with a decay above 0 where it takes one, or the scope 'diagonal'.",
          to_string(a.recurrence_scope), to_string(a.temporal_recursion.f));
}

RuleAxes checked(const RuleAxes& written) {
  check_ranges(written);
  RuleAxes a = canonical(written);
  check_schedule(a);
  a.trace_factorization == IoFactorized ? check_two_recursions(a) : check_single_recursion(a);
  check_filter(a);
  check_scope(a);
  return a;
}

}  // namespace

RuleAxes canonical(RuleAxes a) {
  auto& recursion = a.temporal_recursion;
  if (a.trace_factorization == IoFactorized) {
    if (!recursion.is_pair) recursion = {recursion.x == Jacobian ? ScalarLeak : recursion.x, recursion.f};
    if (!a.decay && recursion == OneOrPair(None, None)) a.decay = 0.0;
    if (a.decay) {
      a.decay = {a.decay->x, a.decay->f};
      if (a.decay->x == 0) recursion.x = None;
      if (a.decay->f == 0) recursion.f = None;
    }
  } else if (!recursion.is_pair && !(a.decay && a.decay->is_pair)) {
    if (recursion.f == ScalarLeak && a.decay && a.decay->f == 0) recursion = None;
    if (recursion.f == None && !a.decay) a.decay = 0.0;
  }
  if (a.kappa && *a.kappa == 0) {
    a.kappa.reset();
    a.trace_filter = TraceFilter::None;
  }
  if (a.recurrence_scope == RecurrenceScope::SparseN && a.sparse_n == 1) {
    a.sparse_n.reset();
    a.recurrence_scope = RecurrenceScope::Coupled;
  }
  return a;
}

ETraceConfig::ETraceConfig(const RuleAxes& axes) : axes_(checked(axes)) {}

}  // namespace braintrace

size_t std::hash<braintrace::ETraceConfig>::operator()(const braintrace::ETraceConfig& config) const {
  const braintrace::RuleAxes& a    = config.axes();
  size_t                      seed = 0;
  for (auto axis :
       {size_t(a.trace_factorization), size_t(a.temporal_recursion.x), size_t(a.temporal_recursion.f),
        size_t(a.recurrence_scope), size_t(a.learning_signal), size_t(a.trace_filter), size_t(a.sparse_n.value_or(0))})
    braintrace::hash_add(seed, axis);
  for (double c : {a.decay ? a.decay->x : -1, a.decay ? a.decay->f : -1, a.kappa.value_or(-1)})
    braintrace::hash_add(seed, std::hash<double>()(c));
  return seed;
}
