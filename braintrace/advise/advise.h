// SPDX-License-Identifier: Apache-2.0
// Estimates the cost of training a model with each learning rule, from the programs that would run, without running
// them: memory from the states and the memory plan, time from the work of every stage and a short benchmark.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braintrace/model/module.h"

namespace braintrace {

struct AdviseOptions {
  int64_t                  batch   = 1;
  int64_t                  length  = 100;  // steps of a sequence
  std::optional<int64_t>   memory  = {};   // memory limit in bytes; default: the memory of this machine
  std::string              backend = "cpu";
  std::vector<std::string> rules   = {};     // names; empty: all rules that need only a loss
  bool                     measure = false;  // run each briefly, in its own process
};

// How a rule processes a sequence.
enum class Form : uint8_t {
  Step,      // one step at a time, an update after each; traces carry the past
  Window,    // the whole sequence at once, then an update; no trace is kept
  Truncated  // BPTT over pieces of the sequence, an update after each
};
std::string_view name_of(Form form);

struct Candidate {
  std::string rule, setting;  // EProp, "kappa 0.5"
  Form        form   = Form::Step;
  int64_t     window = 1;  // steps between updates
};

// Bytes at the peak.
struct Memory {
  int64_t weights = 0, optimizer = 0, states = 0, traces = 0;
  int64_t data    = 0;  // inputs and targets of one call
  int64_t work    = 0;  // new values of everything that changes, and intermediate values
  int64_t program = 0;  // tracing, compiling and loading
  int64_t total() const { return weights + optimizer + states + traces + data + work + program; }
};

struct Cost {
  Candidate              candidate;
  std::string            left_out;  // why there are no numbers; empty otherwise
  Memory                 memory;
  double                 flops_per_step = 0, bytes_per_step = 0;  // operations, and memory traffic, for the whole batch
  double                 seconds_per_step = 0;                    // an estimate
  std::optional<int64_t> measured_memory  = {};                   // growth of the resident set at its peak
  std::optional<double>  measured_seconds = {};                   // per step
};

struct Advice {
  std::string           model;
  Type                  input;  // of one step, with its batch
  AdviseOptions         options;
  std::vector<Cost>     costs;
  std::optional<size_t> recommended;  // index into costs; none if nothing fits
  std::string           reason;
};

// The optimizer is Adam, the loss a mean square. Throws UserError without a C compiler.
Advice advise(Module& model, const std::string& name, const Type& input, const AdviseOptions& options);

std::string advice_table(const Advice& advice);
std::string advice_json(const Advice& advice);

// "4GiB", "512 MB", "1000000" → bytes
int64_t     bytes_in(const std::string& text);
std::string bytes_text(double bytes);

}  // namespace braintrace
