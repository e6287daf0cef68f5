// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/diagnostics.h"

#include <fmt/format.h>

#include "braintrace/base/warning.h"

namespace braintrace {

namespace {

constexpr std::string_view kind_names[] = {
    "relation_included",
    "relation_windowed",
    "relation_excluded_no_paramstate",
    "relation_excluded_non_temporal",
    "relation_excluded_shape_mismatch",
    "relation_excluded_weight_to_weight",
    "relation_excluded_sliced_weight",
    "relation_partial_path",
    "relation_tail_moves_positions",
    "trainable_invar_not_paramstate",
    "transition_mixes_positions",
    "short_term_state_promoted",
    "state_holds_nothing",
    "hidden_group_merged",
    "cond_if_converted",
    "cond_conversion_skipped",
    "scan_unrolled",
    "scan_unroll_skipped",
    "scan_descent_applied",
    "scan_descent_skipped",
    "scan_descent_no_relations",
    "weight_in_while",
    "weight_in_control_flow",
    "control_flow_opaque_fwd",
    "control_flow_recurrent_mixing",
    "primitive_inside_control_flow",
    "multi_output_primitive_detected",
    "snap_pattern_conservative",
    "snap_pattern_degenerate",
    "state_mismatch",
};
static_assert(std::size(kind_names) == num_diagnostic_kinds);

}  // namespace

std::string_view name_of(DiagnosticKind kind) { return kind_names[static_cast<size_t>(kind)]; }

std::string_view name_of(DiagnosticLevel level) {
  constexpr std::string_view names[] = {"info", "warning", "error"};
  return names[static_cast<size_t>(level)];
}

std::optional<DiagnosticKind> diagnostic_kind_named(std::string_view name) {
  for (int i = 0; i < num_diagnostic_kinds; ++i)
    if (kind_names[i] == name) return static_cast<DiagnosticKind>(i);
  return std::nullopt;
}

void tell_warnings(const Diagnostics& records) {
  for (const CompilationRecord& r : records)
    if (r.level == DiagnosticLevel::Warning)
      warn(fmt::format("{}{}{}", r.weight_path.str(), r.weight_path.empty() ? "" : ": ", r.message));
}

}  // namespace braintrace
