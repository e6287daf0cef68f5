// SPDX-License-Identifier: Apache-2.0
// A sweep as one page, in the style of a run's report: the table, and the curves of the points in one chart.
#pragma once

#include "braintrace/sweep/results.h"

namespace braintrace::sweep {

// `courses` are the histories of the runs, in the same order.
std::string sweep_page(const Plan& plan, const std::vector<Row>& rows, const std::vector<Outcome>& outcomes,
                       const std::vector<Course>& courses);

}  // namespace braintrace::sweep
