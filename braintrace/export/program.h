// SPDX-License-Identifier: Apache-2.0
// The exported programs before code generation: three programs that share one table of states.
#pragma once

#include "braintrace/codegen/c/emit.h"
#include "braintrace/export/export.h"
#include "braintrace/model/frame.h"

namespace braintrace::exporting {

// A tensor that outlives a step.
struct Slot {
  StateLeaf   leaf;
  std::string path;                // rnn.W.bias; of the learner etrace.0, of the optimizer optimizer.…
  std::string name;                // the same as a C identifier
  std::string label;               // as in ExportedState
  Array       initial;             // initial value
  bool        is_written = false;  // by any of the programs; the others stay in flash
  bool        is_reset   = false;  // reset before a new sequence
};

// (arguments, states) → (results, states')
struct Function {
  std::string         name, doc;
  StatefulProgram     traced;  // simplified
  Arrays              constants;
  std::vector<size_t> reads, writes;  // slots
};

struct LearningProgram {
  std::vector<Slot> slots;
  Function          predict, observe, learn;  // (x) → (y); (x) → (y); (x, target) → (y, loss)
  Type              x, y, target;

  std::vector<const Function*> functions() const { return {&predict, &observe, &learn}; }
};

LearningProgram trace_learning(Module& model, const Type& input, const ExportOptions& options);

// Text.
std::string identifier(const std::string& path);
struct ModelText {
  std::string header, source;
  ExportSizes sizes;
};
ModelText   model_text(const LearningProgram& program, const ExportOptions& options);
std::string test_data_text(const LearningProgram& program, const ExportOptions& options);
std::string test_main_text(const LearningProgram& program, const ExportOptions& options);

}  // namespace braintrace::exporting
