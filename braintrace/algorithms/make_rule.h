// SPDX-License-Identifier: Apache-2.0
// Constructs the rule for a point in the axis space.
#pragma once

#include "braintrace/algorithms/config.h"
#include "braintrace/algorithms/es_d_rtrl.h"
#include "braintrace/algorithms/param_dim.h"

namespace braintrace {

// Options of learning rules. Each algorithm accepts some of them and throws a UserError for any other.
struct RuleOptions {
  std::optional<VjpMethod>      vjp_method         = {};  // default: the algorithm's own
  std::optional<TraceDecay>     decay_or_rank      = {};
  std::optional<double>         kappa_filter_decay = {};
  std::optional<RandomFeedback> feedback           = {};  // random feedback; default: symmetric
  std::optional<int64_t>        n                  = {};  // the n of SnAp-n
  std::optional<DType>          trace_dtype        = {};  // storage type of per-parameter traces
  std::optional<uint64_t>       projection_key     = {};  // seed of UORO's random signs
  std::optional<double>         projection_eps     = {};
  Tensor                        modulator          = {};  // for ThreeFactor; can also be given with each call
  // Common to all learners.
  std::string    name         = {};
  CompileOptions compile      = {};
  bool           check_finite = false;
};

// Calls visit(name, field) for each option that only some algorithms accept.
template <class Options, class Visit>
void for_each_option(Options& o, const Visit& visit) {
  visit("decay_or_rank", o.decay_or_rank);
  visit("kappa_filter_decay", o.kappa_filter_decay);
  visit("feedback", o.feedback);
  visit("n", o.n);
  visit("trace_dtype", o.trace_dtype);
  visit("projection_key", o.projection_key);
  visit("projection_eps", o.projection_eps);
  visit("modulator", o.modulator);
}

// Accepts exactly "single-step" and "multi-step".
VjpMethod          vjp_method_named(const std::string& text);
const std::string& to_string(VjpMethod method);

// The default VjpMethod of a rule at this point.
VjpMethod own_method(const ETraceConfig& config);

// What a rule at this point needs in addition to a loss: "a modulator", "a synthesizer".
enum class Need : uint8_t { Nothing, Modulator, Synthesizer };
Need             need_of(const ETraceConfig& config);
std::string_view to_string(Need need);

// Options of a rule family at a point. Throws a UserError if the point belongs to a different family.
ParamDimOptions param_dim_options(const ETraceConfig& config, const RuleOptions& options);
IODimOptions    io_dim_options(const ETraceConfig& config, const RuleOptions& options);

// The rule at a point. Coordinates (decay, kappa, n) come from `config`, not `options`. Messages say `algorithm`.
std::shared_ptr<const LearningRule> make_rule(const ETraceConfig& config, const RuleOptions& options = {},
                                              const std::string& algorithm = "ETraceConfig");
// A learner with the rule at a point.
std::unique_ptr<OnlineLearner> make_learner(Module& model, const ETraceConfig& config, const RuleOptions& options = {},
                                            const std::string& algorithm = "ETraceConfig");

}  // namespace braintrace
