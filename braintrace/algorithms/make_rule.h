// SPDX-License-Identifier: Apache-2.0
// From a point in the axis space to the engine that computes it.
#pragma once

#include "braintrace/algorithms/config.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// What a rule may be given. Each algorithm takes some of these; one that is given another says so.
struct RuleOptions {
  std::optional<VjpMethod>      vjp_method         = {};  // the algorithm's own when not given
  std::optional<TraceDecay>     decay_or_rank      = {};
  std::optional<double>         kappa_filter_decay = {};
  std::optional<RandomFeedback> feedback           = {};  // random feedback with this key; symmetric when not given
  std::optional<int64_t>        n                  = {};  // SnAp-n
  std::optional<DType>          trace_dtype        = {};  // storage of per-parameter traces
  std::optional<uint64_t>       projection_key     = {};  // of UORO's random signs
  std::optional<double>         projection_eps     = {};
  Tensor                        modulator          = {};  // of ThreeFactor; may also be given with each call
  // Of any learner.
  std::string    name         = {};
  CompileOptions compile      = {};
  bool           check_finite = false;
};

// "single-step" or "multi-step", exactly.
VjpMethod          vjp_method_named(const std::string& text);
const std::string& to_string(VjpMethod method);

// The way back through a window that a rule at this point takes when none is asked for.
VjpMethod own_method(const ETraceConfig& config);

// What a rule at this point needs besides a loss: "a modulator", "a synthesizer".
enum class Need : uint8_t { Nothing, Modulator, Synthesizer };
Need             need_of(const ETraceConfig& config);
std::string_view to_string(Need need);

// The settings of an engine at a point; throws UserError where the point belongs to another engine.
ParamDimOptions param_dim_options(const ETraceConfig& config, const RuleOptions& options);
IODimOptions    io_dim_options(const ETraceConfig& config, const RuleOptions& options);

// The rule at a point. Hyper-parameters that are coordinates (decay, kappa, n) are in the point, not in the options.
// `algorithm` is the name that messages use.
std::shared_ptr<const LearningRule> make_rule(const ETraceConfig& config, const RuleOptions& options = {},
                                              const std::string& algorithm = "ETraceConfig");
// A learner with that rule.
std::unique_ptr<OnlineLearner> make_learner(Module& model, const ETraceConfig& config, const RuleOptions& options = {},
                                            const std::string& algorithm = "ETraceConfig");

}  // namespace braintrace
