// SPDX-License-Identifier: Apache-2.0
// Decisions of the compiler as records: kind, level, subject and reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braintrace/base/error.h"
#include "braintrace/model/path.h"

namespace braintrace {

enum class DiagnosticLevel : uint8_t { Info, Warning, Error };

enum class DiagnosticKind : uint8_t {
  RelationIncluded,
  RelationWindowed,  // learns inside a window, without a trace across windows
  RelationExcludedNoParamState,
  RelationExcludedNonTemporal,
  RelationExcludedShapeMismatch,
  RelationExcludedWeightToWeight,
  RelationExcludedSlicedWeight,
  RelationPartialPath,
  RelationTailMovesPositions,
  TrainableInvarNotParamState,
  TransitionMixesPositions,
  ShortTermStatePromoted,
  StateHoldsNothing,
  HiddenGroupMerged,
  CondIfConverted,
  CondConversionSkipped,
  ScanUnrolled,
  ScanUnrollSkipped,
  ScanDescentApplied,
  ScanDescentSkipped,
  ScanDescentNoRelations,
  WeightInWhile,
  WeightInControlFlow,
  ControlFlowOpaqueForward,
  ControlFlowRecurrentMixing,
  PrimitiveInsideControlFlow,
  MultiOutputPrimitiveDetected,
  SnapPatternConservative,
  SnapPatternDegenerate,
  StateMismatch,
};
inline constexpr int num_diagnostic_kinds = static_cast<int>(DiagnosticKind::StateMismatch) + 1;

std::string_view              name_of(DiagnosticKind kind);    // relation_included, …
std::string_view              name_of(DiagnosticLevel level);  // info, warning, error
std::optional<DiagnosticKind> diagnostic_kind_named(std::string_view name);

struct CompilationRecord {
  DiagnosticKind                     kind;
  DiagnosticLevel                    level;
  std::string                        message;
  std::string                        primitive    = {};
  Path                               weight_path  = {};
  std::vector<Path>                  hidden_paths = {};
  std::map<std::string, std::string> context      = {};
};
using Diagnostics = std::vector<CompilationRecord>;

// The model cannot be trained online as written; contains the decisions of the compiler so far.
class CompileError : public Error {
 public:
  CompileError(const std::string& what, Diagnostics records) : Error(what), diagnostics(std::move(records)) {}
  Diagnostics diagnostics;
};
// Passes the warnings among the records to `warn` (base/warning.h).
void tell_warnings(const Diagnostics& records);

using CompilationError  = CompileError;
using NotSupportedError = CompileError;

}  // namespace braintrace
