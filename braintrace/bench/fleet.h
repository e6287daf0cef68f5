// SPDX-License-Identifier: Apache-2.0
// Many small learners: a fleet beside a loop over single ones, on the same records. A step is one record of one member:
// prediction, loss, gradient, update of its weights by gradient descent.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/bench/workload.h"

namespace braintrace::bench {

struct FleetChoice {
  int64_t members = 10'000;
  int64_t singles = 16;  // single learners in the loop; each is traced for itself, which takes its time
  double  seconds = 1;   // of timing, each
};
// With the threads that kernels may use now:
//   model rule n_in n members member_kb fleet_steps_per_s single_steps_per_s ratio
nlohmann::ordered_json measured_fleet(const Workload& workload, const FleetChoice& choice);

}  // namespace braintrace::bench
