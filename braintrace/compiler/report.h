// SPDX-License-Identifier: Apache-2.0
// The decisions of the compiler, as lists and as text. A report stores no results: it reads the graph.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braintrace/compiler/graph.h"

namespace braintrace {

class CompilationReport {
 public:
  // The graph must outlive the report.
  explicit CompilationReport(const ETraceGraph& graph) : graph_(graph) {}

  // A trainable operand of a relation. The weight and the bias of one layer are two entries.
  struct EtraceWeight {
    Path             path;
    std::string      key;
    std::vector<int> hidden_groups;
    bool             windowed = false;  // learns inside a window, without a trace
  };
  // A parameter without a relation.
  struct ExcludedWeight {
    Path                          path;
    std::optional<DiagnosticKind> reason;  // of the first record that excluded it
    std::string                   why;
  };
  struct Counts {
    size_t hidden_groups = 0, etrace_weights = 0, excluded_weights = 0, warnings = 0, errors = 0;
    bool   operator==(const Counts&) const = default;
  };

  const ETraceGraph&                             graph() const { return graph_; }
  std::vector<std::pair<int, std::vector<Path>>> hidden_groups() const;
  std::vector<EtraceWeight>                      etrace_weights() const;
  std::vector<ExcludedWeight>                    excluded_weights() const;  // sorted by path
  std::vector<Path>                              dynamic_states() const;    // short-term states without a group
  const Diagnostics&                             diagnostics() const { return graph_.diagnostics; }
  Counts                                         counts() const;

  // Level 1: groups and weights. Level 2: also warnings and errors.
  std::string to_str(int level = 1) const;

 private:
  const ETraceGraph& graph_;
};

std::string show_graph(const ETraceGraph& graph);  // the report at level 1

std::string human_bytes(int64_t bytes);  // 1.5 kB

}  // namespace braintrace
