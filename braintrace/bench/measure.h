// SPDX-License-Identifier: Apache-2.0
// Measurements, each in its own processes: a first call with an empty cache on disk, then one with a full cache,
// followed by single calls. Memory and first calls are therefore those of a fresh process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "braintrace/bench/workload.h"

namespace braintrace::bench {

struct MeasureOptions {
  double      seconds = 1;  // duration of the measurement
  std::string backend = "cpu";
  std::string data;  // .npz file with parameters, inputs and gradients of another implementation; may be empty
};
// Times are wall-clock times per step: ours_us is the median; processor_us is the least processor time of all threads.
//   model rule mode B n_in n T spikes
//   ours_us ours_p99_us ours_min_us processor_us calls
//   first_call_cold_s first_call_cached_s peak_growth_mb traces_mb copy_traces_us flops bytes gradient_errors
//   backend precision device_mb, on a device: the device memory used
// copy_traces_us is the time to copy the memory of the learner, a lower bound for a step in which all of it changes;
// flops and bytes are the operations and the memory traffic of a step, counted in its kernels, not measured;
// gradient_errors, with data, is the largest difference of each gradient of the first call, relative to its largest
// element.
nlohmann::ordered_json describe(const Workload& workload);  // the first line of these
nlohmann::ordered_json measured(const Workload& workload, const MeasureOptions& options);

// The parts of the time of a first call, for a learner on any model with an input of one sample:
//   rule mode cold_ms cached_ms stages_ms { graph trace simplify schedule print }
// Cold and cached are whole calls; the stages are those of a cached one.
nlohmann::ordered_json first_call(const std::function<std::shared_ptr<Module>()>& make, const Type& input,
                                  const std::string& rule, Mode mode);

}  // namespace braintrace::bench
