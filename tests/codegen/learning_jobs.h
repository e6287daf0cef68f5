// SPDX-License-Identifier: Apache-2.0
// One update of the weights of a small network as a program, under a learning rule.
#pragma once

#include "braintrace/backends/cpu/stepper.h"
#include "tests/codegen/agreement.h"

namespace braintrace::testing_support {

// From one step; from a window of steps with traces before and after it; from a sequence that starts and ends without.
enum class Form : uint8_t { Step, Window, Sequence };

struct LearningOptions {
  std::string kind  = "gru";  // rnn, gru, lstm, lif or alif
  std::string rule  = "D_RTRL";
  Form        form  = Form::Step;
  DType       dtype = DType::F64;
  int64_t     batch = 3, n_in = 4, n = 6, n_out = 2, steps = 5, layers = 1;
  bool        first = true;  // a step has run, so that traces are not zero
};

struct LearningJob : Job {
  std::vector<cpu::Stepper::Feed> feeds;            // states that it hands on
  int64_t                         trace_bytes = 0;  // of what the learner carries
};
LearningJob learning_job(const LearningOptions& options);

// Under D_RTRL, ES_D_RTRL and BPTT, by step and by window.
std::vector<Job> learning_jobs(std::initializer_list<const char*> kinds, DType dtype);

}  // namespace braintrace::testing_support
