// SPDX-License-Identifier: Apache-2.0
// A network that keeps learning, as C99 for a device without operating system: inference, traces, gradient and weight
// update of one step, with the weights as they are now. The text comes from the emitter that also feeds the C compiler
// of this machine (codegen), in its portable dialect: no heap, no threads, nothing of libc but memcpy and math.h.
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
  std::string name         = "model";  // first part of all C names
  int64_t     test_steps   = 20;       // of the recorded sequence
  uint64_t    seed         = 1;        // of the recorded sequence
};

// Bytes, known before any C compiler runs.
struct ExportSizes {
  int64_t constants = 0;  // in flash: first values of weights and states, tables; code comes on top
  int64_t states    = 0;  // in RAM: weights that learn, states, traces, memory of the optimizer
  int64_t arena     = 0;  // in RAM: values inside a step
  int64_t ram       = 0;  // both, as the C compiler lays them out; the stack comes on top
};

struct ExportedFile {
  std::string name, text;
};
// What a step writes: a weight, a state, a trace, or memory of the optimizer. A field of the struct in model.h.
struct ExportedState {
  std::string path, name;  // rnn.W.weight, and the same as a C identifier
  Type        type;
};
struct Exported {
  std::vector<ExportedFile>  files;
  ExportSizes                sizes;
  std::string                name;  // first part of all C names
  Type                       input, output, target;
  std::vector<ExportedState> states;
};

// `input` : type of one step's input. Initializes the model's states, not its weights. Throws UserError for a rule that
// cannot learn one step at a time, and for an operation that needs this library, with its name and layer.
Exported export_model(Module& model, const Type& input, const ExportOptions& options = {});

// Limit of the replay's worst error, in units in the last place of the largest value of each recorded array.
inline constexpr int export_test_ulp = 64;

}  // namespace braintrace
