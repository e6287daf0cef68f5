// SPDX-License-Identifier: Apache-2.0
// Registry of algorithms. A record describes everything that other layers need to know about a rule: its point in the
// axis space, its options, its needs, and the form in which it learns. No other code depends on the name of a rule.
#pragma once

#include <functional>
#include <vector>

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

// How a rule processes a sequence; the recommended form.
enum class RuleForm : uint8_t {
  Steps,      // step by step; a window gives the same gradient
  Window,     // in windows, which give the same gradient as steps with less work
  WindowOnly  // in windows only: no memory, so credit is exact inside a window and truncated at its start
};

// Options for comparisons between rules when the user gives none.
struct UsualOptions {
  RuleOptions options;
  std::string text;  // "decay 0.9"
};

// The record of an algorithm.
struct Algorithm {
  std::string              name;          // D_RTRL, …
  std::vector<std::string> aliases = {};  // alternative spellings
  std::string              doc;
  std::vector<std::string> options = {};  // the fields of RuleOptions it accepts, in addition to vjp_method
  // The point for given options. Null for an algorithm outside the axis space, which sets `rule` instead.
  std::function<ETraceConfig(const RuleOptions& options)> config = {};
  std::function<std::shared_ptr<const LearningRule>()>    rule   = {};

  UsualOptions (*usual)(uint64_t seed) = [](uint64_t) { return UsualOptions(); };
  RuleForm form                        = RuleForm::Steps;
  int      rank                        = 100;    // expected quality of its gradients; 1 is the best
  bool     representative              = false;  // of its family, for measurements that include only some rules

  Need needs() const { return config ? need_of(config({})) : Need::Nothing; }
  bool learns_step_by_step() const { return form != RuleForm::WindowOnly; }
  bool has_trace_per_weight() const;

  // Throws a UserError for an unsupported option or a missing required one.
  std::unique_ptr<OnlineLearner> learner(Module& model, const RuleOptions& options) const;
};

// All algorithms. References stay valid when more are registered.
std::vector<std::reference_wrapper<const Algorithm>> algorithms();
// Registers a custom rule; its name is then accepted everywhere. Replaces a custom rule of the same name, but existing
// learners keep theirs. Not thread-safe: register before other threads look up rules.
void register_algorithm(Algorithm algorithm);
// Ignores case and accepts aliases; throws a UserError that suggests the nearest name.
const Algorithm& algorithm_named(const std::string& name);
// Names of the representative algorithms.
std::vector<std::string> representative_algorithms();
// One line per algorithm: names, options, description.
std::string list_of_algorithms();

}  // namespace braintrace
