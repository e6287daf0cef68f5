// SPDX-License-Identifier: Apache-2.0
// Many small learners: compares a fleet with a loop over single learners, and with the memory bandwidth of the machine.
// A step is one record of one member: prediction, loss, gradient, and an update by gradient descent.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/bench/workload.h"

namespace braintrace::bench {

struct FleetChoice {
  int64_t members = 10'000;
  int64_t singles = 10'000;  // single learners in the loop; creating them takes time
  int64_t window  = 16;      // records of a member in one call, if there are several
  double  seconds = 1;       // duration of each measurement
};
// With the current number of threads; rates are steps of members per second:
//   model rule n_in n members member_kb window singles
//   fleet fleet_window      one record of each member in a call, or `window` of each
//   single single_window    a loop over single learners: one record for each in turn, or `window` for each
//   ratio ratio_window      of these
//   memory_gb_per_s         memory bandwidth of the threads, for data larger than any cache
//   bound                   steps per second of a fleet at that bandwidth
nlohmann::ordered_json measured_fleet(const Workload& workload, const FleetChoice& choice);

}  // namespace braintrace::bench
