// SPDX-License-Identifier: Apache-2.0
// Measurements, each in processes of its own: a first call with nothing kept on disk, then one that finds everything
// there and, after it, calls one by one. So memory and first calls are those of a fresh process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/bench/workload.h"

namespace braintrace::bench {

struct MeasureOptions {
  double      seconds = 1;  // of timing
  std::string backend = "cpu";
  std::string data;  // .npz file with parameters, inputs and gradients of another implementation; may be empty
};
// Times are on the clock and per step: ours_us is the median, processor_us the least processor time of all threads.
//   model rule mode B n_in n T spikes
//   ours_us ours_p99_us ours_min_us processor_us calls
//   first_call_cold_s first_call_cached_s peak_growth_mb traces_mb copy_traces_us gradient_errors
//   backend precision device_mb, on a device: what it took of its memory
// copy_traces_us is the time of copying what the learner carries, the least a step in which all of it changes needs;
// gradient_errors, with data, the largest difference of each gradient of the first call, relative to its largest
// element.
nlohmann::ordered_json describe(const Workload& workload);  // the first line of these
nlohmann::ordered_json measured(const Workload& workload, const MeasureOptions& options);

// Where the time of a first call goes, for a learner on any model with an input of one sample:
//   rule mode cold_ms cached_ms stages_ms { graph trace simplify schedule print }
// Cold and cached are whole calls; the stages are those of a cached one.
nlohmann::ordered_json first_call(const std::function<std::shared_ptr<Module>()>& make, const Type& input,
                                  const std::string& rule, Mode mode);

}  // namespace braintrace::bench
