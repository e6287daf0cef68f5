// SPDX-License-Identifier: Apache-2.0
#include "braintrace/compiler/diagnostics.h"

namespace braintrace {

std::string_view name_of(DiagnosticKind kind) {
  constexpr std::string_view names[] = {"relation_included",
                                        "relation_excluded_no_paramstate",
                                        "relation_excluded_non_temporal",
                                        "relation_excluded_weight_to_weight",
                                        "relation_partial_path",
                                        "hidden_group_merged"};
  return names[static_cast<size_t>(kind)];
}

}  // namespace braintrace
