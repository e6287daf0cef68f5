// SPDX-License-Identifier: Apache-2.0
// Long scans that carry hidden states through trainable operations are followed substep by substep:
//
//   ε ← D_s ε + D_f,s ⊗ x_s    for every substep s,   all at once   ε ← (D_L … D_1) ε + Σ_s (D_L … D_{s+1}) D_f,s ⊗ x_s
//
// The size of the step does not depend on the length of the scan.
#pragma once

#include "braintrace/compiler/graph.h"

namespace braintrace {

struct Descended {
  std::vector<HiddenGroup>           groups;  // numbered from zero
  std::vector<HiddenParamOpRelation> relations;

  void number_groups_from(int first);
};

// Finds groups and relations in the bodies of long scans, and changes these scans to keep the values of every substep
// that the groups and relations need. Scans that cannot be followed stay unchanged, with a record.
Descended descend_scans(ModuleInfo& info, const CompileOptions& options, Diagnostics& log);

}  // namespace braintrace
