// SPDX-License-Identifier: Apache-2.0
// The algorithms by name. All that other layers ask of one is in its record: its point in the axis space, what it may
// be given, what it needs, in which form it learns. Nobody else knows a rule by its name.
#pragma once

#include <functional>
#include <vector>

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

// The forms in which a rule learns from a sequence, the one to recommend first.
enum class RuleForm : uint8_t {
  Steps,      // step by step, what it remembers carries credit; a window learns the same
  Window,     // a window over the sequence learns the same as steps, with less work
  WindowOnly  // it remembers nothing: credit ends with the window, and is exact inside it
};

// What rules are given where they are compared with each other, and nobody has chosen.
struct UsualOptions {
  RuleOptions options;
  std::string text;  // "decay 0.9"
};

struct Algorithm {
  std::string              name;          // D_RTRL, …
  std::vector<std::string> aliases = {};  // other spellings
  std::string              doc;
  std::vector<std::string> options = {};  // fields of RuleOptions it takes besides vjp_method
  // The point for these options; null for an algorithm outside the axis space, which then has `rule`.
  std::function<ETraceConfig(const RuleOptions& options)> config = {};
  std::function<std::shared_ptr<const LearningRule>()>    rule   = {};

  UsualOptions (*usual)(uint64_t seed) = [](uint64_t) { return UsualOptions(); };
  RuleForm form                        = RuleForm::Steps;
  int      rank                        = 100;    // how good its gradients are as a rule of thumb; 1 is preferred to 2
  bool     representative              = false;  // of its family, where only some rules are measured

  Need needs() const { return config ? need_of(config({})) : Need::Nothing; }
  bool learns_step_by_step() const { return form != RuleForm::WindowOnly; }
  bool has_trace_per_weight() const;

  // Throws UserError for an option it does not take, or one it needs.
  std::unique_ptr<OnlineLearner> learner(Module& model, const RuleOptions& options) const;
};

// Those that were found stay where they are when others are registered.
std::vector<std::reference_wrapper<const Algorithm>> algorithms();
// Adds a rule of your own; everything that takes the name of a rule takes it then. One of your own that has this name
// gives way to it; learners that were made keep theirs. Before other threads ask for rules.
void register_algorithm(Algorithm algorithm);
// In any spelling and case; throws UserError with the nearest name.
const Algorithm& algorithm_named(const std::string& name);
// Names of the representative ones.
std::vector<std::string> representative_algorithms();
// One line per algorithm: names, options, what it is.
std::string list_of_algorithms();

}  // namespace braintrace
