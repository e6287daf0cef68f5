// SPDX-License-Identifier: Apache-2.0
// A sweep as one page to look at, in the manner of a run's report: the table, and the curves of points over each other.
#pragma once

#include "braintrace/sweep/results.h"

namespace braintrace::sweep {

// `courses` are those of the runs, in their order.
std::string sweep_page(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
                       const std::vector<Course>& courses);

}  // namespace braintrace::sweep
