// SPDX-License-Identifier: Apache-2.0
// How close the learning rules come to the exact gradient on a model: every rule runs over the same random sequence,
// step by step and in windows, and its gradient is compared with that of BPTT, parameter by parameter.
//
//   loss = Σ_t mean((y_t − target_t)²), or only its last term
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braintrace/model/module.h"

namespace braintrace {

struct FidelityOptions {
  int64_t                  steps        = 20;
  std::vector<int64_t>     windows      = {};                // steps of a window; empty: 1, 5 and the whole sequence
  std::vector<std::string> rules        = {};                // names; empty: all rules that need only a loss
  bool                     last_only    = false;             // only the last step has a target
  uint64_t                 seed         = 1;                 // of inputs, targets and random signs
  int64_t                  memory_limit = int64_t{1} << 28;  // bytes of traces; rules that need more are skipped
};

// Comparison of a gradient with the exact one.
struct Closeness {
  double cosine = 0, norm_ratio = 0;
};

struct RuleFidelity {
  std::string            rule, setting;  // EProp, "kappa 0.5"
  int64_t                window = 1;
  std::string            left_out;  // why there are no numbers; empty otherwise
  std::vector<Closeness> parameters, layers;
  Closeness              all;
  int64_t                trace_bytes      = 0;
  double                 seconds_per_step = 0;  // after the first pass, gradients included
};

struct FidelityReport {
  std::string               model;
  Type                      input;
  int64_t                   steps = 0;
  std::vector<std::string>  parameters;  // leaves: rnn.Wz.weight.weight
  std::vector<bool>         windowed;    // which of them learn only inside a window
  std::vector<std::string>  layers;      // first parts of their paths
  std::vector<double>       norms;       // of the exact gradient
  std::vector<RuleFidelity> rules;
};

// Each run starts from the initial states of the model.
FidelityReport measure_fidelity(Module& model, const std::string& name, const Type& input,
                                const std::optional<int64_t>& batch, const FidelityOptions& options = {});

std::string fidelity_table(const FidelityReport& report);
std::string fidelity_json(const FidelityReport& report);
std::string fidelity_svg(const FidelityReport& report);

}  // namespace braintrace
