// SPDX-License-Identifier: Apache-2.0
// Many small learners: a fleet beside a loop over as many single ones, and beside the memory of the machine. A step is
// one record of one member: prediction, loss, gradient, update of its weights by gradient descent.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/bench/workload.h"

namespace braintrace::bench {

struct FleetChoice {
  int64_t members = 10'000;
  int64_t singles = 10'000;  // single learners in the loop; each is an object of its own, which takes time to make
  int64_t window  = 16;      // records of a member in one call, where there are several
  double  seconds = 1;       // of timing, each
};
// With the threads that kernels may use now; rates are steps of members per second:
//   model rule n_in n members member_kb window singles
//   fleet fleet_window      one record of each member in a call, or `window` of each
//   single single_window    a loop over single learners: one record for each in turn, or `window` for each
//   ratio ratio_window      of these
//   memory_gb_per_s         what the threads read and write of memory that no cache holds
//   bound                   fleet steps per second at which a fleet would read and write at that rate
nlohmann::ordered_json measured_fleet(const Workload& workload, const FleetChoice& choice);

}  // namespace braintrace::bench
