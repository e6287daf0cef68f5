// SPDX-License-Identifier: Apache-2.0
// One model under one rule in one form, by the library and by the oracle.
#pragma once

#include <string>

#include "braintrace/base/dtype.h"
#include "tests/oracle/oracle.h"

namespace braintrace::oracle {

enum class RuleKind {
  D_RTRL,
  OSTL,
  ES_D_RTRL,
  EProp,
  EPropFeedback,        // from the states
  EPropOutputFeedback,  // from the output
  SnAp1,
  SnAp2,
  SnAp3,
  RTRL,
  BPTT,
  D_RTRL_MultiStep,
  OSTL_MultiStep,
  ES_MultiStep,
};
inline constexpr int num_rules = 14;
enum class Form {
  Step,    // one call per step
  Driver,  // etrace_grad, window by window
  Window,  // the learner called with several steps at once
};
struct Setting {
  RuleKind rule;
  Form     form  = Form::Step;
  bool     jit   = false;
  DType    dtype = DType::F64;
};
std::string to_text(const Setting& s);
// The largest difference that rounding may cause in f64. Feedback divides signals by their norm + 1e-8: near zero, the
// last digits of the difference it is computed from become 10⁸ times larger.
inline double tolerance(const Setting& s) { return s.rule == RuleKind::EPropFeedback ? 1e-6 : 1e-9; }
// Whether the rule defines this form on this model.
bool applies(const Setting& setting, const Model& model);

struct Outcome {
  std::vector<Grads> grads;  // of each call
  Numbers            losses;
};
Sizes   windows_of(const Model& model, Form form);  // lengths
Outcome by_library(const Model& model, const Data& data, const Setting& setting);
Outcome by_definition(const Model& model, const Data& data, const Setting& setting, Sabotage sabotage = Sabotage::None);

struct Verdict {
  double      worst = 0;  // of |got − want| / (1 + largest |want|) over all leaves and calls; infinite for NaN
  std::string where;
  int         leaves = 0, live = 0;  // how many were compared, and how many gradients are above 1e-6
};
Verdict compare(const Outcome& got, const Outcome& want);

}  // namespace braintrace::oracle
