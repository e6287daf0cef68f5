// SPDX-License-Identifier: Apache-2.0
#include "braintrace/algorithms/make_rule.h"

#include "braintrace/algorithms/dni.h"
#include "braintrace/algorithms/snap.h"
#include "braintrace/algorithms/three_factor.h"
#include "braintrace/algorithms/uoro.h"

namespace braintrace {

namespace {

void require_engine(const ETraceConfig& config, TraceFactorization engine) {
  require(config->trace_factorization == engine, "this engine computes trace_factorization '{}', got '{}'.",
          to_string(engine), to_string(config->trace_factorization));
}

// Checks that do not depend on the rule family.
void check(const ETraceConfig& config, const RuleOptions& o, const std::string& name) {
  const char* given = o.decay_or_rank        ? "decay_or_rank"
                      : o.kappa_filter_decay ? "kappa_filter_decay"
                      : o.n                  ? "n"
                                             : nullptr;
  require(!given, "{}: {} is given twice.\n  It is a coordinate: set it in the ETraceConfig ({}) only.", name,
          given ? given : "", config.describe());
  const SignalSource signal = config->learning_signal;
  require(signal != SignalSource::RandomFeedback || o.feedback,
          "{}: learning_signal 'random_feedback' needs a key.\n  Give feedback with a key, or use 'symmetric'.", name);
  require(signal == SignalSource::RandomFeedback || !o.feedback,
          "{}: feedback is given, but learning_signal is '{}'.\n  Use 'random_feedback', or leave it out.", name,
          to_string(signal));
  require(signal != SignalSource::Modulatory || o.vjp_method.value_or(VjpMethod::SingleStep) == VjpMethod::SingleStep,
          "{}: learning_signal 'modulatory' needs vjp_method 'single-step', got 'multi-step'.\n  Only this method has "
          "a learning signal at every step.",
          name);
  require(signal != SignalSource::Bootstrapped || o.vjp_method.value_or(VjpMethod::MultiStep) == VjpMethod::MultiStep,
          "{}: learning_signal 'bootstrapped' needs vjp_method 'multi-step', got 'single-step'.\n  It estimates what "
          "reverse mode misses after a window.",
          name);
  require(signal == SignalSource::Modulatory || !o.modulator.defined(),
          "{}: a modulator is given, but learning_signal is '{}'.\n  Use 'modulatory', or leave it out.", name,
          to_string(signal));
  require(
      config->trace_factorization == TraceFactorization::RandomProjection || !(o.projection_key || o.projection_eps),
      "{}: projection_key and projection_eps belong to 'random_projection', but trace_factorization is '{}'.", name,
      to_string(config->trace_factorization));
  require(!o.trace_dtype || config->trace_factorization == TraceFactorization::PerParam,
          "{}: trace_dtype is the storage of per-parameter traces, but trace_factorization is '{}'.\n  Leave it out.",
          name, to_string(config->trace_factorization));
  require(signal == SignalSource::Symmetric || config->trace_factorization != TraceFactorization::RandomProjection,
          "{}: 'random_projection' estimates the true gradient and takes only learning_signal 'symmetric', got '{}'.",
          name, to_string(signal));
  require(signal != SignalSource::Bootstrapped || (config->trace_factorization == TraceFactorization::PerParam &&
                                                   config->recurrence_scope != RecurrenceScope::SparseN),
          "{}: learning_signal 'bootstrapped' needs 'per_param' traces in the scope 'diagonal' or 'coupled', got {}.",
          name, config.describe());
}

LearningSignal signal_of(const ETraceConfig& config, const RuleOptions& o) {
  if (config->learning_signal == SignalSource::RandomFeedback)
    return LearningSignal::random_feedback(o.feedback.value_or(RandomFeedback{}));
  if (config->learning_signal == SignalSource::Modulatory) return LearningSignal::modulatory();
  return {};  // a bootstrapped signal is added to the true one at the end of a window
}

}  // namespace

VjpMethod own_method(const ETraceConfig& config) {
  return config->trace_factorization == TraceFactorization::RandomProjection ||
                 config->learning_signal == SignalSource::Bootstrapped
             ? VjpMethod::MultiStep
             : VjpMethod::SingleStep;
}

Need need_of(const ETraceConfig& config) {
  return config->learning_signal == SignalSource::Modulatory     ? Need::Modulator
         : config->learning_signal == SignalSource::Bootstrapped ? Need::Synthesizer
                                                                 : Need::Nothing;
}
std::string_view to_string(Need need) {
  return need == Need::Modulator ? "a modulator" : need == Need::Synthesizer ? "a synthesizer" : "nothing";
}

ParamDimOptions param_dim_options(const ETraceConfig& config, const RuleOptions& o) {
  require_engine(config, TraceFactorization::PerParam);
  ParamDimOptions out{.kappa       = config->kappa.value_or(0),
                      .signal      = signal_of(config, o),
                      .coupled     = config.include_recurrent_mixing(),
                      .trace_dtype = o.trace_dtype};
  if (config->temporal_recursion.f != TemporalRecursion::Jacobian) out.leak = config->decay->f;
  return out;
}

IODimOptions io_dim_options(const ETraceConfig& config, const RuleOptions& o) {
  require_engine(config, TraceFactorization::IoFactorized);
  IODimOptions out{.decay   = {config->decay->x, config->decay->f},
                   .signal  = signal_of(config, o),
                   .coupled = config.include_recurrent_mixing()};
  // ε^f already decays by α_f, so its leak factor is 1.
  if (config->temporal_recursion.f == TemporalRecursion::ScalarLeak) out.leak = 1;
  if (config->temporal_recursion.f == TemporalRecursion::None) out.leak = 0;
  return out;
}

std::shared_ptr<const LearningRule> make_rule(const ETraceConfig& config, const RuleOptions& options,
                                              const std::string& name) {
  check(config, options, name);
  if (config->trace_factorization == TraceFactorization::IoFactorized)
    return std::make_shared<IODimRule>(name, io_dim_options(config, options));
  if (config->trace_factorization == TraceFactorization::RandomProjection) {
    const UoroOptions standard;
    return std::make_shared<UoroRule>(UoroOptions{options.projection_key.value_or(standard.projection_key),
                                                  options.projection_eps.value_or(standard.projection_eps)});
  }
  if (config->recurrence_scope == RecurrenceScope::SparseN)
    return std::make_shared<SnapRule>(static_cast<int>(*config->sparse_n), param_dim_options(config, options));
  return std::make_shared<ParamDimRule>(name, param_dim_options(config, options));
}

std::unique_ptr<OnlineLearner> make_learner(Module& model, const ETraceConfig& config, const RuleOptions& options,
                                            const std::string& name) {
  LearnerOptions learner{.vjp_method   = options.vjp_method.value_or(own_method(config)),
                         .compile      = options.compile,
                         .name         = options.name,
                         .check_finite = options.check_finite};
  auto           rule = make_rule(config, options, name);
  if (need_of(config) == Need::Modulator)
    return std::make_unique<ThreeFactor>(model, std::move(rule), options.modulator, std::move(learner));
  if (need_of(config) == Need::Synthesizer)
    return std::make_unique<DNI>(model, nullptr, std::move(learner), std::move(rule));
  return std::make_unique<OnlineLearner>(model, std::move(rule), std::move(learner));
}

}  // namespace braintrace
