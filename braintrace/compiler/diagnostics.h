// SPDX-License-Identifier: Apache-2.0
// Decisions of the compiler as records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braintrace/model/path.h"

namespace braintrace {

enum class DiagnosticLevel : uint8_t { Info, Warning, Error };
enum class DiagnosticKind : uint8_t {
  RelationIncluded,
  RelationExcludedNoParamState,
  RelationExcludedNonTemporal,
  RelationExcludedWeightToWeight,
  RelationPartialPath,
  HiddenGroupMerged,
};
std::string_view name_of(DiagnosticKind kind);  // relation_included, …

struct CompilationRecord {
  DiagnosticKind    kind;
  DiagnosticLevel   level;
  std::string       message;
  std::string       primitive;
  Path              weight_path;
  std::vector<Path> hidden_paths;
};
using Diagnostics = std::vector<CompilationRecord>;

}  // namespace braintrace
