// SPDX-License-Identifier: Apache-2.0
// A network that keeps learning, as C99 for a device without operating system: inference, traces, gradient and weight
// update of one step, with the weights as they are now. The code generator is the one that also produces C for the
// compiler of this machine (codegen), in a portable form: no heap, no threads, and only memcpy and math.h of libc.
//
//   const bt::Exported c = bt::export_model(model, {bt::DType::F32, {10}}, {.rule = "D_RTRL", .name = "gru"});
//   for (const auto& file : c.files) …
//
// Files: model.h and model.c, test_data.h with a sequence recorded by the reference interpreter, test_main.c which
// replays it, and CMakeLists.txt.
#pragma once

#include <string>
#include <vector>

#include "braintrace/algorithms/make_rule.h"

namespace braintrace {

struct ExportOptions {
  std::string rule         = "D_RTRL";
  RuleOptions rule_options = {};
  std::string optimizer    = "sgd";  // or adam
  double      lr           = 0.01;
  std::string loss         = "mse";    // of output and target; or cross_entropy, of logits and an integer label
  std::string name         = "model";  // prefix of all C names
  int64_t     test_steps   = 20;       // of the recorded sequence
  uint64_t    seed         = 1;        // of the recorded sequence
};

// Bytes, known before any C compiler runs.
struct ExportSizes {
  int64_t constants = 0;  // in flash: initial weights and states, tables; code is extra
  int64_t states    = 0;  // in RAM: weights that learn, states, traces, memory of the optimizer
  int64_t arena     = 0;  // in RAM: values inside a step
  int64_t ram       = 0;  // both, with alignment; the stack is extra
};

struct ExportedFile {
  std::string name, text;
};
// A value that a step writes: a weight, a state, a trace, or memory of the optimizer. A field of the struct in model.h.
struct ExportedState {
  std::string path, name;  // rnn.W.weight, and the same as a C identifier
  Type        type;
  std::string label;  // for people: the path, or "trace of rnn.W.weight" where the path is etrace.0
};
struct Exported {
  std::vector<ExportedFile>  files;
  ExportSizes                sizes;
  std::string                name;  // prefix of all C names
  Type                       input, output, target;
  std::vector<ExportedState> states;
};

// `input` : type of one step's input. Initializes the model's states, not its weights. Throws UserError for a rule that
// cannot learn step by step, and for an operation that cannot be written as C, with its name and layer.
Exported export_model(Module& model, const Type& input, const ExportOptions& options = {});

// Limit for the worst error of the replay, in units in the last place of the largest value of each recorded array.
// Networks with larger rounding errors, such as deep ones, get a larger limit.
inline constexpr int export_test_ulp = 64;

}  // namespace braintrace
